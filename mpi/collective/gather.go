package collective

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/mpi"
)

// Gather is collective: dst of rank root becomes the values of all ranks, in the order of
// ranks. len(src) is equal on all ranks and len(dst) on the root that times their number; dst of the others is not looked at.
//
// On messages it is a binomial tree for short lists; for long ones, which a tree would
// copy, the root receives from everybody. With groups one rank of each gathers, and the root receives from these.
func Gather[T comparable](comm mpi.Communicator, dst, src []T, root int) error {
	c, err := ready[T](comm, root)
	if err == nil && c.all.me == root {
		err = checkLength("dst", len(dst), len(src)*c.all.size)
	}
	if err != nil {
		return failed("Gather", err)
	}
	to, block := bytesOf(dst), bytesOf(src)
	switch {
	case !c.nativeTakes(gathering, len(block)):
		err = c.gatherBlocks(to, block, root)
	case c.blocks != nil:
		err = c.blocks.GatherBlocks(to, block, root)
	default:
		err = c.gather.Gather(to, c.equalCounts(len(block)), block, root)
	}
	return failed("Gather", err)
}

// Gatherv is Gather of counts[i] values of rank i, which only the root has to know.
// The root receives from everybody. The library's own takes less than 2 GiB in all.
func Gatherv[T comparable](comm mpi.Communicator, dst []T, counts []int, src []T, root int) error {
	c, err := ready[T](comm, root)
	if err == nil && c.all.me == root {
		err = c.checkBlocks("dst", len(dst), counts, len(src))
	}
	if err != nil {
		return failed("Gatherv", err)
	}
	if c.all.me == root {
		c.counts = inBytes(c.counts, counts, sizeOf[T]())
	}
	if c.gather != nil {
		return failed("Gatherv", c.gather.Gather(bytesOf(dst), c.counts, bytesOf(src), root))
	}
	if c.all.me != root {
		return failed("Gatherv", c.send(bytesOf(src), root))
	}
	return failed("Gatherv", c.collect(c.all, bytesOf(dst), c.offsetsOf(c.counts), bytesOf(src), root))
}

// nativeTakes tells whether a collective of blocks of so many bytes, which all ranks know, is left to the library, whose
// counts are ints of C. Alltoall is decided by the bytes that a rank sends.
func (c *Comm) nativeTakes(k kind, block int) bool {
	tuned := block
	if k == alltoall {
		tuned *= c.all.size
	}
	return c.isNative(k) && block*c.all.size <= math.MaxInt32 && !c.byMessages(k, tuned)
}

// ready are the checks that all collectives with a root begin with.
func ready[T comparable](comm mpi.Communicator, root int) (*Comm, error) {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil {
		err = c.checkRoot(root)
	}
	return c, err
}

func checkLength(name string, have, want int) error {
	if have != want {
		return fmt.Errorf("%s of %d values: want %d", name, have, want)
	}
	return nil
}

// checkBlocks holds a list of blocks, of which this rank's own has so many values, to its counts.
func (c *Comm) checkBlocks(name string, have int, counts []int, own int) error {
	if len(counts) != c.all.size {
		return fmt.Errorf("%d counts of %s: want one per rank, %d", len(counts), name, c.all.size)
	}
	sum := 0
	for i, n := range counts {
		if n < 0 || n > math.MaxInt-sum {
			return fmt.Errorf("count %d of %s is %d: want at least 0, and a sum that is a length", i, name, n)
		}
		sum += n
	}
	if counts[c.all.me] != own {
		return fmt.Errorf("%d values of the rank's own: its count of %s says %d", own, name, counts[c.all.me])
	}
	return checkLength(name, have, sum)
}

// inBytes are counts of values in bytes.
func inBytes(dst, counts []int, size int) []int {
	dst = dst[:0]
	for _, n := range counts {
		dst = append(dst, n*size)
	}
	return dst
}

// equalCounts are those of blocks of equal size.
func (c *Comm) equalCounts(block int) []int {
	c.counts = c.counts[:0]
	for range c.all.size {
		c.counts = append(c.counts, block)
	}
	return c.counts
}

// offsetsOf are where blocks begin, and where the last one ends.
func (c *Comm) offsetsOf(counts []int) []int {
	c.offsets = offsets(c.offsets, counts)
	return c.offsets
}

func offsets(dst, counts []int) []int {
	dst = append(dst[:0], 0)
	end := 0
	for _, n := range counts {
		end += n
		dst = append(dst, end)
	}
	return dst
}

// collect receives the block of each place in dst at its offsets, and takes its own from src.
func (c *Comm) collect(t team, dst []byte, offsets []int, src []byte, place int) error {
	copy(dst[offsets[place]:offsets[place+1]], src)
	for i := range t.size {
		if i == place {
			continue
		}
		if err := c.recv(dst[offsets[i]:offsets[i+1]], t.rank(i)); err != nil {
			return err
		}
	}
	return nil
}

// gatherBlocks gathers blocks of equal size.
func (c *Comm) gatherBlocks(dst, src []byte, root int) error {
	block := len(src)
	if c.isLinear(block) {
		if c.all.me != root {
			return c.send(src, root)
		}
		return c.collect(c.all, dst, c.offsetsOf(c.equalCounts(block)), src, root)
	}
	if c.groups == nil {
		t := c.all.turned(root)
		all, err := c.gatherTree(t, src)
		if err == nil && t.me == 0 {
			at := (c.all.size - root) * block // of rank 0
			copy(dst, all[at:])
			copy(dst[len(dst)-at:], all[:at])
		}
		return err
	}
	leaders, own, place := c.leadWith(root)
	part, err := c.gatherTree(own, src)
	if err != nil || own.me != 0 {
		return err
	}
	if c.all.me != root {
		return c.send(part, root)
	}
	all := c.take(len(dst))
	if err := c.collect(leaders, all, c.groupOffsets(block), part, place); err != nil {
		return err
	}
	c.eachBlock(block, root, func(grouped, ranked int) { copy(dst[ranked:ranked+block], all[grouped:grouped+block]) })
	return nil
}

// isLinear tells whether a root should talk to everybody by itself, where blocks are of so many bytes.
func (c *Comm) isLinear(block int) bool {
	all := c.all.size * block
	along := c.costs.tree(&c.all, all)
	if c.groups != nil {
		// Groups may be of any size, but all ranks have to decide alike.
		most := team{size: len(c.order)/len(c.groups) + 1}
		leaders := team{size: len(c.groups)}
		along = c.costs.tree(&most, most.size*block) + c.costs.linear(&leaders, all)
	}
	return c.costs.linear(&c.all, all) <= along
}

// groupOffsets are where the blocks of groups begin in the order of groups.
func (c *Comm) groupOffsets(block int) []int {
	c.offsets = append(c.offsets[:0], 0)
	end := 0
	for _, g := range c.groups {
		end += len(g) * block
		c.offsets = append(c.offsets, end)
	}
	return c.offsets
}

// eachBlock tells where the block of each rank is in the order of groups, and in that of ranks. In its group the root
// comes first, and those before it last; None: there is no root.
func (c *Comm) eachBlock(block, root int, f func(grouped, ranked int)) {
	at := 0
	for _, g := range c.groups {
		t := team{ranks: g, size: len(g)}
		for i, r := range g {
			if r == root {
				t.shift = i
			}
		}
		for i := range g {
			f(at, t.rank(i)*block)
			at += block
		}
	}
}

// gatherTree gathers along a binomial tree the blocks of all places, on place 0.
func (c *Comm) gatherTree(t team, src []byte) ([]byte, error) {
	block := len(src)
	all := c.take(t.below() * block)
	copy(all, src)
	for step := 1; step < t.size; step *= 2 {
		if t.me&step != 0 {
			return nil, c.send(all, t.rank(t.me-step))
		}
		if child := t.me + step; child < t.size {
			end := min(2*step, t.size-t.me)
			if err := c.recv(all[step*block:end*block], t.rank(child)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// below is how many places are at and below this one in a binomial tree.
func (t *team) below() int {
	if t.me == 0 {
		return t.size
	}
	return min(t.me&-t.me, t.size-t.me)
}
