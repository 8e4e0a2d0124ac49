//go:build mpi && cgo

package mpi

/*
#cgo noescape tc_reduce
#cgo nocallback tc_reduce
#cgo noescape tc_gather
#cgo nocallback tc_gather
#cgo noescape tc_scatter
#cgo nocallback tc_scatter
#cgo noescape tc_alltoall
#cgo nocallback tc_alltoall
#cgo noescape tc_gather_blocks
#cgo nocallback tc_gather_blocks
#cgo noescape tc_scatter_blocks
#cgo nocallback tc_scatter_blocks
#cgo noescape tc_alltoall_blocks
#cgo nocallback tc_alltoall_blocks
#include "collectives.h"
*/
import "C"

import "unsafe"

// halves are the counts and the offsets of a layout; nil of none.
func halves(layout []int32) (counts, offsets *C.int) {
	if len(layout) == 0 {
		return nil, nil
	}
	return (*C.int)(unsafe.Pointer(&layout[0])), (*C.int)(unsafe.Pointer(&layout[len(layout)/2]))
}

func (e *endpoint) reduce(values, into []byte, count int, number NumberType, with Reduction, root int) code {
	return code(C.tc_reduce(data(values), data(into), C.int(count), C.int(number), C.int(with), C.int(root), e.comm, C.int(e.spin)))
}

func (e *endpoint) gather(dst []byte, layout []int32, src []byte, root int) code {
	counts, offsets := halves(layout)
	return code(C.tc_gather(data(dst), counts, offsets, data(src), C.int(len(src)), C.int(root), e.comm, C.int(e.spin)))
}

func (e *endpoint) scatter(dst, src []byte, layout []int32, root int) code {
	counts, offsets := halves(layout)
	return code(C.tc_scatter(data(dst), C.int(len(dst)), data(src), counts, offsets, C.int(root), e.comm, C.int(e.spin)))
}

func (e *endpoint) alltoall(dst []byte, dstLayout []int32, src []byte, srcLayout []int32) code {
	dstCounts, dstOffsets := halves(dstLayout)
	srcCounts, srcOffsets := halves(srcLayout)
	return code(C.tc_alltoall(data(dst), dstCounts, dstOffsets, data(src), srcCounts, srcOffsets, e.comm, C.int(e.spin)))
}

func (e *endpoint) gatherBlocks(dst, src []byte, root int) code {
	return code(C.tc_gather_blocks(data(dst), data(src), C.int(len(src)), C.int(root), e.comm, C.int(e.spin)))
}

func (e *endpoint) scatterBlocks(dst, src []byte, root int) code {
	return code(C.tc_scatter_blocks(data(dst), data(src), C.int(len(dst)), C.int(root), e.comm, C.int(e.spin)))
}

func (e *endpoint) alltoallBlocks(dst, src []byte, block int) code {
	return code(C.tc_alltoall_blocks(data(dst), data(src), C.int(block), e.comm, C.int(e.spin)))
}
