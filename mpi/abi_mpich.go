//go:build !(mpi && cgo)

package mpi

import (
	"encoding/binary"
	"strings"
)

// mpich is the ABI of MPICH, from mpi.h of version 4.0.2. Since 2014 it is that of its kin, too
// (MPICH ABI Compatibility Initiative, www.mpich.org/abi): Intel MPI, MVAPICH, Cray MPICH. Handles
// are integers, in which upper bits tell the kind of object.
func mpich() *abi {
	return &abi{
		name:        "MPICH",
		handleBytes: 4,
		commWorld:   0x44000000, commSelf: 0x44000001, commNull: 0x04000000,
		byteType: 0x4c00010d, requestNull: 0x2c000000,
		errorsReturn: 0x54000001, copyNothing: 0,
		numbers: [...]uintptr{
			Int8: 0x4c000137, Int16: 0x4c000238, Int32: 0x4c000439, Int64: 0x4c00083a,
			Uint8: 0x4c00013b, Uint16: 0x4c00023c, Uint32: 0x4c00043d, Uint64: 0x4c00083e,
			Float32: 0x4c00040a, Float64: 0x4c00080b,
		},
		reductions: [...]uintptr{Max: 0x58000001, Min: 0x58000002, Sum: 0x58000003, Product: 0x58000004},

		errCount: 2, errTag: 4, errRank: 6, errRoot: 7, errTruncate: 14,

		// struct MPI_Status { int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR; }
		// The lowest bit of the second is the one that tells cancelled operations.
		statusBytes: 20, source: 8, tag: 12, counted: 0,
		count: func(status []byte) int64 {
			low, high := binary.NativeEndian.Uint32(status), binary.NativeEndian.Uint32(status[4:])>>1
			return int64(high)<<32 | int64(low)
		},
	}
}

// hasABIOfMPICH tells, by the version text of a library without Open MPI's symbols, whether it has
// MPICH's ABI.
func hasABIOfMPICH(version string) bool {
	for _, kin := range []string{"MPICH", "Intel(R) MPI", "MVAPICH"} {
		if strings.Contains(version, kin) {
			return true
		}
	}
	return false
}
