// The entries of Fortran, which know what Fortran's handles and its MPI_BOTTOM are in C. Those of MPICH call
// MPI_Bcast in the end, which is ours. Those of Open MPI call PMPI_Bcast. So ours take the place of the entries and
// call them in turn, and PMPI_Bcast is ours for as long.

#include "preload.h"
#include <stdio.h>
#include <stdlib.h>

static __thread int tp_in_entry = 0;

TP_VISIBLE int PMPI_Bcast(void *buf, int count, tp_handle type, int root, tp_handle comm) {
	if (!tp_in_entry) {
		tp_open_library();
		return tp_mpi.Bcast(buf, count, type, root, comm);
	}
	tp_in_entry = 0;
	return MPI_Bcast(buf, count, type, root, comm);
}

// The parameters are those of MPI_Bcast in Fortran. In mpi_f08 the first may be a descriptor.
typedef void tp_entry(void *buf, int32_t *count, int32_t *type, int32_t *root, int32_t *comm, int32_t *error);

static tp_entry *tp_next_entry(const char *name) {
	tp_entry *next = (tp_entry *)tp_symbol_behind(name);
	if (next == NULL) {
		fprintf(stderr, "topocast: no library of the process has %s, which the program calls: run it without the preloaded library\n", name);
		exit(1);
	}
	return next;
}

#define TP_ENTRY(name) \
	TP_VISIBLE void name(void *buf, int32_t *count, int32_t *type, int32_t *root, int32_t *comm, int32_t *error) { \
		static tp_entry *next = NULL; \
		tp_entry *found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
		if (found == NULL) \
			__atomic_store_n(&next, found = tp_next_entry(#name), __ATOMIC_RELAXED); \
		tp_in_entry = 1; \
		found(buf, count, type, root, comm, error); \
		tp_in_entry = 0; \
	}

TP_ENTRY(mpi_bcast)
TP_ENTRY(mpi_bcast_)
TP_ENTRY(mpi_bcast__)
TP_ENTRY(MPI_BCAST)
TP_ENTRY(MPI_Bcast_f)
TP_ENTRY(MPI_Bcast_f08)
TP_ENTRY(mpi_bcast_f08_)
TP_ENTRY(mpi_bcast_f08ts_)
