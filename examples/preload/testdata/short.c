// short [allreduce] tells how long short broadcasts, or reductions, take between two ranks: for each size in bytes the
// median, in ns, of many batches. The ranks are the root in turn.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 201, BATCH = 200, WARM = 50 };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	static double buf[128], own[128];
	static double times[BATCHES];
	int rank, reduces = argc > 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int bytes = 8; bytes <= (int)sizeof buf; bytes *= 2) {
		for (int b = -WARM; b < BATCHES; b++) {
			double begin = now();
			for (int i = 0; i < BATCH; i++)
				if (reduces)
					MPI_Allreduce(own, buf, bytes / (int)sizeof *buf, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
				else
					MPI_Bcast(buf, bytes, MPI_BYTE, i % 2, MPI_COMM_WORLD);
			if (b >= 0)
				times[b] = (now() - begin) / BATCH;
		}
		qsort(times, BATCHES, sizeof *times, ascending);
		if (rank == 0)
			printf("%d %.1f\n", bytes, times[BATCHES / 2]);
	}
	MPI_Finalize();
	return 0;
}
