package mpi

import "reflect"

// openMPI is the ABI of Open MPI, from mpi.h of version 4.1.4. Versions 3 to 6 have it (libmpi.so.40).
// Handles are the addresses of objects, which are symbols of the library.
func openMPI(find resolver) (*abi, error) {
	a := &abi{
		name:           "Open MPI",
		handleBytes:    8,
		threadFunneled: 1,

		errCount: 2, errTag: 4, errRank: 6, errRoot: 8, errTruncate: 15,

		// struct ompi_status_public_t { int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled; size_t _ucount; }
		statusBytes: 24, source: 0, tag: 4, counted: 16,
	}
	err := find.all([]symbol{
		{"ompi_mpi_comm_world", &a.commWorld},
		{"ompi_mpi_comm_self", &a.commSelf},
		{"ompi_mpi_comm_null", &a.commNull},
		{"ompi_mpi_byte", &a.byteType},
		{"ompi_request_null", &a.requestNull},
		{"ompi_mpi_errors_return", &a.errorsReturn},
		{"OMPI_C_MPI_COMM_NULL_COPY_FN", &a.copyNothing},
		{"ompi_mpi_int8_t", &a.numbers[reflect.Int8]},
		{"ompi_mpi_int16_t", &a.numbers[reflect.Int16]},
		{"ompi_mpi_int32_t", &a.numbers[reflect.Int32]},
		{"ompi_mpi_int64_t", &a.numbers[reflect.Int64]},
		{"ompi_mpi_uint8_t", &a.numbers[reflect.Uint8]},
		{"ompi_mpi_uint16_t", &a.numbers[reflect.Uint16]},
		{"ompi_mpi_uint32_t", &a.numbers[reflect.Uint32]},
		{"ompi_mpi_uint64_t", &a.numbers[reflect.Uint64]},
		{"ompi_mpi_float", &a.numbers[reflect.Float32]},
		{"ompi_mpi_double", &a.numbers[reflect.Float64]},
		{"ompi_mpi_op_sum", &a.reductions[Sum]},
		{"ompi_mpi_op_prod", &a.reductions[Product]},
		{"ompi_mpi_op_min", &a.reductions[Min]},
		{"ompi_mpi_op_max", &a.reductions[Max]},
	})
	return a, err
}
