package mpi

import "reflect"

// A Reduction is the operation by which the values of all ranks become one.
type Reduction uint8

// The reductions that every library has.
const (
	Sum Reduction = iota
	Product
	Min
	Max
)

// Collectives are the MPI library's collective operations besides MPI_Bcast (NativeBcast). Package
// mpi/collective calls them with slices of Go values.
//
// All methods are collective. Operation, root, number and reduction are equal on all ranks. number is the type of
// the values: reflect.Int8 to Int64, Uint8 to Uint64, Float32 or Float64.
//
// Gather, Scatter, Allgather and Alltoall move blocks of bytes. The blocks of a buffer follow one another
// in the order of ranks. The argument counts has the length in bytes of each block. Nil means that all blocks
// of the operation have one length, which all ranks know: the libraries have faster algorithms for
// these. So counts is nil on all ranks or on none. dst and src may overlap: src is read as it was
// before the call.
type Collectives interface {
	// Barrier returns on no rank before all ranks have called it.
	Barrier() error

	// Reduce replaces values of rank root by the reduction of the values of all ranks, element by
	// element. The values of other ranks stay. len(values) is equal on all ranks.
	Reduce(values []byte, number reflect.Kind, with Reduction, root int) error

	// Allreduce replaces the values of all ranks by their reduction.
	Allreduce(values []byte, number reflect.Kind, with Reduction) error

	// Gather fills dst of rank root with the blocks src of all ranks. On other ranks dst is not read, and
	// of counts only whether it is nil.
	Gather(dst []byte, counts []int, src []byte, root int) error

	// Scatter fills dst of each rank with its block of src of rank root. On other ranks src is not read, and
	// of counts only whether it is nil.
	Scatter(dst, src []byte, counts []int, root int) error

	// Allgather fills dst of all ranks with the blocks src of all ranks. counts is equal on all ranks.
	Allgather(dst []byte, counts []int, src []byte) error

	// Alltoall fills block i of dst of rank j with block j of src of rank i. Both counts are nil, or none.
	Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error
}
