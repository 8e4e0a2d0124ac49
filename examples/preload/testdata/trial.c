// What one library has to do under every ABI: broadcasts of ints, of a vector with gaps and of a resized struct from
// all roots, MPI_IN_PLACE in other collectives, communicators that come and go, and a wrong root.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BROADCASTS = 250, COMMS = 30, MOST = 30000 };

typedef struct {
	double x;
	int i;
	char c; // and three bytes of the extent that no broadcast may touch
} element;

static int rank, size;
static long wrong = 0;

static void ints(int n, int root) {
	int *buf = malloc(n * sizeof *buf);
	for (int i = 0; i < n; i++)
		buf[i] = rank == root ? 3 * i + root : -1;
	MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += buf[i] != 3 * i + root;
	free(buf);
}

static void gaps(int n, int root) {
	int *buf = malloc(3 * n * sizeof *buf);
	MPI_Datatype type;
	MPI_Type_vector(n, 2, 3, MPI_INT, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 3 * n; i++)
		buf[i] = rank == root && i % 3 < 2 ? 5 * i + root : -1;
	MPI_Bcast(buf, 1, type, root, MPI_COMM_WORLD);
	for (int i = 0; i < 3 * n; i++)
		wrong += buf[i] != (i % 3 < 2 ? 5 * i + root : -1);
	MPI_Type_free(&type);
	free(buf);
}

static void structs(int n, int root) {
	int lengths[] = {1, 1, 1};
	MPI_Aint at[] = {0, sizeof(double), sizeof(double) + sizeof(int)};
	MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, made, type;
	element *buf = malloc(n * sizeof *buf);
	MPI_Type_create_struct(3, lengths, at, types, &made);
	MPI_Type_create_resized(made, 0, sizeof(element), &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < n; i++) {
		((char *)(buf + i))[sizeof(element) - 1] = (char)rank;
		buf[i].x = rank == root ? i : -1, buf[i].i = rank == root ? -i : 1, buf[i].c = rank == root ? (char)i : 0;
	}
	MPI_Bcast(buf, n, type, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += buf[i].x != i || buf[i].i != -i || buf[i].c != (char)i || ((char *)(buf + i))[sizeof(element) - 1] != (char)rank;
	MPI_Type_free(&made);
	MPI_Type_free(&type);
	free(buf);
}

static void in_place(int turn) {
	int sum = rank + turn, *all = malloc(size * sizeof *all);
	for (int i = 0; i < size; i++)
		all[i] = i == rank ? rank * rank + turn : -1;
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
	wrong += sum != size * (size - 1) / 2 + size * turn;
	for (int i = 0; i < size; i++)
		wrong += all[i] != i * i + turn;
	free(all);
}

static void comms(void) {
	for (int k = 0; k < COMMS; k++) {
		MPI_Comm part;
		int values[5000], own;
		MPI_Comm_split(MPI_COMM_WORLD, k % 3 == 0 ? 0 : rank % 2, k % 2 ? rank : -rank, &part);
		MPI_Comm_rank(part, &own);
		for (int turn = 0; turn < 3; turn++) {
			for (int i = 0; i < 5000; i++)
				values[i] = own == 0 ? i + k + turn : -1;
			MPI_Bcast(values, 5000, MPI_INT, 0, part);
			for (int i = 0; i < 5000; i++)
				wrong += values[i] != i + k + turn;
		}
		MPI_Comm_free(&part);
	}
}

int main(int argc, char **argv) {
	int class;
	char byte = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int k = 0; k < BROADCASTS; k++) {
		int n = 1 + k * 7919 % MOST, root = k % size;
		if (k % 3 == 0)
			ints(n, root);
		else if (k % 3 == 1)
			gaps(n, root);
		else
			structs(n / 3 + 1, root);
		if (k % 10 == 0)
			in_place(k);
	}
	comms();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int code = MPI_Bcast(&byte, 1, MPI_BYTE, size, MPI_COMM_WORLD);
	MPI_Error_class(code, &class);
	wrong += class != MPI_ERR_ROOT;
	printf("rank %d: %ld wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
