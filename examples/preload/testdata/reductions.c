// Reductions of every type and operation that is served, compared with the library's own, and of some that are not. What is
// printed is how many of each there were, and how many of the others have reached the library.

#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static long wrong = 0, allreduces = 0, reduces = 0, others = 0, reached = 0;

// The library's own, which are counted.
int PMPI_Allreduce(const void *own, void *buf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
	int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) = (int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Allreduce");
	reached++;
	return next(own, buf, n, type, op, comm);
}

int PMPI_Reduce(const void *own, void *buf, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
	int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm) = (int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Reduce");
	reached++;
	return next(own, buf, n, type, op, root, comm);
}

typedef struct {
	MPI_Datatype type;
	int is_floating, is_signed;
} number;

// value is number i of a rank: so small that the least integers hold the product of those of four ranks.
static double value(const number *x, int who, int i) {
	int v = 1 + (7 * i + 5 * who + i * who) % 3;
	return x->is_floating ? v + 0.1 * (i % 7) : x->is_signed && (i + who) % 2 ? -v : v;
}

static void put(void *at, const number *x, int bytes, double v) {
	int64_t integer = (int64_t)v;
	float single = (float)v;
	memcpy(at, !x->is_floating ? (void *)&integer : bytes == 4 ? (void *)&single : (void *)&v, bytes); // the lowest bytes come first
}

static double get(const void *at, int bytes) {
	float single;
	double v;
	memcpy(bytes == 4 ? (void *)&single : (void *)&v, at, bytes);
	return bytes == 4 ? single : v;
}

static int differ(const number *x, const char *a, const char *b, int n, int bytes, MPI_Op op) {
	if (!x->is_floating || op == MPI_MIN || op == MPI_MAX)
		return memcmp(a, b, (size_t)n * bytes) != 0;
	for (int i = 0; i < n; i++) {
		double p = get(a + (size_t)i * bytes, bytes), q = get(b + (size_t)i * bytes, bytes), error = p > q ? p - q : q - p;
		if (!(error <= 2 * size * (bytes == 4 ? 1.2e-7 : 2.3e-16) * q))
			return 1;
	}
	return 0;
}

// try reduces n numbers in some way: by root, or for all ranks if the root is -1.
static void try(const number *x, MPI_Op op, int n, int root, int is_in_place, MPI_Comm comm) {
	int me, bytes, receives;
	MPI_Comm_rank(comm, &me);
	MPI_Type_size(x->type, &bytes);
	receives = root < 0 || root == me;
	size_t all = (size_t)n * bytes, room = all + 8;
	char *own = malloc(room), *kept = malloc(room), *want = malloc(room), *got = malloc(room);
	memset(own, 77, room), memset(want, 77, room), memset(got, 77, room);
	for (int i = 0; i < n; i++)
		put(own + (size_t)i * bytes, x, bytes, value(x, me, i));
	memcpy(kept, own, room);
	if (is_in_place && receives)
		memcpy(got, own, all);
	const void *from = is_in_place && receives ? MPI_IN_PLACE : own;
	int code;
	if (root < 0) {
		PMPI_Allreduce(own, want, n, x->type, op, comm);
		code = MPI_Allreduce(from, got, n, x->type, op, comm);
		allreduces += n > 0;
	} else {
		PMPI_Reduce(own, want, n, x->type, op, root, comm);
		code = MPI_Reduce(from, receives ? got : NULL, n, x->type, op, root, comm);
		reduces += n > 0;
	}
	wrong += code != MPI_SUCCESS || differ(x, got, want, receives ? n : 0, bytes, op) || memcmp(own, kept, room) != 0 ||
	         memcmp(got + all, want + all, 8) != 0;
	free(own), free(kept), free(want), free(got);
}

static void every(MPI_Comm comm) {
	const number numbers[] = {
		{MPI_DOUBLE, 1}, {MPI_FLOAT, 1}, {MPI_REAL, 1}, {MPI_REAL4, 1}, {MPI_REAL8, 1}, {MPI_DOUBLE_PRECISION, 1},
		{MPI_INT, 0, 1}, {MPI_SIGNED_CHAR, 0, 1}, {MPI_SHORT, 0, 1}, {MPI_LONG, 0, 1}, {MPI_LONG_LONG, 0, 1},
		{MPI_INT8_T, 0, 1}, {MPI_INT16_T, 0, 1}, {MPI_INT32_T, 0, 1}, {MPI_INT64_T, 0, 1},
		{MPI_INTEGER, 0, 1}, {MPI_INTEGER1, 0, 1}, {MPI_INTEGER2, 0, 1}, {MPI_INTEGER4, 0, 1}, {MPI_INTEGER8, 0, 1},
		{MPI_UNSIGNED, 0, 0}, {MPI_UNSIGNED_CHAR, 0, 0}, {MPI_UNSIGNED_SHORT, 0, 0}, {MPI_UNSIGNED_LONG, 0, 0},
		{MPI_UNSIGNED_LONG_LONG, 0, 0}, {MPI_UINT8_T, 0, 0}, {MPI_UINT16_T, 0, 0}, {MPI_UINT32_T, 0, 0}, {MPI_UINT64_T, 0, 0},
	};
	const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
	const int lengths[] = {333, 0, 1, 2001, 50001};
	int ranks, turn = 0;
	MPI_Comm_size(comm, &ranks);
	for (int t = 0; t < (int)(sizeof numbers / sizeof *numbers); t++)
		for (int o = 0; o < 4; o++)
			for (int is_in_place = 0; is_in_place < 2; is_in_place++)
				for (int l = 0; l < (t % 6 == 0 ? 5 : 3); l++) {
					try(&numbers[t], ops[o], lengths[l], -1, is_in_place, comm);
					try(&numbers[t], ops[o], lengths[l], turn++ % ranks, is_in_place, comm);
				}
}

// alike reduces values whose types have other names on other ranks.
static void alike(void) {
	const MPI_Datatype longs[] = {MPI_LONG, MPI_INT64_T, MPI_LONG_LONG};
	for (int n = 1; n < 10000; n = 7 * n + 1) {
		number x = {longs[rank % 3], 0, 1};
		for (int root = -1; root < size; root++)
			try(&x, MPI_SUM, n, root, 0, MPI_COMM_WORLD);
	}
}

static void add_all(void *from, void *into, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)into)[i] += ((int *)from)[i];
}

// both makes the two reductions of what is not served. before is the value of each rank, and all that of the result.
static void both(MPI_Datatype type, MPI_Op op, int bytes, const void *before, const void *all) {
	enum { N = 3000 };
	char *own = malloc(N * bytes), *got = malloc(N * bytes);
	for (int turn = 0; turn < 2; turn++) {
		int root = turn ? size - 1 : -1;
		for (int i = 0; i < N; i++)
			memcpy(own + i * bytes, before, bytes);
		if (root < 0)
			MPI_Allreduce(own, got, N, type, op, MPI_COMM_WORLD);
		else
			MPI_Reduce(own, got, N, type, op, root, MPI_COMM_WORLD);
		for (int i = 0; i < N && (root < 0 || root == rank); i++)
			wrong += memcmp(got + i * bytes, all, bytes) != 0;
		others++;
	}
	free(own), free(got);
}

static void not_served(void) {
	struct { double d; int i; } place = {2, rank}, least = {2, 0};
	double complex z = 1 + 2 * I, zs = size * z;
	int one = 1, n = size, bits = 1 << rank, set = (1 << size) - 1;
	unsigned char byte = 3;
	MPI_Op add;
	MPI_Datatype row;
	MPI_Op_create(add_all, 1, &add);
	MPI_Type_contiguous(1, MPI_INT, &row);
	MPI_Type_commit(&row);
	reached = 0;
	both(MPI_INT, MPI_BOR, sizeof bits, &bits, &set);
	both(MPI_INT, MPI_LAND, sizeof one, &one, &one);
	both(MPI_INT, add, sizeof one, &one, &n);
	both(row, add, sizeof one, &one, &n);
	both(MPI_BYTE, MPI_BAND, 1, &byte, &byte);
	both(MPI_C_DOUBLE_COMPLEX, MPI_SUM, sizeof z, &z, &zs);
	enum { PAIRS = 12 }; // the bytes of a pair that are not a gap
	double *pairs = calloc(2, sizeof place);
	MPI_Allreduce(&place, pairs, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
	others++;
	wrong += memcmp(pairs, &least, PAIRS) != 0;
	long double x = rank + 0.5L, sum = 0;
	MPI_Allreduce(&x, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	others++;
	wrong += sum != size * (size - 1) / 2 + 0.5L * size;
	free(pairs);
	MPI_Type_free(&row);
	MPI_Op_free(&add);
}

int main(int argc, char **argv) {
	MPI_Comm half;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	every(MPI_COMM_WORLD);
	alike();
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	number x = {MPI_DOUBLE, 1};
	for (int root = -1; root < 2; root++)
		try(&x, MPI_SUM, 5000, root, 1, half);
	MPI_Comm_free(&half);
	not_served();
	printf("rank %d: %ld wrong; %ld allreduces and %ld reductions; %ld of %ld others reached the library\n", rank, wrong, allreduces, reduces, reached, others);
	MPI_Finalize();
	return wrong != 0;
}
