// Broadcasts and reductions from several threads: one after the other, or at once on communicators of their own.

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, TURNS = 20, BYTES = 20000 };

static MPI_Comm comms[THREADS];
static long wrong[THREADS];

static void cast(MPI_Comm comm, int turn, long *wrong) {
	int rank, size;
	char *buf = malloc(BYTES);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	memset(buf, rank == turn % size ? turn : -1, BYTES);
	MPI_Bcast(buf, BYTES, MPI_BYTE, turn % size, comm);
	for (int i = 0; i < BYTES; i++)
		*wrong += buf[i] != turn;
	double own[500], sum[500];
	for (int i = 0; i < 500; i++)
		own[i] = rank + i;
	MPI_Allreduce(own, sum, 500, MPI_DOUBLE, MPI_MAX, comm);
	for (int i = 0; i < 500; i++)
		*wrong += sum[i] != size - 1 + i;
	free(buf);
}

static void *all(void *arg) {
	int me = (int)(long)arg;
	for (int turn = 0; turn < TURNS; turn++)
		cast(comms[me], turn, &wrong[me]);
	return NULL;
}

int main(int argc, char **argv) {
	int rank, provided, multiple = strcmp(argv[1], "multiple") == 0;
	long sum = 0;
	pthread_t threads[THREADS];
	MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (long i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, all, (void *)i);
		if (!multiple || provided < MPI_THREAD_MULTIPLE)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		if (multiple && provided == MPI_THREAD_MULTIPLE)
			pthread_join(threads[i], NULL);
		sum += wrong[i];
		MPI_Comm_free(&comms[i]);
	}
	printf("rank %d: %ld bytes are wrong\n", rank, sum);
	MPI_Finalize();
	return sum != 0;
}
