// slow BYTES TURNS MS broadcasts from rank 0 on an MPI library whose own broadcasts take that much longer.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int delay = 0; // ms

int PMPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
	int (*next)(void *, int, MPI_Datatype, int, MPI_Comm) = (int (*)(void *, int, MPI_Datatype, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Bcast");
	usleep(1000 * delay);
	return next(buf, count, type, root, comm);
}

int main(int argc, char **argv) {
	int rank, n, bytes = atoi(argv[1]), turns = atoi(argv[2]);
	long wrong = 0;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	unsigned char *buf = malloc(bytes);
	MPI_Init(&argc, &argv);
	delay = atoi(argv[3]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int turn = 0; turn < turns; turn++) {
		memset(buf, rank == 0 ? turn : ~turn, bytes);
		MPI_Bcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		for (int i = 0; i < bytes; i++)
			wrong += buf[i] != (unsigned char)turn;
	}
	MPI_Get_library_version(version, &n);
	if (rank == 0)
		puts(version);
	if (wrong != 0)
		fprintf(stderr, "rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
