//go:build mpi && cgo

// MPI_Bcast as programs call it. What needs nothing of ours is with the library after some
// nanoseconds.

#include "preload.h"
#include <time.h>

__thread int tp_inside = 0;

double tp_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// tp_bytes is the length of a message; 0 if there is nothing to send, or the library has to say
// what is wrong.
static inline int64_t tp_bytes(int count, MPI_Datatype type) {
	MPI_Count size;
	int64_t bytes;
	if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0 ||
	    __builtin_mul_overflow((int64_t)size, (int64_t)count, &bytes))
		return 0;
	return bytes;
}

// Ranks agree on a communicator at its first broadcast of more than a kilobyte, or when it has
// seen this many: one collective operation then costs nothing that could be measured.
enum { TP_LONG_CLASS = 11, TP_MANY = 4096 };

// Broadcasts of up to 2^13 bytes are timed one in so many: reading the clock takes two hundredths of
// the shortest ones.
enum { TP_SHORT_CLASS = 13, TP_SAMPLED = 16 };

static __attribute__((noinline)) int tp_ours(tp_comm *s, void *buf, int count, MPI_Datatype type, int root, int64_t bytes) {
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	int is_decided = s->choices[class] != NULL && s->choices[class][root].way == TP_OURS;
	double begin = tp_now();
	int code = tp_broadcast(s, buf, count, type, bytes, root);
	if (code == TP_INVALID)
		return PMPI_Bcast(buf, count, type, root, s->comm);
	t->seconds += tp_now() - begin;
	t->ours++;
	if (is_decided)
		t->gain += s->choices[class][root].gain;
	return code;
}

static __attribute__((noinline)) int tp_timed(tp_comm *s, void *buf, int count, MPI_Datatype type, int root, int class, int weight) {
	double begin = tp_now();
	int code = PMPI_Bcast(buf, count, type, root, s->comm);
	double seconds = (tp_now() - begin) * weight;
	s->tallies[class].seconds += seconds;
	s->spent[class] += seconds;
	return code;
}

static inline int tp_is_due(tp_comm *s, int class) {
	if (s->stage == TP_NEW)
		return ++s->calls == TP_MANY || class >= TP_LONG_CLASS;
	return ++s->watched[class] >= s->due[class];
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
	tp_comm *s;
	int64_t bytes;
	if (tp_inside || (s = tp_find(comm)) == NULL || (bytes = tp_bytes(count, type)) == 0 || (unsigned)root >= (unsigned)s->size)
		return PMPI_Bcast(buf, count, type, root, comm);
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	t->calls++;
	t->bytes += bytes;
	int way = tp_way(s, class, root);
	if (way == TP_OURS || (way == TP_OPEN && tp_is_due(s, class) && tp_decide(s, class, root)))
		return tp_ours(s, buf, count, type, root, bytes);
	if (class > TP_SHORT_CLASS)
		return tp_timed(s, buf, count, type, root, class, 1);
	if (t->calls % TP_SAMPLED == 0)
		return tp_timed(s, buf, count, type, root, class, TP_SAMPLED);
	return PMPI_Bcast(buf, count, type, root, comm);
}
