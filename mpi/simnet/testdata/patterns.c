/* The patterns of peers_tools_test.go, for SimGrid's SMPI:
 *   patterns binomial|chain|exchange bytes steps
 * prints the simulated time in s at which the last rank is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void binomial(char *buf, int bytes) {
	int span = 1;
	for (; span < ranks; span *= 2)
		if (rank & span) {
			MPI_Recv(buf, bytes, MPI_BYTE, rank - span, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		}
	for (span /= 2; span > 0; span /= 2)
		if (rank + span < ranks)
			MPI_Send(buf, bytes, MPI_BYTE, rank + span, 0, MPI_COMM_WORLD);
}

static void chain(char *buf, int bytes, int segments) {
	int size = bytes / segments;
	for (int k = 0; k < segments; k++) {
		if (rank > 0)
			MPI_Recv(buf + k * size, size, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank + 1 < ranks)
			MPI_Send(buf + k * size, size, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
	}
}

static void exchange(char *buf, int bytes, int steps) {
	for (int k = 1; k <= steps; k++) {
		MPI_Request r[2];
		int distance = k * 37 % ranks;
		MPI_Irecv(buf, bytes, MPI_BYTE, (rank + ranks - distance) % ranks, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(buf, bytes, MPI_BYTE, (rank + distance) % ranks, 0, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int bytes = atoi(argv[2]), steps = atoi(argv[3]);
	char *buf = SMPI_SHARED_MALLOC(bytes + 1);
	if (strcmp(argv[1], "binomial") == 0)
		binomial(buf, bytes);
	else if (strcmp(argv[1], "chain") == 0)
		chain(buf, bytes, steps);
	else
		exchange(buf, bytes, steps);
	double done = MPI_Wtime(), last;
	MPI_Reduce(&done, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.12f\n", last);
	SMPI_SHARED_FREE(buf);
	MPI_Finalize();
	return 0;
}
