// Short broadcasts, of which the library looks at few: of many sizes, from one root after the other, on
// two communicators, with types that the ranks do not share. Says what was broadcast.

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 8000, MOST = 40, RUN = 1000 };

int main(int argc, char **argv) {
	unsigned char buf[MOST];
	MPI_Datatype types[MOST + 1];
	MPI_Comm comms[2] = {MPI_COMM_WORLD};
	int rank, size, wrong = 0;
	long sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	for (int bytes = 1; bytes <= MOST; bytes++) {
		MPI_Type_contiguous(bytes, MPI_BYTE, &types[bytes]);
		MPI_Type_commit(&types[bytes]);
	}
	for (int i = 0; i < CALLS; i++) {
		// Long runs from one root, which does not wait for the others.
		int root = i / RUN % size, bytes = 1 + i * 7 % MOST, is_derived = (i + rank) % 3 == 0;
		memset(buf, rank == root ? i % 251 : 255, sizeof buf);
		MPI_Bcast(buf, is_derived ? 1 : bytes, is_derived ? types[bytes] : MPI_BYTE, root, comms[i % 5 == 0]);
		for (int k = 0; k < bytes; k++)
			wrong += buf[k] != i % 251;
		sum += bytes;
	}
	printf("rank %d: %d broadcasts, %ld bytes, %d wrong\n", rank, CALLS, sum, wrong);
	for (int bytes = 1; bytes <= MOST; bytes++)
		MPI_Type_free(&types[bytes]);
	MPI_Comm_free(&comms[1]);
	MPI_Finalize();
	return 0;
}
