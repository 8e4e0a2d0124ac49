package mpitest

import (
	"bytes"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// nativeGatherInPlace moves blocks within one buffer: what is sent is what was there before.
func nativeGatherInPlace(c mpi.Communicator) error {
	const block = 5
	counts := make([]int, c.Size())
	for i := range counts {
		counts[i] = block
	}
	if g, ok := c.(mpi.NativeGather); ok {
		if err := gatherInPlace(c, counted{g, counts}, block); err != nil {
			return err
		}
	}
	if b, ok := c.(mpi.NativeBlocks); ok {
		return gatherInPlace(c, b, block)
	}
	return nil
}

// counted moves equal blocks as if they were not.
type counted struct {
	mpi.NativeGather
	counts []int
}

func (c counted) GatherBlocks(dst, src []byte, root int) error {
	return c.Gather(dst, c.counts, src, root)
}

func (c counted) ScatterBlocks(dst, src []byte, root int) error {
	return c.Scatter(dst, src, c.counts, root)
}

func (c counted) AllgatherBlocks(dst, src []byte) error { return c.Allgather(dst, c.counts, src) }

func (c counted) AlltoallBlocks(dst, src []byte) error {
	return c.Alltoall(dst, c.counts, src, c.counts)
}

func gatherInPlace(c mpi.Communicator, b mpi.NativeBlocks, block int) error {
	n, rank, root := c.Size(), c.Rank(), c.Size()-1
	var all []byte // block i is that of rank i
	for i := range n {
		all = append(all, bytes.Repeat([]byte{byte(i + 1)}, block)...)
	}
	own := all[rank*block:][:block]
	// The rank's block stands first in the buffer, where it is not in the result.
	misplaced := func() []byte { return append(bytes.Clone(own), make([]byte, (n-1)*block)...) }
	same := func(op string, got, want []byte) error {
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s within one buffer = %v, want %v", op, got, want)
		}
		return nil
	}
	buf := misplaced()
	err := b.GatherBlocks(buf, buf[:block], root)
	if err == nil && rank == root {
		err = same("Gather", buf, all)
	}
	if err != nil {
		return err
	}
	buf = bytes.Clone(all)
	if err = b.ScatterBlocks(buf[:block], buf, root); err == nil {
		err = same("Scatter", buf[:block], own)
	}
	if err != nil {
		return err
	}
	buf = misplaced()
	if err = b.AllgatherBlocks(buf, buf[:block]); err == nil {
		err = same("Allgather", buf, all)
	}
	if err != nil {
		return err
	}
	buf = bytes.Clone(all)
	if err = b.AlltoallBlocks(buf, buf); err == nil {
		err = same("Alltoall", buf, bytes.Repeat([]byte{byte(rank + 1)}, n*block))
	}
	return err
}
