// The entries of Fortran, which know what Fortran's handles, its MPI_BOTTOM and its MPI_IN_PLACE are in C. Those of MPICH call
// MPI_Bcast in the end, which is ours. Those of Open MPI call PMPI_Bcast. So ours take the place of the entries and
// call them in turn, and PMPI_Bcast is ours for as long. The same holds for reductions.

#include "preload.h"
#include <stdio.h>
#include <stdlib.h>

static __thread int tp_in_entry = 0;

// tp_behind stores the address of a function behind this library where it is kept, and returns it.
static void *tp_behind(void **kept, const char *name) {
	void *at = __atomic_load_n(kept, __ATOMIC_RELAXED);
	if (at == NULL && (at = tp_symbol_behind(name)) == NULL) {
		fprintf(stderr, "topocast: no library of the process has %s, which the program calls: run it without the preloaded library\n", name);
		exit(1);
	}
	__atomic_store_n(kept, at, __ATOMIC_RELAXED);
	return at;
}

#define TP_PROFILED(name, parameters, arguments) \
	TP_VISIBLE int PMPI_##name parameters { \
		static void *next = NULL; \
		if (!tp_in_entry) \
			return ((__typeof__(tp_mpi.name))tp_behind(&next, "PMPI_" #name)) arguments; \
		tp_in_entry = 0; \
		return MPI_##name arguments; \
	}

TP_PROFILED(Bcast, (void *buf, int count, tp_handle type, int root, tp_handle comm), (buf, count, type, root, comm))
TP_PROFILED(Allreduce, (const void *own, void *buf, int count, tp_handle type, tp_handle op, tp_handle comm),
            (own, buf, count, type, op, comm))
TP_PROFILED(Reduce, (const void *own, void *buf, int count, tp_handle type, tp_handle op, int root, tp_handle comm),
            (own, buf, count, type, op, root, comm))

// The parameters are addresses, at most eight. In mpi_f08 buffers may be descriptors. A function ignores further arguments.
typedef void tp_entry(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h);

#define TP_ENTRY(name) \
	TP_VISIBLE void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h) { \
		static void *next = NULL; \
		tp_entry *entry = (tp_entry *)tp_behind(&next, #name); \
		tp_in_entry = 1; \
		entry(a, b, c, d, e, f, g, h); \
		tp_in_entry = 0; \
	}

#define TP_ENTRIES(lower, upper, mixed) \
	TP_ENTRY(mpi_##lower) \
	TP_ENTRY(mpi_##lower##_) \
	TP_ENTRY(mpi_##lower##__) \
	TP_ENTRY(MPI_##upper) \
	TP_ENTRY(MPI_##mixed##_f) \
	TP_ENTRY(MPI_##mixed##_f08) \
	TP_ENTRY(mpi_##lower##_f08_) \
	TP_ENTRY(mpi_##lower##_f08ts_)

TP_ENTRIES(bcast, BCAST, Bcast)
TP_ENTRIES(allreduce, ALLREDUCE, Allreduce)
TP_ENTRIES(reduce, REDUCE, Reduce)
