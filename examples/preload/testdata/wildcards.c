// Receives from any source with any tag, posted across broadcasts: they must not get what these send. One is on
// MPI_COMM_SELF for all the time.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	enum { BYTES = 300000 };
	int rank, size, wrong = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *buf = calloc(1, BYTES), *message = calloc(1, BYTES), alone = 0, letter = 7;
	MPI_Request self;
	MPI_Irecv(&alone, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &self);
	for (int turn = 0; turn < 3; turn++) {
		MPI_Request request;
		MPI_Status status;
		int there, count, from = (rank + size - 1) % size;
		MPI_Irecv(message, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
		for (int root = 0; root < size; root++)
			MPI_Bcast(buf, BYTES, MPI_BYTE, root, MPI_COMM_WORLD);
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
		wrong += there;
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(buf, 17, MPI_BYTE, (rank + 1) % size, 5 + turn, MPI_COMM_WORLD);
		MPI_Wait(&request, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		wrong += count != 17 || status.MPI_TAG != 5 + turn || status.MPI_SOURCE != from;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Send(&letter, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF);
	MPI_Wait(&self, MPI_STATUS_IGNORE);
	wrong += alone != letter;
	printf("rank %d: %d wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
