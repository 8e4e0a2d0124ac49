package mpi

import (
	"reflect"
	"slices"
	"strings"
)

// mpich is the ABI of MPICH, from mpi.h of version 4.0.2; versions 3.4 to 5.0 have it. Since 2014 it is
// also the ABI of Intel MPI, MVAPICH and Cray MPICH (MPICH ABI Compatibility Initiative,
// www.mpich.org/abi). Handles are integers, whose upper bits tell the kind of object.
func mpich() *abi {
	return &abi{
		name:           "MPICH",
		handleBytes:    4,
		threadFunneled: 1,
		commWorld:      0x44000000, commSelf: 0x44000001, commNull: 0x04000000,
		byteType: 0x4c00010d, requestNull: 0x2c000000,
		errorsReturn: 0x54000001, copyNothing: 0,
		numbers: [...]uintptr{
			reflect.Int8: 0x4c000137, reflect.Int16: 0x4c000238, reflect.Int32: 0x4c000439, reflect.Int64: 0x4c00083a,
			reflect.Uint8: 0x4c00013b, reflect.Uint16: 0x4c00023c, reflect.Uint32: 0x4c00043d, reflect.Uint64: 0x4c00083e,
			reflect.Float32: 0x4c00040a, reflect.Float64: 0x4c00080b,
		},
		reductions: [...]uintptr{Max: 0x58000001, Min: 0x58000002, Sum: 0x58000003, Product: 0x58000004},

		errCount: 2, errTag: 4, errRank: 6, errRoot: 7, errTruncate: 14,

		// struct MPI_Status { int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR; }
		// A message has fewer than 2^31 bytes and is not cancelled, so the second field is 0.
		statusBytes: 20, source: 8, tag: 12, counted: 0,
	}
}

// isKinOfMPICH tells by the version text of a library whether it is MPICH or derived from it.
func isKinOfMPICH(version string) bool {
	kin := []string{"MPICH", "Intel(R) MPI", "MVAPICH"}
	return slices.ContainsFunc(kin, func(name string) bool { return strings.Contains(version, name) })
}
