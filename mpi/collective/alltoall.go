package collective

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// Alltoall is collective: part j of src of rank i becomes part i of dst of rank j. Lists have as many
// parts of equal length as there are ranks. dst and src must not overlap.
//
// On messages it is the algorithm of Bruck et al. 1997 for short parts, which are packed together,
// and pairwise exchange for long ones. Groups change nothing, since all but a few bytes have to leave them.
func Alltoall[T comparable](comm mpi.Communicator, dst, src []T) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil {
		err = checkLength("dst", len(dst), len(src))
	}
	if err == nil && len(src)%c.all.size != 0 {
		err = fmt.Errorf("src of %d values: want a multiple of %d, the number of ranks", len(src), c.all.size)
	}
	if err != nil {
		return failed("Alltoall", err)
	}
	block := len(src) / c.all.size * sizeOf[T]()
	counts := c.equalCounts(block)
	switch native := c.nativeTakes(alltoall, block); {
	case native && c.blocks != nil:
		err = c.blocks.AlltoallBlocks(bytesOf(dst), bytesOf(src))
	case native:
		err = c.gather.Alltoall(bytesOf(dst), counts, bytesOf(src), counts)
	case c.costs.bruckAlltoall(&c.all, c.all.size*block) < c.costs.ring(c.all.size, c.all.size*block):
		err = c.bruckAlltoall(bytesOf(dst), bytesOf(src), block)
	default:
		offsets := c.offsetsOf(counts)
		err = c.pairwise(bytesOf(dst), offsets, bytesOf(src), offsets)
	}
	return failed("Alltoall", err)
}

// Alltoallv is Alltoall of srcCounts[j] values for rank j and dstCounts[i] values of rank i, by
// pairwise exchange. The library's own takes less than 2 GiB on each rank.
func Alltoallv[T comparable](comm mpi.Communicator, dst []T, dstCounts []int, src []T, srcCounts []int) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil && (len(dstCounts) != c.all.size || len(srcCounts) != c.all.size) {
		err = fmt.Errorf("%d and %d counts: want one per rank, %d", len(dstCounts), len(srcCounts), c.all.size)
	}
	if err == nil {
		err = c.checkBlocks("dst", len(dst), dstCounts, srcCounts[c.all.me])
	}
	if err == nil {
		err = c.checkBlocks("src", len(src), srcCounts, dstCounts[c.all.me])
	}
	if err != nil {
		return failed("Alltoallv", err)
	}
	c.counts, c.srcCounts = inBytes(c.counts, dstCounts, sizeOf[T]()), inBytes(c.srcCounts, srcCounts, sizeOf[T]())
	if c.gather != nil {
		err = c.gather.Alltoall(bytesOf(dst), c.counts, bytesOf(src), c.srcCounts)
	} else {
		c.srcOffsets = offsets(c.srcOffsets, c.srcCounts)
		err = c.pairwise(bytesOf(dst), c.offsetsOf(c.counts), bytesOf(src), c.srcOffsets)
	}
	return failed("Alltoallv", err)
}

// pairwise sends to the rank so far to the right and receives from the one so far to the left, for
// every distance.
func (c *Comm) pairwise(dst []byte, dstOffsets []int, src []byte, srcOffsets []int) error {
	me, size := c.all.me, c.all.size
	copy(dst[dstOffsets[me]:dstOffsets[me+1]], src[srcOffsets[me]:srcOffsets[me+1]])
	for distance := 1; distance < size; distance++ {
		to, from := (me+distance)%size, (me-distance+size)%size
		err := c.exchange(src[srcOffsets[to]:srcOffsets[to+1]], to, dst[dstOffsets[from]:dstOffsets[from+1]], from)
		if err != nil {
			return err
		}
	}
	return nil
}

// bruckAlltoall sends in round k, 2^k ranks to the right, all blocks whose way has that bit.
func (c *Comm) bruckAlltoall(dst, src []byte, block int) error {
	me, size := c.all.me, c.all.size
	// Block i of here is the one with i ranks to go, or that has gone i ranks.
	here, out, in := c.take(len(src)), c.take(len(src)), c.take(len(src))
	at := me * block
	copy(here, src[at:])
	copy(here[len(src)-at:], src[:at])
	for step := 1; step < size; step *= 2 {
		n := 0
		for i := step; i < size; i++ {
			if i&step != 0 {
				n += copy(out[n:], here[i*block:(i+1)*block])
			}
		}
		if err := c.exchange(out[:n], (me+step)%size, in[:n], (me-step+size)%size); err != nil {
			return err
		}
		n = 0
		for i := step; i < size; i++ {
			if i&step != 0 {
				n += copy(here[i*block:(i+1)*block], in[n:])
			}
		}
	}
	for i := range size {
		from := (me - i + size) % size
		copy(dst[from*block:(from+1)*block], here[i*block:(i+1)*block])
	}
	return nil
}
