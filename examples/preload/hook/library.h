// The MPI library, found at run time: what is preloaded is preloaded into shells and launchers,
// too, which are to get no MPI from us.

#ifndef TOPOCAST_LIBRARY_H
#define TOPOCAST_LIBRARY_H

#include <mpi.h>

// What is called of it.
#define TP_CALLS(X) \
	TP_FORTRAN_CALLS(X) \
	X(Allreduce) X(Bcast) X(Comm_call_errhandler) X(Comm_create) X(Comm_create_keyval) \
	X(Comm_free) X(Comm_free_keyval) X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_group) X(Comm_rank) \
	X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) X(Comm_test_inter) X(Errhandler_free) \
	X(Finalized) X(Group_free) X(Group_translate_ranks) X(Initialized) X(Pack) X(Query_thread) \
	X(Sendrecv) X(Type_commit) X(Type_contiguous) X(Type_create_struct) X(Type_free) \
	X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_extent_x) X(Type_size_x) X(Unpack)

// Open MPI's handles are addresses of variables of the library. Its header names these, and so
// finds here where they are.
#ifdef OPEN_MPI
#define TP_FORTRAN_CALLS(X) X(Comm_f2c) X(Type_f2c)
#define TP_HANDLES(X) \
	X(ompi_mpi_comm_world) X(ompi_mpi_comm_self) X(ompi_mpi_comm_null) X(ompi_mpi_datatype_null) \
	X(ompi_mpi_byte) X(ompi_mpi_double) X(ompi_mpi_op_min) X(ompi_mpi_errors_return)
#define ompi_mpi_comm_world (*tp_mpi.ompi_mpi_comm_world_)
#define ompi_mpi_comm_self (*tp_mpi.ompi_mpi_comm_self_)
#define ompi_mpi_comm_null (*tp_mpi.ompi_mpi_comm_null_)
#define ompi_mpi_datatype_null (*tp_mpi.ompi_mpi_datatype_null_)
#define ompi_mpi_byte (*tp_mpi.ompi_mpi_byte_)
#define ompi_mpi_double (*tp_mpi.ompi_mpi_double_)
#define ompi_mpi_op_min (*tp_mpi.ompi_mpi_op_min_)
#define ompi_mpi_errors_return (*tp_mpi.ompi_mpi_errors_return_)
#else
#define TP_FORTRAN_CALLS(X)
#define TP_HANDLES(X)
#endif

// tp_mpi has the library's calls by the names that profilers leave alone: PMPI_Bcast is tp_mpi.Bcast.
struct tp_library {
#define X(call) __typeof__(&PMPI_##call) call;
	TP_CALLS(X)
#undef X
#define X(handle) char *handle##_;
	TP_HANDLES(X)
#undef X
};
extern struct tp_library tp_mpi;

// tp_symbol is where the process has a name of the MPI library, or of others that come with it; NULL: nowhere.
void *tp_symbol(const char *name);

// tp_open_library finds the library, or ends the process with a line if it is not the one that
// this was built for.
void tp_open_library(void);
extern int tp_is_open; // it has been found

#endif
