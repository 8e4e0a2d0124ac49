package mpi

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// This file has the checks of Collectives and their buffers. A wrong argument is an error before the library
// sees the call. Buffers that overlap, which MPI does not allow (MPI 3.1, section 5.2.1), go through
// scratch memory.

var _ Collectives = (*Comm)(nil)

// collectiveScratch is what a communicator keeps from one collective to the next.
type collectiveScratch struct {
	room     []byte
	dst, src []int32 // layouts
}

// take returns scratch memory of n bytes, aligned for every number, until the next call of take.
func (t *collectiveScratch) take(n int) []byte {
	if n > cap(t.room) {
		words := make([]uint64, (n+7)/8)
		t.room = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
	}
	return t.room[:n]
}

// blocks is a buffer of one rank as the library takes it: one block, or a block for each rank.
type blocks struct {
	buf     []byte
	each    int     // bytes of a block, unless counted
	counted bool    // the blocks differ in length
	layout  []int32 // of counted blocks: bytes of each block, then the offset of each block; nil: this rank has no buffer
}

func oneBlock(buf []byte) blocks { return blocks{buf: buf, each: len(buf)} }

// Barrier is collective: it returns on no rank before all ranks have called it. Ranks that share cores yield
// while they wait.
func (c *Comm) Barrier() error {
	if err := c.open("Barrier"); err != nil {
		return err
	}
	return c.fault("Barrier", c.native.barrier(), -1, -1)
}

// Reduce is collective: MPI_Reduce replaces values of rank root by the reduction of the values of all
// ranks.
func (c *Comm) Reduce(values []byte, number reflect.Kind, with Reduction, root int) error {
	if err := c.checkRoot("Reduce", 0, root); err != nil {
		return err
	}
	return c.reduce("Reduce", values, number, with, root)
}

// Allreduce is collective: MPI_Allreduce replaces the values of all ranks by their reduction.
func (c *Comm) Allreduce(values []byte, number reflect.Kind, with Reduction) error {
	if err := c.open("Allreduce"); err != nil {
		return err
	}
	return c.reduce("Allreduce", values, number, with, -1)
}

func (c *Comm) reduce(op string, values []byte, number reflect.Kind, with Reduction, root int) error {
	size := numberSize(number)
	switch {
	case size == 0 || with > Max:
		return c.refuse(op, ErrOther, "a reduction %d of numbers of type %v", with, number)
	case len(values)%size != 0:
		return c.refuse(op, ErrLength, "%d bytes are no %v", len(values), number)
	case len(values)/size > math.MaxInt32:
		return c.refuse(op, ErrCount, "%d values", len(values)/size)
	case len(values) == 0: // the libraries differ in whether they allow this
		return nil
	}
	from, into := values, c.scratch.take(len(values))
	flips := number >= reflect.Uint8 && number <= reflect.Uint64 && with >= Min
	if flips {
		number -= reflect.Uint8 - reflect.Int8
		room := c.scratch.take(2 * len(values))
		from, into = append(room[:0], values...), room[len(values):]
		flipSigns(from, size)
	}
	failed := c.native.reduce(from, into, len(values)/size, number, with, root)
	if failed == codeOK && (root < 0 || root == c.rank) {
		if flips {
			flipSigns(into, size)
		}
		copy(values, into)
	}
	return c.joined(op, failed, root, into, from)
}

// flipSigns flips the highest bit of numbers of the given size, on processors that store it last. The numbers then have the order as signed
// ones that they had as unsigned ones. Minima and maxima are computed of signed numbers only: MPICH 4.0.0 to 4.0.2 compares unsigned
// numbers as if they were signed (pmodels/mpich issue 6083).
func flipSigns(values []byte, size int) {
	for i := size - 1; i < len(values); i += size {
		values[i] ^= 0x80
	}
}

// numberSize is the size of a number in bytes. It is 0 for a type that the libraries do not have.
func numberSize(number reflect.Kind) int {
	switch number {
	case reflect.Int8, reflect.Uint8:
		return 1
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return 8
	}
	return 0
}

// Gather is collective: dst of rank root becomes the blocks src of all ranks, by MPI_Gather, or by
// MPI_Gatherv if counts is not nil.
func (c *Comm) Gather(dst []byte, counts []int, src []byte, root int) error {
	to, err := c.atRoot("Gather", &c.scratch.dst, dst, counts, len(src), root)
	if err != nil {
		return err
	}
	return c.move("Gather", &c.lib.collectives.gather, to, oneBlock(src), root)
}

// Scatter is collective: dst of each rank becomes its block of src of rank root, by MPI_Scatter, or by
// MPI_Scatterv if counts is not nil.
func (c *Comm) Scatter(dst, src []byte, counts []int, root int) error {
	from, err := c.atRoot("Scatter", &c.scratch.src, src, counts, len(dst), root)
	if err != nil {
		return err
	}
	return c.move("Scatter", &c.lib.collectives.scatter, oneBlock(dst), from, root)
}

// Allgather is collective: dst of all ranks becomes the blocks src of all ranks, by MPI_Allgather, or by
// MPI_Allgatherv if counts is not nil.
func (c *Comm) Allgather(dst []byte, counts []int, src []byte) error {
	to, err := c.cut("Allgather", &c.scratch.dst, dst, counts, len(src))
	if err != nil {
		return err
	}
	return c.move("Allgather", &c.lib.collectives.allgather, to, oneBlock(src), -1)
}

// Alltoall is collective: block j of src of rank i becomes block i of dst of rank j, by MPI_Alltoall, or by
// MPI_Alltoallv if the counts are not nil.
func (c *Comm) Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error {
	own := len(dst) / c.size
	if len(dstCounts) == c.size {
		own = dstCounts[c.rank]
	}
	to, err := c.cut("Alltoall", &c.scratch.dst, dst, dstCounts, own)
	if err != nil {
		return err
	}
	from, err := c.cut("Alltoall", &c.scratch.src, src, srcCounts, own)
	if err != nil {
		return err
	}
	if to.counted != from.counted {
		return c.refuse("Alltoall", ErrLength, "counts of one buffer only")
	}
	return c.move("Alltoall", &c.lib.collectives.alltoall, to, from, -1)
}

// atRoot checks the buffer that only the root has, of which the block of this rank has own bytes.
func (c *Comm) atRoot(op string, room *[]int32, buf []byte, counts []int, own, root int) (blocks, error) {
	if err := c.checkRoot(op, 0, root); err != nil {
		return blocks{}, err
	}
	if c.rank == root {
		return c.cut(op, room, buf, counts, own)
	}
	if own > math.MaxInt32 {
		return blocks{}, c.refuse(op, ErrCount, "%d bytes", own)
	}
	return blocks{each: own, counted: counts != nil}, nil
}

// cut cuts a buffer into a block for each rank. counts have to fill the buffer, and the block of this rank has
// own bytes. A layout is written to room.
func (c *Comm) cut(op string, room *[]int32, buf []byte, counts []int, own int) (blocks, error) {
	switch {
	case c.closed:
		return blocks{}, c.useAfterClose(op)
	case len(buf) > math.MaxInt32:
		return blocks{}, c.refuse(op, ErrCount, "%d bytes in all", len(buf))
	case counts == nil && len(buf) != c.size*own:
		return blocks{}, c.refuse(op, ErrLength, "%d bytes for %d blocks of %d", len(buf), c.size, own)
	case counts == nil:
		return blocks{buf: buf, each: own}, nil
	case len(counts) != c.size:
		return blocks{}, c.refuse(op, ErrLength, "%d counts for %d ranks", len(counts), c.size)
	}
	layout, end := (*room)[:0], 0
	for i, n := range counts {
		if n < 0 || n > len(buf)-end {
			return blocks{}, c.refuse(op, ErrLength, "count %d is %d, after %d of %d bytes", i, n, end, len(buf))
		}
		layout = append(layout, int32(n))
		end += n
	}
	at := int32(0)
	for _, n := range layout[:c.size] {
		layout = append(layout, at)
		at += n
	}
	*room = layout
	if end != len(buf) || counts[c.rank] != own {
		return blocks{}, c.refuse(op, ErrLength, "counts of %d bytes in all, %d of this rank, want %d and %d", end, counts[c.rank], len(buf), own)
	}
	return blocks{buf: buf, counted: true, layout: layout}, nil
}

// move moves blocks, of buffers that overlap by way of scratch memory for the shorter one. A root below 0 means that
// there is none.
func (c *Comm) move(op string, calls *blockCalls, dst, src blocks, root int) error {
	into := dst.buf
	apart := !overlap(into, src.buf)
	switch {
	case apart:
	case len(src.buf) <= len(into):
		src.buf = append(c.scratch.take(len(src.buf))[:0], src.buf...)
	default:
		dst.buf = c.scratch.take(len(into))
	}
	failed := c.native.move(calls, dst, src, root)
	if failed == codeOK && !apart {
		copy(into, dst.buf)
	}
	return c.joined(op, failed, root, dst.buf, src.buf)
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, to := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return from < to+uintptr(len(b)) && to < from+uintptr(len(a))
}

// joined is fault for a collective that uses two buffers. The messages of one that fails may be under way
// for good, and so the buffers stay in place.
func (c *Comm) joined(op string, failed code, root int, dst, src []byte) error {
	if failed > codeOK {
		c.live.leak(dst)
		c.live.leak(src)
	}
	return c.fault(op, failed, root, -1)
}

// checkRoot says whether n bytes may go from or to root.
func (c *Comm) checkRoot(op string, n, root int) error {
	return cmp.Or(c.open(op), checkRoot(op, c.rank, c.size, n, root))
}

// refuse makes the error of a wrong argument.
func (c *Comm) refuse(op string, class error, text string, args ...any) error {
	return &Error{op, c.rank, -1, -1, fmt.Errorf("%w: %s", class, fmt.Sprintf(text, args...))}
}
