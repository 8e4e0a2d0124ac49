// 2.5 GiB: as a count of long elements, as one element, and with gaps on one rank.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	const long part = 5L << 28, all = 2 * part, gap = 4096; // bytes
	int rank;
	long wrong = 0;
	MPI_Datatype block, element, apart;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	char *buf = calloc(1, all + gap);
	MPI_Type_contiguous(1 << 28, MPI_CHAR, &block);
	MPI_Type_contiguous(5, block, &element); // 1.25 GiB
	MPI_Type_create_hvector(2, 1, part + gap, element, &apart);
	MPI_Type_commit(&element);
	MPI_Type_commit(&apart);
	for (int turn = 1; turn < 3; turn++) {
		long hole = turn == 2 && rank != 0 ? gap : 0;
		for (long i = 0; i < all && rank == 0; i += 4099)
			buf[i] = (char)(i / 4099 + turn);
		if (hole)
			MPI_Bcast(buf, 1, apart, 0, MPI_COMM_WORLD);
		else
			MPI_Bcast(buf, 2, element, 0, MPI_COMM_WORLD);
		for (long i = 0; i < all; i += 4099)
			wrong += buf[i < part ? i : i + hole] != (char)(i / 4099 + turn);
	}
	printf("rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
