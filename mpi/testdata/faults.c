// An MPI that fails where TOPOCAST_TEST_FAULT says, to be preloaded: it stands
// between the program and the library, by the profiling interface.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int faulty(const char *where) {
	const char *fault = getenv("TOPOCAST_TEST_FAULT");
	return fault != NULL && strcmp(fault, where) == 0;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
	int code = PMPI_Init_thread(argc, argv, required, provided);
	if (faulty("no threads"))
		*provided = MPI_THREAD_SINGLE;
	return code;
}

int MPI_Finalize(void) {
	int rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (faulty("no end") || (faulty("no end on rank 1") && rank == 1))
		pause();
	return PMPI_Finalize();
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part) {
	int rank;
	PMPI_Comm_rank(comm, &rank);
	if (faulty("no split") || (faulty("no split on rank 1") && rank == 1))
		return MPI_ERR_OTHER;
	return PMPI_Comm_split(comm, color, key, part);
}
