// Broadcasts from rank 0 in plain C, as BenchmarkPlain compares ours with: along k chains of neighbouring ranks, of
// which the farthest is served first, in segments. One chain is a pipeline, n-1 are a root that sends to all.
//
//     plain ROUNDS BYTES...
//
// Rank 0 prints a line for each way and size: plain BYTES K SEGMENT MEDIAN, in bytes and s.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

// head is the first rank of a chain of k.
static int head(int chain, int k) { return 1 + chain * (ranks - 1) / k; }

static void broadcast(char *buf, int bytes, int k, int segment) {
	int chain = 0, next = 0;
	while (rank > 0 && chain + 1 < k && head(chain + 1, k) <= rank)
		chain++;
	int first = rank == 0 || rank == head(chain, k);
	if (rank > 0 && rank + 1 < ranks && (chain + 1 == k || rank + 1 < head(chain + 1, k)))
		next = rank + 1;
	for (int from = 0; from < bytes; from += segment) {
		int n = bytes - from < segment ? bytes - from : segment;
		if (rank > 0)
			MPI_Recv(buf + from, n, MPI_BYTE, first ? 0 : rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (next)
			MPI_Send(buf + from, n, MPI_BYTE, next, 0, MPI_COMM_WORLD);
		for (int c = k - 1; rank == 0 && c >= 0; c--)
			MPI_Send(buf + from, n, MPI_BYTE, head(c, k), 0, MPI_COMM_WORLD);
	}
}

// timed is the time in s of one broadcast, from the start of the root to the end of the last rank, on rank 0. The ranks
// have one clock, and are in the broadcast when the root starts, after as long as in casts.go.
static double timed(char *buf, int bytes, int k, int segment) {
	memset(buf, rank, bytes);
	double mine = now(), start, end, last;
	MPI_Allreduce(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	start += 5e-3;
	while (rank == 0 && now() < start - 2e-4)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	while (rank == 0 && now() < start)
		;
	start = now();
	broadcast(buf, bytes, k, segment);
	end = now();
	MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD); // looking takes the core that others may still need
	for (int i = 0; i < bytes; i++)
		if (buf[i] != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
	return last - start;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int rounds = atoi(argv[1]), ks[] = {1, 2, ranks - 1};
	double *times = malloc(rounds * sizeof *times);
	for (int a = 2; a < argc; a++) {
		int bytes = atoi(argv[a]);
		char *buf = malloc(bytes);
		for (int i = 0; i < 3; i++) {
			for (int segment = bytes < 1024 ? bytes : 1024; segment <= bytes && segment <= 32768; segment *= 2) {
				for (int round = -2; round < rounds; round++) {
					double t = timed(buf, bytes, ks[i], segment);
					if (round >= 0)
						times[round] = t;
				}
				if (rank > 0)
					continue;
				qsort(times, rounds, sizeof *times, ascending);
				printf("plain %d %d %d %g\n", bytes, ks[i], segment, times[rounds / 2]);
			}
		}
		free(buf);
	}
	MPI_Finalize();
}
