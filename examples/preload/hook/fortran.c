// The entries of Fortran, which know what Fortran's handles and its MPI_BOTTOM are in C. Those of MPICH call
// MPI_Bcast in the end, which is ours. Those of Open MPI call PMPI_Bcast. So ours take the place of the entries and
// call them in turn, and PMPI_Bcast is ours for as long.

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

TP_VISIBLE int PMPI_Bcast(void *buf, int count, tp_handle type, int root, tp_handle comm) {
	static void *next = NULL;
	if (!tp_in_entry)
		return ((__typeof__(tp_mpi.Bcast))tp_behind(&next, "PMPI_Bcast"))(buf, count, type, root, comm);
	tp_in_entry = 0;
	return MPI_Bcast(buf, count, type, root, comm);
}

// The parameters are those of MPI_Bcast in Fortran. In mpi_f08 the first may be a descriptor.
typedef void tp_entry(void *buf, int32_t *count, int32_t *type, int32_t *root, int32_t *comm, int32_t *error);

#define TP_ENTRY(name) \
	TP_VISIBLE void name(void *buf, int32_t *count, int32_t *type, int32_t *root, int32_t *comm, int32_t *error) { \
		static void *next = NULL; \
		tp_entry *entry = (tp_entry *)tp_behind(&next, #name); \
		tp_in_entry = 1; \
		entry(buf, count, type, root, comm, error); \
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
