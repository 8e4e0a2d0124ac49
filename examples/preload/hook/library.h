// The MPI library of the program, found at run time. The file that is preloaded also enters shells and launchers,
// which are to get no MPI from us. One build serves every ABI, so no header of an MPI library is included:
// the calls are declared here, and what differs between ABIs stands in a table.

#ifndef TOPOCAST_LIBRARY_H
#define TOPOCAST_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a handle of 4 bytes has to be the lower half of a tp_handle"
#endif

// A tp_handle is an MPI_Comm, MPI_Datatype, MPI_Group, MPI_Op or MPI_Errhandler. MPICH's are ints, others are pointers.
// Both are passed in a register. MPI also stores both kinds in a tp_handle, which has to be 0 before: an
// int is its lower half. MPI_Aint and MPI_Count are int64_t in all ABIs.
typedef uintptr_t tp_handle;

// The calls that are made, with their parameters.
#define TP_CALLS(X) \
	X(Allreduce, const void *from, void *to, int count, tp_handle type, tp_handle op, tp_handle comm) \
	X(Bcast, void *buf, int count, tp_handle type, int root, tp_handle comm) \
	X(Comm_call_errhandler, tp_handle comm, int code) \
	X(Comm_create, tp_handle comm, tp_handle group, tp_handle *made) \
	X(Comm_create_keyval, tp_copy *copy, tp_delete *delete, int *key, void *state) \
	X(Comm_free, tp_handle *comm) \
	X(Comm_free_keyval, int *key) \
	X(Comm_get_attr, tp_handle comm, int key, void *value, int *found) \
	X(Comm_get_errhandler, tp_handle comm, tp_handle *handler) \
	X(Comm_group, tp_handle comm, tp_handle *group) \
	X(Comm_rank, tp_handle comm, int *rank) \
	X(Comm_set_attr, tp_handle comm, int key, void *value) \
	X(Comm_set_errhandler, tp_handle comm, tp_handle handler) \
	X(Comm_size, tp_handle comm, int *size) \
	X(Comm_test_inter, tp_handle comm, int *inter) \
	X(Errhandler_free, tp_handle *handler) \
	X(Finalized, int *over) \
	X(Group_free, tp_handle *group) \
	X(Group_translate_ranks, tp_handle from, int n, const int *ranks, tp_handle to, int *translated) \
	X(Initialized, int *running) \
	X(Pack, const void *buf, int count, tp_handle type, void *packed, int bytes, int *position, tp_handle comm) \
	X(Query_thread, int *level) \
	X(Reduce, const void *from, void *to, int count, tp_handle type, tp_handle op, int root, tp_handle comm) \
	X(Sendrecv, const void *out, int outs, tp_handle out_type, int to, int out_tag, \
	            void *in, int ins, tp_handle in_type, int from, int in_tag, tp_handle comm, void *status) \
	X(Type_commit, tp_handle *type) \
	X(Type_create_hindexed, int n, const int *lengths, const int64_t *at, tp_handle of, tp_handle *type) \
	X(Type_free, tp_handle *type) \
	X(Type_get_contents, tp_handle type, int ints, int addresses, int types, int *i, int64_t *a, tp_handle *t) \
	X(Type_get_envelope, tp_handle type, int *ints, int *addresses, int *types, int *combiner) \
	X(Type_get_extent, tp_handle type, int64_t *lb, int64_t *extent) \
	X(Type_size_x, tp_handle type, int64_t *size) \
	X(Unpack, const void *packed, int bytes, int *position, void *buf, int count, tp_handle type, tp_handle comm)

// The callbacks of attributes.
typedef int tp_copy(tp_handle comm, int key, void *state, void *value, void *copy, int *is_copied);
typedef int tp_delete(tp_handle comm, int key, void *value, void *state);

// What is the same in all ABIs. MPI_BOTTOM is NULL everywhere.
enum { TP_SUCCESS = 0, TP_UNDEFINED = -32766, TP_STATUS_ROOM = 64 };

// A tp_abi has the values of MPI's constants that differ.
typedef struct {
	tp_handle mask; // the bits that are a handle's: the others of a register are undefined
	tp_handle comm_world, comm_self, comm_null, type_null, byte, real, min, errors_return;
	void *in_place;
	int thread_multiple, err_truncate, err_other;
} tp_abi;

// tp_mpi has the library's calls by the names that profilers leave alone: tp_mpi.Bcast is PMPI_Bcast.
extern struct tp_library {
#define X(call, ...) int (*call)(__VA_ARGS__);
	TP_CALLS(X)
#undef X
	// Of MPI 4; NULL: there is none.
	int (*Type_get_envelope_c)(tp_handle type, int64_t *ints, int64_t *addresses, int64_t *larges, int64_t *types, int *combiner);
	tp_abi abi;
	int is_known; // else only Bcast, Allreduce and Reduce may be called
} tp_mpi;

// tp_family returns the family of the numbers that a predefined type stands for; -1: none that is reduced.
int tp_family(tp_handle type);

// tp_operation returns the operation that a predefined MPI_Op stands for; -1: none by which ours reduce.
int tp_operation(tp_handle op);

// tp_symbol returns the address of a name, which is not one of this library; NULL: there is none. tp_symbol_behind only looks
// into libraries that were loaded behind this one.
void *tp_symbol(const char *name);
void *tp_symbol_behind(const char *name);

// tp_open_library fills tp_mpi. If the library or its ABI is not known it says so in a line.
void tp_open_library(void);
extern int tp_is_open; // it has been found

#endif
