// slow BYTES TURNS MS [allreduce|reduce] broadcasts from rank 0, or reduces, on an MPI library whose own collectives take that
// much longer. If MS is negative its messages do.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int delay = 0, of_messages = 0; // ms

#define SLOW(name, delay, parameters, arguments) \
	int PMPI_##name parameters { \
		int (*next) parameters = (int (*) parameters)dlsym(RTLD_NEXT, "PMPI_" #name); \
		usleep(1000 * delay); \
		return next arguments; \
	}

SLOW(Bcast, delay, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm), (buf, count, type, root, comm))
SLOW(Allreduce, delay, (const void *own, void *buf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (own, buf, count, type, op, comm))
SLOW(Reduce, delay, (const void *own, void *buf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), (own, buf, count, type, op, root, comm))

SLOW(Send, of_messages, (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), (buf, count, type, to, tag, comm))
SLOW(Isend, of_messages, (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *r), (buf, count, type, to, tag, comm, r))

static long cast(unsigned char *buf, int bytes, int rank, int turn) {
	long wrong = 0;
	memset(buf, rank == 0 ? turn : ~turn, bytes);
	MPI_Bcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int i = 0; i < bytes; i++)
		wrong += buf[i] != (unsigned char)turn;
	return wrong;
}

static long reduce(double *own, double *buf, int n, int rank, int turn, int is_for_all) {
	long wrong = 0;
	for (int i = 0; i < n; i++)
		own[i] = i + rank, buf[i] = turn;
	if (is_for_all)
		MPI_Allreduce(own, buf, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	else
		MPI_Reduce(own, buf, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += buf[i] != (is_for_all || rank == 0 ? i + 1 : turn);
	return wrong;
}

int main(int argc, char **argv) {
	int rank, n, bytes = atoi(argv[1]), turns = atoi(argv[2]);
	long wrong = 0;
	const char *what = argc > 4 ? argv[4] : "";
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	void *buf = malloc(bytes), *own = malloc(bytes);
	MPI_Init(&argc, &argv);
	delay = atoi(argv[3]);
	if (delay < 0)
		of_messages = -delay, delay = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int turn = 0; turn < turns; turn++)
		wrong += *what ? reduce(own, buf, bytes / (int)sizeof(double), rank, turn, *what == 'a') : cast(buf, bytes, rank, turn);
	MPI_Get_library_version(version, &n);
	if (rank == 0)
		puts(version);
	if (wrong != 0)
		fprintf(stderr, "rank %d: %ld bytes are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
