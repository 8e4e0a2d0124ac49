// An MPI that fails where TOPOCAST_TEST_FAULT says, to be preloaded: it stands
// between the program and the library, by the profiling interface.
#include <mpi.h>
#include <stdio.h>
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

// MPI has been started by somebody else, who looks at the handler of MPI_COMM_WORLD
// in the end.
int MPI_Initialized(int *started) {
	PMPI_Initialized(started);
	if (faulty("started by another") && !*started) {
		int level;
		PMPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
		*started = 1;
	}
	return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int status) {
	MPI_Errhandler handler;
	if (faulty("started by another") && PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS) {
		printf("the handler of the world is %s\n", handler == MPI_ERRORS_ARE_FATAL ? "as found" : "another");
		fflush(stdout);
		sleep(1); // MPICH's launcher may end before it has passed on what was said just now
	}
	return PMPI_Abort(comm, status);
}

// A library of another ABI, in which a status is laid out otherwise.
int MPI_Recv(void *buf, int n, MPI_Datatype type, int src, int tag, MPI_Comm comm, MPI_Status *status) {
	int code = PMPI_Recv(buf, n, type, src, tag, comm, status);
	if (faulty("another status"))
		((char *)status)[40] = 1;
	return code;
}
