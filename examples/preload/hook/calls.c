// The functions that package mpi calls. It gets those of MPI by the names that profilers leave alone, which
// count the program's calls and not ours. A call that may wait for other ranks takes the program's signals meanwhile.

#include "go.h"
#include "library.h"
#include <stdio.h>
#include <string.h>

#define TP_WAITING(X) \
	X(Allgather) X(Allgatherv) X(Allreduce) X(Alltoall) X(Alltoallv) X(Bcast) X(Comm_create) X(Comm_dup) X(Comm_free) \
	X(Comm_split) X(Gather) X(Gatherv) X(Recv) X(Reduce) X(Scatter) X(Scatterv) X(Send) X(Ssend) X(Test) X(Wait)

// None of them has more than nine parameters, all integers and pointers. A function ignores further arguments,
// which the caller takes back (System V for amd64, AAPCS64).
typedef int tp_nine(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i);

#define X(call) \
	static tp_nine *tp_found_##call; \
	static int tp_wait_in_##call(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i) { \
		tp_take_signals(); \
		int code = tp_found_##call(a, b, c, d, e, f, g, h, i); \
		tp_block_signals(); \
		return code; \
	}
TP_WAITING(X)
#undef X

void *tp_lookup_mpi(const char *name) {
	char profiled[64];
	if (strncmp(name, "MPI_", 4) != 0)
		return tp_symbol(name);
	snprintf(profiled, sizeof profiled, "P%s", name);
	void *at = tp_symbol(profiled);
#define X(call) \
	if (at != NULL && strcmp(name, "MPI_" #call) == 0) { \
		tp_found_##call = (tp_nine *)at; \
		return (void *)tp_wait_in_##call; \
	}
	TP_WAITING(X)
#undef X
	return at;
}
