// What calls_test.go calls from Go, in plain C: loops of broadcasts of 8 bytes, and
// of round trips, of 8 bytes and of 1 MiB, between two ranks. It prints the median
// time of one in nanoseconds.

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 31, ITERS = 300, SERIES = 10000, MESSAGE = 8, LONG = 1 << 20, LONG_ITERS = 60 };

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int rank;
static char buf[LONG];

static void one_rank(int i, MPI_Comm comm) { MPI_Bcast(buf, MESSAGE, MPI_BYTE, 0, MPI_COMM_SELF); }
static void one_root(int i, MPI_Comm comm) { MPI_Bcast(buf, MESSAGE, MPI_BYTE, 0, comm); }
static void by_turns(int i, MPI_Comm comm) { MPI_Bcast(buf, MESSAGE, MPI_BYTE, i % 2, comm); }

static void exchange(int n, MPI_Comm comm) {
	MPI_Status status;
	if (rank == 0)
		MPI_Send(buf, n, MPI_BYTE, 1, 1, comm);
	MPI_Recv(buf, n, MPI_BYTE, 1 - rank, 1, comm, &status);
	if (rank == 1)
		MPI_Send(buf, n, MPI_BYTE, 0, 1, comm);
}

static void round_trip(int i, MPI_Comm comm) { exchange(MESSAGE, comm); }
static void long_trip(int i, MPI_Comm comm) { exchange(LONG, comm); }

static void print(const char *name, void (*call)(int, MPI_Comm), int iters, MPI_Comm comm) {
	double times[SAMPLES];
	for (int s = 0; s < SAMPLES; s++) {
		int64_t start = now();
		for (int i = 0; i < iters; i++)
			call(i, comm);
		times[s] = (double)(now() - start) / iters;
	}
	qsort(times, SAMPLES, sizeof *times, ascending);
	if (rank == 0)
		printf("%s\t%.1f\n", name, times[SAMPLES / 2]);
}

int main(int argc, char **argv) {
	int level, size;
	MPI_Comm comm;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	print("Bcast of one rank", one_rank, ITERS, comm);
	print("Bcast", one_root, ITERS, comm);
	print("Bcast by turns", by_turns, ITERS, comm);
	print("round trip", round_trip, SERIES, comm);
	print("round trip of 1 MiB", long_trip, LONG_ITERS, comm);
	MPI_Finalize();
	return 0;
}
