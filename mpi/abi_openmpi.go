//go:build !(mpi && cgo)

package mpi

import "encoding/binary"

// openMPI is the ABI of Open MPI, from mpi.h of version 4.1.4. Its handles are the addresses of
// objects, which are symbols; versions 3 to 5 promise the same ABI (libmpi.so.40).
func openMPI(find resolver) (*abi, error) {
	a := &abi{
		name:        "Open MPI",
		handleBytes: 8,

		errCount: 2, errTag: 4, errRank: 6, errRoot: 8, errTruncate: 15,

		// struct ompi_status_public_t { int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled; size_t _ucount; }
		statusBytes: 24, source: 0, tag: 4, counted: 16,
		count: func(status []byte) int64 { return int64(binary.NativeEndian.Uint64(status[16:])) },

		// Its ob1 does so where the receiver reads from the sender's memory by itself (4.1.4, messages
		// above 4 KiB between ranks of one host); 3 stands for no single copy.
		overruns: "btl_vader_single_copy_mechanism", overrunsNot: 3,
	}
	err := find.all([]symbol{
		{"ompi_mpi_comm_world", &a.commWorld},
		{"ompi_mpi_comm_self", &a.commSelf},
		{"ompi_mpi_comm_null", &a.commNull},
		{"ompi_mpi_byte", &a.byteType},
		{"ompi_request_null", &a.requestNull},
		{"ompi_mpi_errors_return", &a.errorsReturn},
		{"OMPI_C_MPI_COMM_NULL_COPY_FN", &a.copyNothing},
		{"ompi_mpi_int8_t", &a.numbers[Int8]},
		{"ompi_mpi_int16_t", &a.numbers[Int16]},
		{"ompi_mpi_int32_t", &a.numbers[Int32]},
		{"ompi_mpi_int64_t", &a.numbers[Int64]},
		{"ompi_mpi_uint8_t", &a.numbers[Uint8]},
		{"ompi_mpi_uint16_t", &a.numbers[Uint16]},
		{"ompi_mpi_uint32_t", &a.numbers[Uint32]},
		{"ompi_mpi_uint64_t", &a.numbers[Uint64]},
		{"ompi_mpi_float", &a.numbers[Float32]},
		{"ompi_mpi_double", &a.numbers[Float64]},
		{"ompi_mpi_op_sum", &a.reductions[Sum]},
		{"ompi_mpi_op_prod", &a.reductions[Product]},
		{"ompi_mpi_op_min", &a.reductions[Min]},
		{"ompi_mpi_op_max", &a.reductions[Max]},
	})
	return a, err
}
