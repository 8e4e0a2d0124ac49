// The loop of tc_pingpong in a plain C program, to compare it with. It is
// started on two ranks with the thread level (single or funneled), the number
// of samples, and pairs of message size and round trips per sample; it prints a
// line for each pair: the size and the times of the samples in nanoseconds.

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
	int level, rank, size;
	if (argc < 3)
		return 2;
	level = strcmp(argv[1], "single") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
	MPI_Init_thread(&argc, &argv, level, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	int samples = atoi(argv[2]), peer = 1 - rank;
	for (int a = 3; a + 1 < argc; a += 2) {
		int n = atoi(argv[a]), iters = atoi(argv[a + 1]);
		void *buf;
		if (posix_memalign(&buf, 4096, n + 1) != 0)
			MPI_Abort(MPI_COMM_WORLD, 2);
		memset(buf, 1, n + 1);
		if (rank == 0)
			printf("%d", n);
		for (int s = 0; s < samples; s++) {
			MPI_Status status;
			int64_t start = now();
			for (int i = 0; i < iters; i++) {
				if (rank == 0)
					MPI_Send(buf, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
				MPI_Recv(buf, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status);
				if (rank == 1)
					MPI_Send(buf, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
			}
			if (rank == 0)
				printf(" %.1f", (double)(now() - start) / iters);
		}
		if (rank == 0)
			printf("\n");
		free(buf);
	}
	MPI_Finalize();
	return 0;
}
