package collective

import "github.com/topocast/topocast/mpi"

// Scatter is collective: dst of each rank becomes its part of src of rank root, in the order of
// ranks. len(dst) is equal on all ranks and len(src) on the root that times their number; src of the others is not looked at.
//
// The ways are those of Gather, in the other direction.
func Scatter[T comparable](comm mpi.Communicator, dst, src []T, root int) error {
	c, err := ready[T](comm, root)
	if err == nil && c.all.me == root {
		err = checkLength("src", len(src), len(dst)*c.all.size)
	}
	if err != nil {
		return failed("Scatter", err)
	}
	block, from := bytesOf(dst), bytesOf(src)
	switch {
	case !c.nativeTakes(scattering, len(block)):
		err = c.scatterBlocks(block, from, root)
	case c.blocks != nil:
		err = c.blocks.ScatterBlocks(block, from, root)
	default:
		err = c.gather.Scatter(block, from, c.equalCounts(len(block)), root)
	}
	return failed("Scatter", err)
}

// Scatterv is Scatter of counts[i] values to rank i, which only the root has to know.
// The root sends to everybody. The library's own takes less than 2 GiB in all.
func Scatterv[T comparable](comm mpi.Communicator, dst, src []T, counts []int, root int) error {
	c, err := ready[T](comm, root)
	if err == nil && c.all.me == root {
		err = c.checkBlocks("src", len(src), counts, len(dst))
	}
	if err != nil {
		return failed("Scatterv", err)
	}
	if c.all.me == root {
		c.counts = inBytes(c.counts, counts, sizeOf[T]())
	}
	if c.gather != nil {
		return failed("Scatterv", c.gather.Scatter(bytesOf(dst), bytesOf(src), c.counts, root))
	}
	if c.all.me != root {
		return failed("Scatterv", c.recv(bytesOf(dst), root))
	}
	return failed("Scatterv", c.deal(c.all, bytesOf(dst), bytesOf(src), c.offsetsOf(c.counts), root))
}

// deal sends each place its block of src at its offsets, and leaves its own in dst.
func (c *Comm) deal(t team, dst, src []byte, offsets []int, place int) error {
	copy(dst, src[offsets[place]:offsets[place+1]])
	for i := range t.size {
		if i == place {
			continue
		}
		block := src[offsets[i]:offsets[i+1]]
		if c.set == nil || len(block) > c.limit {
			if err := c.send(block, t.rank(i)); err != nil {
				return err
			}
		} else if err := c.set.Isend(block, t.rank(i), c.tag); err != nil {
			return err
		}
	}
	if c.set == nil {
		return nil
	}
	return c.set.WaitAll()
}

// scatterBlocks scatters blocks of equal size.
func (c *Comm) scatterBlocks(dst, src []byte, root int) error {
	block := len(dst)
	if c.isLinear(block) {
		if c.all.me != root {
			return c.recv(dst, root)
		}
		return c.deal(c.all, dst, src, c.offsetsOf(c.equalCounts(block)), root)
	}
	if c.groups == nil {
		t := c.all.turned(root)
		all := c.take(t.below() * block)
		if t.me == 0 {
			at := (c.all.size - root) * block // of rank 0
			copy(all[at:], src)
			copy(all[:at], src[len(src)-at:])
		}
		return c.scatterTree(t, dst, all)
	}
	leaders, own, place := c.leadWith(root)
	part := c.take(own.below() * block)
	if own.me == 0 {
		if c.all.me != root {
			if err := c.recv(part, root); err != nil {
				return err
			}
		} else {
			all := c.take(len(src))
			c.eachBlock(block, root, func(grouped, ranked int) { copy(all[grouped:grouped+block], src[ranked:ranked+block]) })
			if err := c.deal(leaders, part, all, c.groupOffsets(block), place); err != nil {
				return err
			}
		}
	}
	return c.scatterTree(own, dst, part)
}

// scatterTree scatters along a binomial tree the blocks of all places, which place 0 has in all. Each place has
// room there for those at and below it.
func (c *Comm) scatterTree(t team, dst, all []byte) error {
	block := len(dst)
	step := 1
	for ; step < t.size; step *= 2 {
		if t.me&step != 0 {
			if err := c.recv(all, t.rank(t.me-step)); err != nil {
				return err
			}
			break
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if child := t.me + step; child < t.size {
			end := min(2*step, t.size-t.me)
			if err := c.send(all[step*block:end*block], t.rank(child)); err != nil {
				return err
			}
		}
	}
	copy(dst, all)
	return nil
}
