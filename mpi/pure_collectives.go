//go:build !(mpi && cgo)

package mpi

import "unsafe"

// A collectiveCall is one of MPI's collectives: the blocking function, and the one that only starts it.
type collectiveCall struct{ blocking, starting uintptr }

// blockCalls are the functions for blocks of equal length, and for blocks with counts.
type blockCalls struct{ equal, counted collectiveCall }

// collectives are the addresses of MPI's functions for Collectives.
type collectives struct {
	reduce, allreduce                    collectiveCall
	gather, scatter, allgather, alltoall blockCalls
}

func (c *collectives) symbols() (all []symbol) {
	for _, x := range []struct {
		name, starting string
		call           *collectiveCall
	}{
		{"MPI_Reduce", "MPI_Ireduce", &c.reduce},
		{"MPI_Allreduce", "MPI_Iallreduce", &c.allreduce},
		{"MPI_Gather", "MPI_Igather", &c.gather.equal},
		{"MPI_Gatherv", "MPI_Igatherv", &c.gather.counted},
		{"MPI_Scatter", "MPI_Iscatter", &c.scatter.equal},
		{"MPI_Scatterv", "MPI_Iscatterv", &c.scatter.counted},
		{"MPI_Allgather", "MPI_Iallgather", &c.allgather.equal},
		{"MPI_Allgatherv", "MPI_Iallgatherv", &c.allgather.counted},
		{"MPI_Alltoall", "MPI_Ialltoall", &c.alltoall.equal},
		{"MPI_Alltoallv", "MPI_Ialltoallv", &c.alltoall.counted},
	} {
		all = append(all, symbol{x.name, &x.call.blocking}, symbol{x.starting, &x.call.starting})
	}
	return all
}

// A gang is the memory of a collective, which has to stay in place until the collective is done: see endpoint.
type gang [4]unsafe.Pointer

// join performs a collective. Where ranks share cores, it starts the collective and waits, which yields.
func (e *endpoint) join(f collectiveCall, args ...uintptr) code {
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

// reduce puts the reduction into another buffer. A root below 0 means all ranks.
func (e *endpoint) reduce(values, into []byte, count int, number NumberType, with Reduction, root int) code {
	from, to := e.keep(0, values), e.keep(1, into)
	kind, op := e.lib.numbers[number], e.lib.reductions[with]
	if root < 0 {
		return e.join(e.lib.collectives.allreduce, from, to, uintptr(count), kind, op, e.comm)
	}
	return e.join(e.lib.collectives.reduce, from, to, uintptr(count), kind, op, uintptr(root), e.comm)
}

// move moves blocks between buffers that do not overlap. A root below 0 means that there is none.
func (e *endpoint) move(calls *blockCalls, dst, src blocks, root int) code {
	call := calls.equal
	if dst.counted || src.counted {
		call = calls.counted
	}
	args := e.appendBlocks(e.args[:0], 0, src)
	args = e.appendBlocks(args, 2, dst)
	if root >= 0 {
		args = append(args, uintptr(root))
	}
	return e.join(call, append(args, e.comm)...)
}

// appendBlocks appends the arguments for one buffer: its address, lengths and type.
func (e *endpoint) appendBlocks(args []uintptr, i int, b blocks) []uintptr {
	args = append(args, e.keep(i, b.buf))
	switch {
	case !b.counted:
		args = append(args, uintptr(b.each))
	case b.layout == nil:
		args = append(args, 0, 0)
	default:
		counts, offsets := unsafe.SliceData(b.layout), &b.layout[len(b.layout)/2]
		e.gang[i+1] = unsafe.Pointer(counts)
		args = append(args, uintptr(unsafe.Pointer(counts)), uintptr(unsafe.Pointer(offsets)))
	}
	return append(args, e.lib.byteType)
}

// keep returns the address of a buffer, and keeps the buffer in place until the collective is done.
func (e *endpoint) keep(i int, buf []byte) uintptr {
	if len(buf) == 0 {
		return 0
	}
	e.gang[i] = unsafe.Pointer(unsafe.SliceData(buf))
	return uintptr(e.gang[i])
}
