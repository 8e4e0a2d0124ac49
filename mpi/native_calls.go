package mpi

import (
	"reflect"
	"unsafe"
)

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

// performCollective performs a collective. Where ranks share cores, it starts the collective and waits, which yields.
func (e *endpoint) performCollective(f collectiveCall, args ...uintptr) code {
	if e.lib.ended.Load() {
		return codeEnded
	}
	kept := e.args[:copy(e.args[:], args)] // args does not escape, and append finds room
	var c code
	if e.spin == 0 {
		c = e.callLong(f.blocking, kept)
	} else if c = e.callLong(f.starting, append(kept, requestAt(&e.request))); c == codeOK {
		c = e.wait(&e.request)
	}
	e.kept = [4]unsafe.Pointer{}
	return c
}

// callLong calls a function of MPI that may have more arguments than a call of a batch.
func (e *endpoint) callLong(function uintptr, args []uintptr) code {
	if len(args) <= len(batchCall{}.args) {
		return e.call(function, args...)
	}
	e.lib.watch.beginCall(function)
	defer e.lib.watch.end()
	return code(int32(invoke(function, args...)))
}

// reduce puts the reduction into another buffer. A root below 0 means all ranks.
func (e *endpoint) reduce(values, into []byte, count int, number reflect.Kind, with Reduction, root int) code {
	from, to := e.keep(0, values), e.keep(1, into)
	kind, op := e.lib.numbers[number], e.lib.reductions[with]
	if root < 0 {
		return e.performCollective(e.lib.collectives.allreduce, from, to, uintptr(count), kind, op, e.comm)
	}
	return e.performCollective(e.lib.collectives.reduce, from, to, uintptr(count), kind, op, uintptr(root), e.comm)
}

// move moves blocks between buffers that do not overlap. A root below 0 means that there is none.
func (e *endpoint) move(calls *blockCalls, dst, src blocks, root int) code {
	call := calls.equal
	if dst.counted || src.counted {
		call = calls.counted
	}
	args := e.appendBlocks(e.args[:0], 0, src) // each buffer has a place in kept, and one for its layout
	args = e.appendBlocks(args, 2, dst)
	if root >= 0 {
		args = append(args, uintptr(root))
	}
	return e.performCollective(call, append(args, e.comm)...)
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
		e.kept[i+1] = unsafe.Pointer(counts)
		args = append(args, uintptr(unsafe.Pointer(counts)), uintptr(unsafe.Pointer(offsets)))
	}
	return append(args, e.lib.byteType)
}

// keep returns the address of a buffer, and keeps the buffer in place until the collective is done.
func (e *endpoint) keep(i int, buf []byte) uintptr {
	if len(buf) == 0 {
		return 0
	}
	e.kept[i] = unsafe.Pointer(unsafe.SliceData(buf))
	return uintptr(e.kept[i])
}
