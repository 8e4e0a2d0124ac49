package collective

import (
	"math"

	"github.com/topocast/topocast/mpi"
)

// Allgather is collective: dst of all ranks becomes the values of all, in the order of ranks.
// len(src) is equal on all ranks, and len(dst) that times their number. src may be the
// rank's part of dst.
//
// On messages it is the algorithm of Bruck et al. 1997 for short lists, and a ring for long ones, which
// with groups goes through one after the other. With groups and short lists one rank of each gathers, these do what all
// would do, and broadcast the result.
func Allgather[T comparable](comm mpi.Communicator, dst, src []T) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil {
		err = checkLength("dst", len(dst), len(src)*c.all.size)
	}
	if err == nil {
		to, block := bytesOf(dst), bytesOf(src)
		switch {
		case !c.nativeTakes(allgathering, len(block)):
			err = c.allgather(to, c.equalCounts(len(block)), block, true)
		case c.blocks != nil:
			err = c.blocks.AllgatherBlocks(to, block)
		default:
			err = c.gather.Allgather(to, c.equalCounts(len(block)), block)
		}
	}
	return failed("Allgather", err)
}

// Allgatherv is Allgather of counts[i] values of rank i. Counts are equal on all ranks.
// With groups it is the ring, or what it would be without them.
func Allgatherv[T comparable](comm mpi.Communicator, dst []T, counts []int, src []T) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil {
		err = c.checkBlocks("dst", len(dst), counts, len(src))
	}
	if err == nil {
		c.counts = inBytes(c.counts, counts, sizeOf[T]())
		if to := bytesOf(dst); c.gather != nil && len(to) <= math.MaxInt32 { // its counts are ints of C
			err = c.gather.Allgather(to, c.counts, bytesOf(src))
		} else {
			err = c.allgather(to, c.counts, bytesOf(src), false)
		}
	}
	return failed("Allgatherv", err)
}

func (c *Comm) allgather(dst []byte, counts []int, src []byte, equal bool) error {
	offsets := c.offsetsOf(counts)
	if c.costs.ring(c.all.size, len(dst)) < c.costs.bruckAllgather(&c.all, len(dst)) {
		copy(dst[offsets[c.all.me]:offsets[c.all.me+1]], src)
		return c.ringAllgather(dst, offsets)
	}
	if c.groups == nil || !equal {
		return c.bruckAllgather(c.all, dst, offsets, src)
	}
	block := len(src)
	part, err := c.gatherTree(c.own, src)
	if err != nil {
		return err
	}
	all := c.take(len(dst))
	if c.own.me == 0 {
		if err := c.bruckAllgather(c.lead(), all, c.groupOffsets(block), part); err != nil {
			return err
		}
	}
	if err := c.broadcast(c.own, all); err != nil {
		return err
	}
	c.eachBlock(block, None, func(grouped, ranked int) { copy(dst[ranked:ranked+block], all[grouped:grouped+block]) })
	return nil
}

// ringAllgather sends the blocks around. Its own is in its place.
func (c *Comm) ringAllgather(dst []byte, offsets []int) error {
	block := func(rank int) []byte { return dst[offsets[rank]:offsets[rank+1]] }
	right, left := c.along(c.all.me, 1), c.along(c.all.me, -1)
	from := c.all.me
	for range c.all.size - 1 {
		next := c.along(from, -1)
		if err := c.exchange(block(from), right, block(next), left); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// along is the next rank in the ring through all groups, or (-1) the one before.
func (c *Comm) along(rank, by int) int {
	size := c.all.size
	if c.groups == nil {
		return (rank + by + size) % size
	}
	return c.order[(c.placeOf[rank]+by+size)%size]
}

// bruckAllgather doubles what each place has, from its own block on, in each round.
func (c *Comm) bruckAllgather(t team, dst []byte, offsets []int, src []byte) error {
	// The blocks in the order of places from this one on.
	all := c.take(len(dst))
	begin := offsets[t.me]
	at := func(place int) int { // of a block, or the end: places me to me+size
		if place >= t.size {
			return offsets[place-t.size] + len(dst) - begin
		}
		return offsets[place] - begin
	}
	copy(all, src)
	for step := 1; step < t.size; step *= 2 {
		count := min(step, t.size-step)
		to, from := (t.me-step+t.size)%t.size, (t.me+step)%t.size
		if err := c.exchange(all[:at(t.me+count)], t.rank(to), all[at(t.me+step):at(t.me+step+count)], t.rank(from)); err != nil {
			return err
		}
	}
	copy(dst[begin:], all)
	copy(dst[:begin], all[len(all)-begin:])
	return nil
}
