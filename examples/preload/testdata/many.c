// Thousands of communicators, one after the other and at once.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long wrong = 0;

static void cast(MPI_Comm comm, int i, int bytes) {
	static char buf[8192];
	int rank, size, root;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	root = i % size;
	memset(buf, rank == root ? (char)i : ~(char)i, bytes);
	MPI_Bcast(buf, bytes, MPI_BYTE, root, comm);
	for (int k = 0; k < bytes; k++)
		wrong += buf[k] != (char)i;
}

int main(int argc, char **argv) {
	enum { SHORT = 8, LONG = 5000 };
	int rank, turns = atoi(argv[1]), held = atoi(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < turns; i++) {
		MPI_Comm comm;
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		cast(comm, i, i % 10 ? SHORT : LONG);
		cast(comm, i + 1, i % 10 ? SHORT : LONG);
		MPI_Comm_free(&comm);
	}
	MPI_Comm *comms = malloc(sizeof *comms * held);
	for (int i = 0; i < held; i++) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comms[i]);
		cast(comms[i], i, LONG);
	}
	for (int i = 0; i < held; i++)
		cast(comms[i], i, SHORT);
	// Some of them live on.
	for (int i = 0; i < held; i += 15)
		for (int k = 0; k < 20; k++)
			cast(comms[i], k, LONG);
	for (int i = 0; i < held; i++)
		MPI_Comm_free(&comms[(7919 * i) % held]); // 7919 is prime: in another order than they were made
	printf("rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
