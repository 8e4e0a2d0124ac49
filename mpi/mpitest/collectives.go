package mpitest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// collectives compares each operation of mpi.Collectives with a loop over the ranks: blocks of equal length and with counts,
// in buffers that are apart and that overlap, and every number type and reduction.
func collectives(c mpi.Communicator, g mpi.Collectives) {
	equal := slices.Repeat([]int{4099}, c.Size())
	counts := make([]int, c.Size())
	for i := range counts {
		counts[i] = (3*i + 2) % 5 * 1031
	}
	for _, overlap := range []bool{false, true} {
		moveBlocks(c, g, equal, nil, overlap)
		moveBlocks(c, g, counts, counts, overlap)
	}
	for _, reduce := range []func(mpi.Communicator, mpi.Collectives){
		reduceAs[int8], reduceAs[int16], reduceAs[int32], reduceAs[int64],
		reduceAs[uint8], reduceAs[uint16], reduceAs[uint32], reduceAs[uint64],
		reduceAs[float32], reduceAs[float64],
	} {
		reduce(c, g)
	}
	check(g.Barrier())
}

// moveBlocks moves blocks of the given lengths. counts is nil, or the lengths.
func moveBlocks(c mpi.Communicator, g mpi.Collectives, lengths, counts []int, overlap bool) {
	rank, root := c.Rank(), c.Size()-1
	fill := func(from, to int) []byte { return bytes.Repeat([]byte{byte(16*from + to + 1)}, lengths[to]) }
	var all, parcels, arrived []byte
	var same []int // the lengths of what this rank gets in Alltoall
	for i := range lengths {
		all = append(all, fill(0, i)...)
		parcels = append(parcels, fill(rank, i)...)
		arrived = append(arrived, fill(i, rank)...)
		same = append(same, lengths[rank])
	}
	if counts == nil {
		same = nil
	}
	atRoot := func(b []byte) []byte {
		if rank == root {
			return b
		}
		return nil
	}
	// move also looks for bytes that are written behind dst.
	move := func(op string, src, want []byte, call func(dst, src []byte) error) {
		room := append(bytes.Clone(src), make([]byte, len(want)+8)...)
		dst, from, behind := room[:len(want)], room[:len(src)], bytes.Clone(room[len(want):])
		if !overlap {
			from = bytes.Clone(src)
		}
		check(call(dst, from), "%s of %v bytes, overlapping buffers %v", op, lengths, overlap)
		if !bytes.Equal(dst, want) || !bytes.Equal(room[len(want):], behind) {
			fail("%s of %v bytes, overlapping buffers %v: wrong bytes in the buffer or behind it", op, lengths, overlap)
		}
	}
	move("Gather", fill(0, rank), atRoot(all), func(dst, src []byte) error { return g.Gather(dst, counts, src, root) })
	move("Scatter", atRoot(all), fill(0, rank), func(dst, src []byte) error { return g.Scatter(dst, src, counts, root) })
	move("Allgather", fill(0, rank), all, func(dst, src []byte) error { return g.Allgather(dst, counts, src) })
	move("Alltoall", parcels, arrived, func(dst, src []byte) error { return g.Alltoall(dst, same, src, counts) })
}

// reduceAs reduces the numbers 1, 2 and 3 of the first three ranks and 1 of the others, and the same with a minus on odd ranks. Unsigned
// numbers below 0 wrap around: all their bytes count, and the order of signed numbers is another.
func reduceAs[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](c mpi.Communicator, g mpi.Collectives) {
	number := reflect.TypeFor[T]().Kind()
	of := func(rank int) [2]T {
		x := T(1 + rank*max(0, min(1, 3-rank)))
		if rank%2 == 1 {
			return [2]T{x, -x}
		}
		return [2]T{x, x}
	}
	for with := mpi.Sum; with <= mpi.Max; with++ {
		all := of(0)
		for rank := 1; rank < c.Size(); rank++ {
			for i, x := range of(rank) {
				all[i] = [...]T{all[i] + x, all[i] * x, min(all[i], x), max(all[i], x)}[with]
			}
		}
		for _, root := range []int{-1, c.Size() - 1} { // -1: Allreduce
			got, want := of(c.Rank()), all
			if root >= 0 && root != c.Rank() {
				want = got // as it was
			}
			values, err := binary.Append(nil, binary.NativeEndian, &got)
			if err == nil && root < 0 {
				err = g.Allreduce(values, number, with)
			} else if err == nil {
				err = g.Reduce(values, number, with, root)
			}
			if err == nil {
				_, err = binary.Decode(values, binary.NativeEndian, &got)
			}
			if err != nil || got != want {
				fail("%v of %v to rank %d (-1: all) = %v, %v, want %v", with, number, root, got, err, want)
			}
		}
	}
}

// collectivesWrong expects each rank to refuse wrong arguments by itself, before anything is sent.
func collectivesWrong(c mpi.Communicator, g mpi.Collectives) {
	n, me := c.Size(), c.Rank()
	one, all, ones := make([]byte, 1), make([]byte, n), slices.Repeat([]int{1}, n)
	less := append([]int{-1}, ones[1:]...)
	more := append([]int{2}, ones[1:]...)
	for i, x := range []struct{ err, want error }{
		{g.Reduce(one, reflect.Int8, mpi.Sum, n), mpi.ErrRank},
		{g.Reduce(one, reflect.Int16, mpi.Sum, 0), mpi.ErrLength},
		{g.Allreduce(one, 77, mpi.Sum), mpi.ErrOther},
		{g.Allreduce(one, reflect.Int8, 77), mpi.ErrOther},
		{g.Gather(all, ones, one, -1), mpi.ErrRank},
		{g.Gather(all, nil, one, n), mpi.ErrRank},
		{g.Gather(all, nil, nil, me), mpi.ErrLength},
		{g.Gather(all, ones, nil, me), mpi.ErrLength},
		{g.Gather(append(all, 0), ones, one, me), mpi.ErrLength},
		{g.Scatter(one, append(all, 0), nil, me), mpi.ErrLength},
		{g.Scatter(one, all, []int{}, me), mpi.ErrLength},
		{g.Scatter(one, all, ones, n), mpi.ErrRank},
		{g.Allgather(all[1:], nil, one), mpi.ErrLength},
		{g.Allgather(all, less, one), mpi.ErrLength},
		{g.Allgather(all, more, one), mpi.ErrLength},
		{g.Alltoall(all, ones, all[1:], ones), mpi.ErrLength},
		{g.Alltoall(all, nil, all[1:], nil), mpi.ErrLength},
		{g.Alltoall(all, ones, all, nil), mpi.ErrLength},
	} {
		if !errors.Is(x.err, x.want) {
			fail("wrong argument %d: error %v, want %v", i, x.err, x.want)
		}
	}
	check(g.Barrier())
}
