// A program that broadcasts and reduces when its attributes of MPI_COMM_SELF are deleted, which is the first thing that
// MPI_Finalize does. Its ranks have set them before and after their first broadcast.

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 100000 };

static MPI_Comm later;

static long cast(MPI_Comm comm, int turn) {
	static unsigned char buf[BYTES];
	long wrong = 0;
	int rank;
	MPI_Comm_rank(comm, &rank);
	memset(buf, rank == 0 ? turn : ~turn, BYTES);
	MPI_Bcast(buf, BYTES, MPI_BYTE, 0, comm);
	for (int i = 0; i < BYTES; i++)
		wrong += buf[i] != (unsigned char)turn;
	int sums[500];
	for (int i = 0; i < 500; i++)
		sums[i] = turn + i;
	MPI_Allreduce(MPI_IN_PLACE, sums, 500, MPI_INT, MPI_MIN, comm);
	for (int i = 0; i < 500; i++)
		wrong += sums[i] != turn + i;
	return wrong;
}

static int end(MPI_Comm comm, int key, void *value, void *state) {
	int rank;
	long wrong = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int turn = 0; turn < 3; turn++)
		wrong += cast(MPI_COMM_WORLD, turn) + cast(later, turn);
	MPI_Comm_free(&later);
	printf("rank %d: at the end %ld bytes are wrong\n", rank, wrong);
	return MPI_SUCCESS;
}

static void set(void) {
	int key;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
	int rank;
	long wrong = 0;
	MPI_Comm halves;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
	MPI_Comm_dup(MPI_COMM_WORLD, &later);
	if (rank % 2)
		set();
	wrong += cast(halves, 1);
	if (rank % 2 == 0)
		set();
	wrong += cast(MPI_COMM_WORLD, 2);
	MPI_Comm_free(&halves);
	printf("rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
