// Broadcasts and reductions on intercommunicators, and on the merged one; before them one on no communicator of ours.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	enum { BYTES = 100000 };
	int rank, size, wrong = 0;
	MPI_Comm half, inter, merged;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *buf = malloc(BYTES);
	int low = rank < size / 2;
	MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 3, &inter);
	for (int turn = 1; turn < 4; turn++) {
		memset(buf, rank == 0 ? turn : 0, BYTES);
		MPI_Bcast(buf, BYTES, MPI_BYTE, !low ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
		for (int i = 0; i < BYTES && !low; i++)
			wrong += buf[i] != turn;
	}
	static double given[1000], sum[1000];
	for (int i = 0; i < 1000; i++)
		given[i] = rank;
	MPI_Allreduce(given, sum, 1000, MPI_DOUBLE, MPI_MAX, inter); // of the other group
	for (int i = 0; i < 1000; i++)
		wrong += sum[i] != (low ? size - 1 : size / 2 - 1);
	MPI_Intercomm_merge(inter, low, &merged);
	memset(buf, rank == 0 ? 9 : 0, BYTES);
	int root = low ? 0 : 0, own;
	MPI_Comm_rank(merged, &own);
	memset(buf, own == root ? 9 : 0, BYTES);
	MPI_Bcast(buf, BYTES, MPI_BYTE, root, merged);
	for (int i = 0; i < BYTES; i++)
		wrong += buf[i] != 9;
	MPI_Comm_free(&inter);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&half);
	printf("rank %d: %d wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
