// A program with a profiler, which counts calls of MPI by taking the place of their names. It broadcasts, also by
// PMPI_Bcast, which nobody is to count, and prints how often it has called what.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 50000, TURNS = 20, RANKS = 16 };

enum { SEND, SSEND, ISEND, RECV, IRECV, WAIT, TEST, WAITALL, ALLREDUCE, ALLGATHER, IBARRIER, COMM_CREATE, COMM_DUP, COMM_SPLIT, COMM_FREE, COMM_RANK, CALLS };
static int calls[CALLS];

#define COUNTED(name, index, parameters, arguments) \
	int MPI_##name parameters { \
		calls[index]++; \
		return PMPI_##name arguments; \
	}

COUNTED(Send, SEND, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
COUNTED(Ssend, SSEND, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
COUNTED(Isend, ISEND, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r))
COUNTED(Recv, RECV, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), (b, n, t, from, tag, c, s))
COUNTED(Irecv, IRECV, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, from, tag, c, r))
COUNTED(Wait, WAIT, (MPI_Request *r, MPI_Status *s), (r, s))
COUNTED(Test, TEST, (MPI_Request *r, int *flag, MPI_Status *s), (r, flag, s))
COUNTED(Waitall, WAITALL, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
COUNTED(Allreduce, ALLREDUCE, (const void *from, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (from, to, n, t, op, c))
COUNTED(Allgather, ALLGATHER, (const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, MPI_Comm c), (from, n, t, to, m, u, c))
COUNTED(Ibarrier, IBARRIER, (MPI_Comm c, MPI_Request *r), (c, r))
COUNTED(Comm_create, COMM_CREATE, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made))
COUNTED(Comm_dup, COMM_DUP, (MPI_Comm c, MPI_Comm *made), (c, made))
COUNTED(Comm_split, COMM_SPLIT, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made))
COUNTED(Comm_free, COMM_FREE, (MPI_Comm *c), (c))
COUNTED(Comm_rank, COMM_RANK, (MPI_Comm c, int *rank), (c, rank))

int main(int argc, char **argv) {
	static char buf[BYTES];
	int rank, size, sum = 1, token = 0;
	long wrong = 0;
	MPI_Comm halves;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > RANKS)
		return 1;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
	for (int turn = 0; turn < TURNS; turn++) {
		memset(buf, rank == turn % size ? turn : ~turn, BYTES);
		MPI_Bcast(buf, BYTES, MPI_BYTE, turn % size, MPI_COMM_WORLD);
		for (int i = 0; i < BYTES; i++)
			wrong += buf[i] != (char)turn;
	}
	PMPI_Bcast(buf, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (rank > 0)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank < size - 1)
		MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Comm_free(&halves);
	// One rank writes: a launcher may mix the lines of several.
	int all[RANKS * CALLS], counted[CALLS];
	memcpy(counted, calls, sizeof calls);
	MPI_Gather(counted, CALLS, MPI_INT, all, CALLS, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < size * CALLS && rank == 0; i++)
		printf(" %d%s", all[i], i % CALLS == CALLS - 1 ? "\n" : "");
	MPI_Finalize();
	return wrong != 0 || sum != size;
}
