package mpi

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"
)

var (
	_ NativeBarrier = (*Comm)(nil)
	_ NativeReduce  = (*Comm)(nil)
	_ NativeGather  = (*Comm)(nil)
	_ NativeBlocks  = (*Comm)(nil)

	_ nativeCollectives = (*endpoint)(nil)
)

// nativeCollectives is what an endpoint has for them. A layout is a count per rank and then an offset per rank, in
// bytes.
type nativeCollectives interface {
	// reduce puts the result into another buffer; root < 0: on all ranks.
	reduce(values, into []byte, count int, number NumberType, with Reduction, root int) code
	gather(dst []byte, layout []int32, src []byte, root int) code // root < 0: on all ranks
	scatter(dst, src []byte, layout []int32, root int) code
	alltoall(dst []byte, dstLayout []int32, src []byte, srcLayout []int32) code

	// The same for blocks of equal length in bytes.
	gatherBlocks(dst, src []byte, root int) code // root < 0: on all ranks
	scatterBlocks(dst, src []byte, root int) code
	alltoallBlocks(dst, src []byte, block int) code
}

// together is what a communicator keeps for collectives.
type together struct {
	room     []byte
	dst, src []int32 // layouts
}

// Barrier is collective: it returns on no rank before all have called it.
func (c *Comm) Barrier() error {
	if err := c.open("Barrier"); err != nil {
		return err
	}
	return c.fault("Barrier", c.native.barrier(), -1, -1)
}

// Reduce is collective: values of rank root become the reduction of those of all ranks, by
// MPI_Reduce.
func (c *Comm) Reduce(values []byte, number NumberType, with Reduction, root int) error {
	if uint(root) >= uint(c.size) {
		return cmp.Or(c.open("Reduce"), error(&Error{"Reduce", c.rank, root, -1, ErrRank}))
	}
	return c.reduce("Reduce", values, number, with, root)
}

// Allreduce is collective: values of all ranks become their reduction, by MPI_Allreduce.
func (c *Comm) Allreduce(values []byte, number NumberType, with Reduction) error {
	return c.reduce("Allreduce", values, number, with, -1)
}

func (c *Comm) reduce(op string, values []byte, number NumberType, with Reduction, root int) error {
	if err := c.open(op); err != nil {
		return err
	}
	fail := func(class error, text string, args ...any) error {
		return &Error{op, c.rank, root, -1, fmt.Errorf("%w: %s", class, fmt.Sprintf(text, args...))}
	}
	size := number.size()
	switch {
	case size == 0 || with > Max:
		return fail(ErrOther, "number type %d, reduction %d", number, with)
	case len(values)%size != 0:
		return fail(ErrLength, "%d bytes are no %v", len(values), number)
	case len(values)/size > math.MaxInt32:
		return fail(ErrCount, "%d values", len(values)/size)
	case len(values) == 0: // libraries differ in what they say to that
		return nil
	}
	into := c.together.take(len(values))
	failed := c.native.reduce(values, into, len(values)/size, number, with, root)
	if failed == codeOK && (root < 0 || root == c.rank) {
		copy(values, into)
	}
	return c.joined(op, failed, root, into, values)
}

// size is that of a number in bytes; 0: there is no such type.
func (t NumberType) size() int {
	switch t {
	case Int8, Uint8:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	}
	return 0
}

// take is scratch memory for n bytes, aligned for every number.
func (t *together) take(n int) []byte {
	if n > cap(t.room) {
		words := make([]uint64, (n+7)/8)
		t.room = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
	}
	return t.room[:n]
}

// joined is fault for a collective that moves between two buffers: in one that fails, messages may be
// under way.
func (c *Comm) joined(op string, failed code, root int, dst, src []byte) error {
	if failed > codeOK {
		c.live.leak(dst)
		c.live.leak(src)
	}
	return c.fault(op, failed, root, -1)
}

// apart returns src, or a copy of it where it overlaps dst, which MPI does not allow (MPI 3.1, section 5.2.1).
func (t *together) apart(dst, src []byte) []byte {
	if !overlap(dst, src) {
		return src
	}
	return append(t.take(len(src))[:0], src...)
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, to := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return from < to+uintptr(len(b)) && to < from+uintptr(len(a))
}

// Gather is collective: dst of rank root becomes the blocks src of all ranks, by MPI_Gatherv.
func (c *Comm) Gather(dst []byte, counts []int, src []byte, root int) error {
	if err := c.rooted("Gather", root, len(src)); err != nil {
		return err
	}
	var layout []int32
	if c.rank == root {
		var err error
		if layout, err = c.layOut("Gather", &c.together.dst, counts, len(dst), len(src)); err != nil {
			return err
		}
	}
	if c.rank == root {
		src = c.together.apart(dst, src)
	} else {
		dst = nil
	}
	return c.joined("Gather", c.native.gather(dst, layout, src, root), root, dst, src)
}

// Scatter is collective: dst of each rank becomes its block of src of rank root, by MPI_Scatterv.
func (c *Comm) Scatter(dst, src []byte, counts []int, root int) error {
	if err := c.rooted("Scatter", root, len(dst)); err != nil {
		return err
	}
	var layout []int32
	if c.rank == root {
		var err error
		if layout, err = c.layOut("Scatter", &c.together.src, counts, len(src), len(dst)); err != nil {
			return err
		}
	}
	if c.rank != root {
		src = nil
	}
	into := dst
	if overlap(dst, src) {
		into = c.together.take(len(dst))
	}
	failed := c.native.scatter(into, src, layout, root)
	if failed == codeOK && overlap(dst, src) {
		copy(dst, into)
	}
	return c.joined("Scatter", failed, root, into, src)
}

// Allgather is collective: dst of all ranks becomes the blocks src of all, by MPI_Allgatherv.
func (c *Comm) Allgather(dst []byte, counts []int, src []byte) error {
	if err := c.open("Allgather"); err != nil {
		return err
	}
	layout, err := c.layOut("Allgather", &c.together.dst, counts, len(dst), len(src))
	if err != nil {
		return err
	}
	src = c.together.apart(dst, src)
	return c.joined("Allgather", c.native.gather(dst, layout, src, -1), -1, dst, src)
}

// Alltoall is collective: block j of src of rank i becomes block i of dst of rank j, by MPI_Alltoallv.
func (c *Comm) Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error {
	if err := c.open("Alltoall"); err != nil {
		return err
	}
	to, err := c.layOut("Alltoall", &c.together.dst, dstCounts, len(dst), -1)
	if err != nil {
		return err
	}
	from, err := c.layOut("Alltoall", &c.together.src, srcCounts, len(src), dstCounts[c.rank])
	if err != nil {
		return err
	}
	src = c.together.apart(dst, src)
	return c.joined("Alltoall", c.native.alltoall(dst, to, src, from), -1, dst, src)
}

// GatherBlocks is collective: dst of rank root becomes the blocks src of all ranks, which are equally long, by MPI_Gather.
func (c *Comm) GatherBlocks(dst, src []byte, root int) error {
	err := c.rooted("Gather", root, len(src))
	if err == nil && c.rank == root {
		err = c.fill("Gather", len(dst), len(src))
	}
	if err != nil {
		return err
	}
	if c.rank == root {
		src = c.together.apart(dst, src)
	} else {
		dst = nil
	}
	return c.joined("Gather", c.native.gatherBlocks(dst, src, root), root, dst, src)
}

// ScatterBlocks is collective: dst of each rank becomes its block of src of rank root, by MPI_Scatter. Blocks are equally long.
func (c *Comm) ScatterBlocks(dst, src []byte, root int) error {
	err := c.rooted("Scatter", root, len(dst))
	if err == nil && c.rank == root {
		err = c.fill("Scatter", len(src), len(dst))
	}
	if err != nil {
		return err
	}
	if c.rank != root {
		src = nil
	}
	into := dst
	if overlap(dst, src) {
		into = c.together.take(len(dst))
	}
	failed := c.native.scatterBlocks(into, src, root)
	if failed == codeOK && overlap(dst, src) {
		copy(dst, into)
	}
	return c.joined("Scatter", failed, root, into, src)
}

// AllgatherBlocks is collective: dst of all ranks becomes the blocks src of all, which are equally long, by MPI_Allgather.
func (c *Comm) AllgatherBlocks(dst, src []byte) error {
	if err := cmp.Or(c.open("Allgather"), c.fill("Allgather", len(dst), len(src))); err != nil {
		return err
	}
	src = c.together.apart(dst, src)
	return c.joined("Allgather", c.native.gatherBlocks(dst, src, -1), -1, dst, src)
}

// AlltoallBlocks is collective: block j of src of rank i becomes block i of dst of rank j, by MPI_Alltoall. Blocks are equally long.
func (c *Comm) AlltoallBlocks(dst, src []byte) error {
	block := len(src) / c.size
	if err := cmp.Or(c.open("Alltoall"), c.fill("Alltoall", len(src), block), c.fill("Alltoall", len(dst), block)); err != nil {
		return err
	}
	src = c.together.apart(dst, src)
	return c.joined("Alltoall", c.native.alltoallBlocks(dst, src, block), -1, dst, src)
}

// fill holds a buffer to a block per rank.
func (c *Comm) fill(op string, size, block int) error {
	switch {
	case block > math.MaxInt32 || size > math.MaxInt32:
		return &Error{op, c.rank, -1, -1, fmt.Errorf("%w: %d bytes in all", ErrCount, size)}
	case size != c.size*block:
		return &Error{op, c.rank, -1, -1, fmt.Errorf("%w: %d bytes for %d blocks of %d", ErrLength, size, c.size, block)}
	}
	return nil
}

// rooted are the checks that collectives with a root begin with.
func (c *Comm) rooted(op string, root, bytes int) error {
	if err := c.open(op); err != nil {
		return err
	}
	if uint(root) >= uint(c.size) {
		return &Error{op, c.rank, root, -1, ErrRank}
	}
	if bytes > math.MaxInt32 {
		return &Error{op, c.rank, root, -1, fmt.Errorf("%w: %d bytes", ErrCount, bytes)}
	}
	return nil
}

// layOut makes a layout of counts, which have to fill a buffer, the rank's own block being as long as
// told (-1: any length): the library takes them as they are.
func (c *Comm) layOut(op string, layout *[]int32, counts []int, size, own int) ([]int32, error) {
	bad := func(class error, text string, args ...any) ([]int32, error) {
		return nil, &Error{op, c.rank, -1, -1, fmt.Errorf("%w: %s", class, fmt.Sprintf(text, args...))}
	}
	if len(counts) != c.size {
		return bad(ErrLength, "%d counts for %d ranks", len(counts), c.size)
	}
	if size > math.MaxInt32 {
		return bad(ErrCount, "%d bytes in all", size)
	}
	l := (*layout)[:0]
	for i, n := range counts {
		if n < 0 || n > size {
			return bad(ErrLength, "count %d is %d of %d bytes", i, n, size)
		}
		l = append(l, int32(n))
	}
	end := 0
	for _, n := range counts {
		l = append(l, int32(min(end, size)))
		end += n
	}
	*layout = l
	if end != size || own >= 0 && counts[c.rank] != own {
		return bad(ErrLength, "counts of %d bytes in all, %d of the rank's own, for %d and %d", end, counts[c.rank], size, own)
	}
	return l, nil
}
