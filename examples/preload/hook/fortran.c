// The entries of Fortran. Those of MPICH call MPI_Bcast; those of Open MPI call PMPI_Bcast, and so
// need ours, one by one.

#include "preload.h"

#ifdef OPEN_MPI

static void tp_bcast_f(char *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *error) {
	static void *bottom = NULL, *in_place = NULL; // where Open MPI's Fortran has MPI_BOTTOM and MPI_IN_PLACE
	if (__atomic_load_n(&in_place, __ATOMIC_ACQUIRE) == NULL) {
		tp_open_library();
		bottom = tp_symbol("mpi_fortran_bottom_");
		__atomic_store_n(&in_place, tp_symbol("mpi_fortran_in_place_"), __ATOMIC_RELEASE);
	}
	void *at = buf;
	if (at == bottom)
		at = MPI_BOTTOM;
	else if (at == in_place)
		at = MPI_IN_PLACE;
	int code = MPI_Bcast(at, *count, tp_mpi.Type_f2c(*type), *root, tp_mpi.Comm_f2c(*comm));
	if (error != NULL) // which is optional in mpi_f08
		*error = code;
}

#define TP_ENTRY(name) \
	TP_VISIBLE void name(char *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *error) { \
		tp_bcast_f(buf, count, type, root, comm, error); \
	}

TP_ENTRY(mpi_bcast)
TP_ENTRY(mpi_bcast_)
TP_ENTRY(mpi_bcast__)
TP_ENTRY(MPI_BCAST)
TP_ENTRY(MPI_Bcast_f)
TP_ENTRY(MPI_Bcast_f08)
TP_ENTRY(mpi_bcast_f08_)

#endif
