// Broadcasts of many sizes from every root, on several communicators, all bytes looked at.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long wrong = 0;

static void try(MPI_Comm comm, int bytes, int root) {
	int rank;
	MPI_Comm_rank(comm, &rank);
	unsigned char *buf = malloc(bytes + 1);
	for (int i = 0; i < bytes; i++)
		buf[i] = rank == root ? (unsigned char)(31 * i + root) : 0;
	buf[bytes] = 42;
	MPI_Bcast(buf, bytes, MPI_BYTE, root, comm);
	for (int i = 0; i < bytes; i++)
		wrong += buf[i] != (unsigned char)(31 * i + root);
	wrong += buf[bytes] != 42;
	free(buf);
}

int main(int argc, char **argv) {
	int rank, size;
	MPI_Comm halves, reversed;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm comms[] = {MPI_COMM_WORLD, halves, reversed, MPI_COMM_SELF};
	for (int i = 0; i < 4; i++) {
		MPI_Comm_size(comms[i], &size);
		for (int bytes = 0; bytes < 1 << 21; bytes = 3 * bytes + 1)
			for (int root = 0; root < size; root++)
				try(comms[i], bytes, root);
	}
	MPI_Comm_free(&halves);
	try(reversed, 100000, 0);
	printf("rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
