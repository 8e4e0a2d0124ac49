package mpi

// A Reduction is what becomes of the values that ranks put together.
type Reduction uint8

// The reductions that every library has.
const (
	Sum Reduction = iota
	Product
	Min
	Max
)

func (r Reduction) String() string {
	return nameOf(int(r), "sum", "product", "min", "max")
}

// A NumberType is the type of the values of a reduction.
type NumberType uint8

// The types that every library has.
const (
	Int8 NumberType = iota
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
)

func (t NumberType) String() string {
	return nameOf(int(t), "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
}

func nameOf(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// NativeBarrier is the library's own barrier.
type NativeBarrier interface {
	// Barrier is collective: it returns on no rank before all have called it.
	Barrier() error
}

// NativeReduce is the library's own reduction. Package mpi/collective calls it with
// values of a Go type.
type NativeReduce interface {
	// Reduce is collective: values of rank root become the reduction of those of
	// all ranks, element by element; those of other ranks stay. len(values), type,
	// reduction and root are equal on all ranks.
	Reduce(values []byte, number NumberType, with Reduction, root int) error

	// Allreduce is collective, and does so on all ranks.
	Allreduce(values []byte, number NumberType, with Reduction) error
}

// NativeGather are the library's own collectives that move blocks of bytes. A block of rank i is counts[i] bytes,
// and blocks lie one after the other in the order of ranks. Counts that both sides of a transfer have
// are equal on both. dst and src may overlap: src is read as it was.
type NativeGather interface {
	// Gather is collective: dst of rank root becomes the blocks src of all ranks. dst and
	// counts are only looked at there.
	Gather(dst []byte, counts []int, src []byte, root int) error

	// Scatter is collective: dst of each rank becomes its block of src of rank root. src and
	// counts are only looked at there.
	Scatter(dst, src []byte, counts []int, root int) error

	// Allgather is collective: dst of all ranks becomes the blocks src of all ranks.
	Allgather(dst []byte, counts []int, src []byte) error

	// Alltoall is collective: block j of src of rank i becomes block i of dst of rank j.
	Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error
}

// NativeBlocks are those of NativeGather for blocks that are equally long on all ranks, which all of them know:
// libraries have other algorithms for these.
type NativeBlocks interface {
	// GatherBlocks is collective: dst of rank root becomes the blocks src of all ranks.
	GatherBlocks(dst, src []byte, root int) error

	// ScatterBlocks is collective: dst of each rank becomes its block of src of rank root.
	ScatterBlocks(dst, src []byte, root int) error

	// AllgatherBlocks is collective: dst of all ranks becomes the blocks src of all ranks.
	AllgatherBlocks(dst, src []byte) error

	// AlltoallBlocks is collective: block j of src of rank i becomes block i of dst of rank j.
	AlltoallBlocks(dst, src []byte) error
}
