// Types that differ between ranks with the same signature, and types that are not what they seem.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static long wrong = 0;

// Each rank describes n ints in one of four ways; the values are those of the root.
static void mixed(int n, int root) {
	int kind = rank % 4, *buf = malloc(sizeof(int) * 2 * n), *lengths = malloc(sizeof(int) * n), *at = malloc(sizeof(int) * n);
	int count = 1;
	MPI_Datatype type = MPI_INT, inner;
	for (int i = 0; i < 2 * n; i++)
		buf[i] = -1;
	for (int i = 0; i < n; i++)
		lengths[i] = 1, at[i] = n - 1 - i; // backwards: as many bytes as their extent, in another order
	switch (kind) {
	case 0:
		count = n;
		break;
	case 1:
		MPI_Type_vector(n, 1, 2, MPI_INT, &type);
		break;
	case 2:
		MPI_Type_indexed(n, lengths, at, MPI_INT, &type);
		break;
	case 3: // two times what is resized
		count = n;
		MPI_Type_contiguous(1, MPI_INT, &inner);
		MPI_Type_create_resized(inner, 0, 2 * sizeof(int), &type);
		MPI_Type_free(&inner);
	}
	if (kind > 0)
		MPI_Type_commit(&type);
	for (int i = 0; i < n; i++) {
		int place = kind == 0 ? i : kind == 2 ? n - 1 - i : 2 * i;
		if (rank == root)
			buf[place] = 7 * i + root;
	}
	MPI_Bcast(buf, count, type, root, MPI_COMM_WORLD);
	for (int i = 0; i < 2 * n; i++) {
		int want = -1;
		if (kind == 0 && i < n)
			want = 7 * i + root;
		else if (kind == 2 && i < n)
			want = 7 * (n - 1 - i) + root;
		else if ((kind == 1 || kind == 3) && i % 2 == 0)
			want = 7 * (i / 2) + root;
		wrong += buf[i] != want;
	}
	if (kind > 0)
		MPI_Type_free(&type);
	free(buf), free(lengths), free(at);
}

// Absolute addresses from MPI_BOTTOM on, of two arrays that the ranks have where they like.
static void absolute(int n, int root) {
	double *a = malloc(sizeof(double) * n);
	char *b = malloc(n);
	int lengths[2] = {n, n};
	MPI_Aint at[2];
	MPI_Datatype types[2] = {MPI_DOUBLE, MPI_CHAR}, type;
	MPI_Get_address(a, &at[0]);
	MPI_Get_address(b, &at[1]);
	MPI_Type_create_struct(2, lengths, at, types, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < n; i++)
		a[i] = rank == root ? i : -1, b[i] = rank == root ? (char)i : 0;
	MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += a[i] != i || b[i] != (char)i;
	MPI_Type_free(&type);
	free(a), free(b);
}

// A predefined type with a gap.
static void pairs(int n, int root) {
	struct { double d; int i, gap; } *p = malloc(sizeof *p * n);
	for (int i = 0; i < n; i++)
		p[i].d = rank == root ? i : 0, p[i].i = rank == root ? -i : 0, p[i].gap = rank;
	MPI_Bcast(p, n, MPI_DOUBLE_INT, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += p[i].d != i || p[i].i != -i || p[i].gap != rank;
	free(p);
}

// The same bytes as one element of many and as many of one.
static void counts(int n, int root) {
	char *buf = malloc(n);
	MPI_Datatype row, rows;
	memset(buf, rank == root ? 5 : 0, n);
	MPI_Type_contiguous(n / 4, MPI_CHAR, &row);
	MPI_Type_dup(row, &rows);
	MPI_Type_commit(&rows);
	if (rank % 2)
		MPI_Bcast(buf, n, MPI_CHAR, root, MPI_COMM_WORLD);
	else
		MPI_Bcast(buf, 4, rows, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += buf[i] != 5;
	MPI_Type_free(&row);
	MPI_Type_free(&rows);
	free(buf);
}

// Types with large counts, of MPI 4: one without gaps, and one with the gaps of every second double.
static void large(int n, int root) {
#if MPI_VERSION >= 4
	double *buf = malloc(2 * n * sizeof *buf);
	int step = 1 + rank % 2;
	MPI_Datatype type;
	if (step == 1)
		MPI_Type_contiguous_c(n, MPI_DOUBLE, &type);
	else
		MPI_Type_vector_c(n, 1, 2, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < 2 * n; i++)
		buf[i] = rank == root ? i / step : -1;
	MPI_Bcast(buf, 1, type, root, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		wrong += buf[i * step] != i;
	MPI_Type_free(&type);
	free(buf);
#endif
}

static void nothing(int root) {
	MPI_Datatype empty;
	MPI_Type_contiguous(0, MPI_INT, &empty);
	MPI_Type_commit(&empty);
	MPI_Bcast(NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
	MPI_Bcast(NULL, 3, empty, root, MPI_COMM_WORLD);
	MPI_Type_free(&empty);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int root = 0; root < size; root++)
		for (int n = 4; n <= 100000; n *= 22)
			mixed(n, root), absolute(n, root), pairs(n, root), counts(n, root), large(n, root), nothing(root);
	printf("rank %d: %ld values are wrong\n", rank, wrong);
	MPI_Finalize();
	return wrong != 0;
}
