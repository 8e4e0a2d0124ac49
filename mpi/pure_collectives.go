package mpi

import "unsafe"

// A pair is one of MPI's collectives, and its other form, which only starts it.
type pair struct{ blocking, starting uintptr }

// collectives are the addresses of what nativeCollectives needs.
type collectives struct {
	reduce, allreduce, gather, allgather, scatter, alltoall      pair
	gatherBlocks, allgatherBlocks, scatterBlocks, alltoallBlocks pair
}

func (c *collectives) symbols() []symbol {
	return []symbol{
		{"MPI_Reduce", &c.reduce.blocking},
		{"MPI_Ireduce", &c.reduce.starting},
		{"MPI_Allreduce", &c.allreduce.blocking},
		{"MPI_Iallreduce", &c.allreduce.starting},
		{"MPI_Gatherv", &c.gather.blocking},
		{"MPI_Igatherv", &c.gather.starting},
		{"MPI_Allgatherv", &c.allgather.blocking},
		{"MPI_Iallgatherv", &c.allgather.starting},
		{"MPI_Scatterv", &c.scatter.blocking},
		{"MPI_Iscatterv", &c.scatter.starting},
		{"MPI_Alltoallv", &c.alltoall.blocking},
		{"MPI_Ialltoallv", &c.alltoall.starting},
		{"MPI_Gather", &c.gatherBlocks.blocking},
		{"MPI_Igather", &c.gatherBlocks.starting},
		{"MPI_Allgather", &c.allgatherBlocks.blocking},
		{"MPI_Iallgather", &c.allgatherBlocks.starting},
		{"MPI_Scatter", &c.scatterBlocks.blocking},
		{"MPI_Iscatter", &c.scatterBlocks.starting},
		{"MPI_Alltoall", &c.alltoallBlocks.blocking},
		{"MPI_Ialltoall", &c.alltoallBlocks.starting},
	}
}

// A gang is the memory of a collective, which has to stay in place until it is done: see endpoint.
type gang [6]unsafe.Pointer

func (g *gang) bytes(i int, b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	g[i] = unsafe.Pointer(unsafe.SliceData(b))
	return uintptr(g[i])
}

// layout holds a layout, and returns where its counts and offsets are; 0 of none.
func (g *gang) layout(i int, l []int32) (counts, offsets uintptr) {
	if len(l) == 0 {
		return 0, 0
	}
	g[i] = unsafe.Pointer(unsafe.SliceData(l))
	return uintptr(g[i]), uintptr(unsafe.Pointer(&l[len(l)/2]))
}

// join performs a collective, where ranks share cores by starting it and waiting, which yields.
func (e *endpoint) join(f pair, args ...uintptr) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	var c code
	n := copy(e.args[:], args)
	if e.spin == 0 {
		c = code(int32(invoke(f.blocking, e.args[:n]...)))
	} else {
		e.args[n] = requestAt(&e.request)
		if c = code(int32(invoke(f.starting, e.args[:n+1]...))); c == codeOK {
			c = e.wait(&e.request)
		}
	}
	e.gang = gang{}
	return c
}

func (e *endpoint) reduce(values, into []byte, count int, number NumberType, with Reduction, root int) code {
	from, to := e.gang.bytes(0, values), e.gang.bytes(1, into)
	kind, op := e.lib.numbers[number], e.lib.reductions[with]
	if root < 0 {
		return e.join(e.lib.collectives.allreduce, from, to, uintptr(count), kind, op, e.comm)
	}
	return e.join(e.lib.collectives.reduce, from, to, uintptr(count), kind, op, uintptr(root), e.comm)
}

func (e *endpoint) gather(dst []byte, layout []int32, src []byte, root int) code {
	from, to, bytes := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType
	counts, offsets := e.gang.layout(2, layout)
	if root < 0 {
		return e.join(e.lib.collectives.allgather, from, uintptr(len(src)), bytes, to, counts, offsets, bytes, e.comm)
	}
	return e.join(e.lib.collectives.gather, from, uintptr(len(src)), bytes, to, counts, offsets, bytes, uintptr(root), e.comm)
}

func (e *endpoint) scatter(dst, src []byte, layout []int32, root int) code {
	from, to, bytes := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType
	counts, offsets := e.gang.layout(2, layout)
	return e.join(e.lib.collectives.scatter, from, counts, offsets, bytes, to, uintptr(len(dst)), bytes, uintptr(root), e.comm)
}

func (e *endpoint) alltoall(dst []byte, dstLayout []int32, src []byte, srcLayout []int32) code {
	from, to, bytes := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType
	srcCounts, srcOffsets := e.gang.layout(2, srcLayout)
	dstCounts, dstOffsets := e.gang.layout(3, dstLayout)
	return e.join(e.lib.collectives.alltoall, from, srcCounts, srcOffsets, bytes, to, dstCounts, dstOffsets, bytes, e.comm)
}

func (e *endpoint) gatherBlocks(dst, src []byte, root int) code {
	from, to, bytes, n := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType, uintptr(len(src))
	if root < 0 {
		return e.join(e.lib.collectives.allgatherBlocks, from, n, bytes, to, n, bytes, e.comm)
	}
	return e.join(e.lib.collectives.gatherBlocks, from, n, bytes, to, n, bytes, uintptr(root), e.comm)
}

func (e *endpoint) scatterBlocks(dst, src []byte, root int) code {
	from, to, bytes, n := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType, uintptr(len(dst))
	return e.join(e.lib.collectives.scatterBlocks, from, n, bytes, to, n, bytes, uintptr(root), e.comm)
}

func (e *endpoint) alltoallBlocks(dst, src []byte, block int) code {
	from, to, bytes, n := e.gang.bytes(0, src), e.gang.bytes(1, dst), e.lib.byteType, uintptr(block)
	return e.join(e.lib.collectives.alltoallBlocks, from, n, bytes, to, n, bytes, e.comm)
}
