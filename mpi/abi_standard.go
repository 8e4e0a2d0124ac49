package mpi

import "reflect"

// standard is the standard ABI of MPI 5 (MPI 5.0, chapter 20), from mpi.h of MPICH 5.0.2 and of Open MPI
// 6.0.0rc2, which agree. Handles are pointers. Where MPI_Status holds the count is the library's own affair:
// checkABI finds it out.
func standard() *abi {
	return &abi{
		name:           "the standard ABI of MPI 5",
		handleBytes:    8,
		threadFunneled: 1024,
		commWorld:      0x101, commSelf: 0x102, commNull: 0x100,
		byteType: 0x247, requestNull: 0x180,
		errorsReturn: 0x143, copyNothing: 0,
		numbers: [...]uintptr{
			reflect.Int8: 0x240, reflect.Int16: 0x248, reflect.Int32: 0x250, reflect.Int64: 0x258,
			reflect.Uint8: 0x241, reflect.Uint16: 0x249, reflect.Uint32: 0x251, reflect.Uint64: 0x259,
			reflect.Float32: 0x210, reflect.Float64: 0x214,
		},
		reductions: [...]uintptr{Sum: 0x21, Min: 0x22, Max: 0x23, Product: 0x24},

		errCount: 2, errTag: 4, errRank: 6, errRoot: 8, errTruncate: 15,

		// struct MPI_Status { int MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5]; }
		statusBytes: 32, source: 0, tag: 4, counted: notKnown,
	}
}
