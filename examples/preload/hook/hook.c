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

// A thread remembers sizes of predefined types, which are never freed: asking costs as much as all
// else here.
enum { TP_TYPES = 4 };
static __thread struct {
	MPI_Datatype type;
	int64_t size; // bytes; 0: nothing is remembered
} tp_sizes[TP_TYPES] __attribute__((tls_model("initial-exec")));

// tp_size is the size of a type; 0 if the library has to say what is wrong.
static __attribute__((noinline)) int64_t tp_size(MPI_Datatype type, int place) {
	MPI_Count size;
	int integers, addresses, types, combiner;
	if (type == MPI_DATATYPE_NULL || tp_mpi.Type_size_x(type, &size) != MPI_SUCCESS || size <= 0)
		return 0;
	if (tp_mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED)
		tp_sizes[place].type = type, tp_sizes[place].size = size;
	return size;
}

// tp_bytes is the length of a message; 0 if there is nothing to send, or the library has to say
// what is wrong.
static inline int64_t tp_bytes(int count, MPI_Datatype type) {
	int place = ((uintptr_t)type >> 9 ^ (uintptr_t)type) % TP_TYPES;
	int64_t bytes, size = tp_sizes[place].size != 0 && tp_sizes[place].type == type ? tp_sizes[place].size : tp_size(type, place);
	return count <= 0 || __builtin_mul_overflow(size, (int64_t)count, &bytes) ? 0 : bytes;
}

// tp_sampled is how many broadcasts of a class of sizes stand for one that is timed: where they are
// short, reading the clock takes a part of their time that could be measured.
// It is a power of two.
static inline int tp_sampled(int class) { return class <= 13 ? 256 : class <= 16 ? 16 : 1; }

static __attribute__((noinline)) int tp_ours(tp_comm *s, void *buf, int count, MPI_Datatype type, int root, int64_t bytes) {
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	int is_decided = s->choices[class] != NULL && s->choices[class][root].way == TP_OURS;
	double begin = tp_now();
	int code = tp_broadcast(s, buf, count, type, bytes, root);
	if (code == TP_INVALID)
		return tp_mpi.Bcast(buf, count, type, root, s->comm);
	t->seconds += tp_now() - begin;
	t->ours++;
	if (is_decided)
		t->gain += s->choices[class][root].gain;
	return code;
}

static __attribute__((noinline)) int tp_timed(tp_comm *s, void *buf, int count, MPI_Datatype type, int root, int class, int weight) {
	double begin = tp_now();
	int code = tp_mpi.Bcast(buf, count, type, root, s->comm);
	double seconds = (tp_now() - begin) * weight;
	s->tallies[class].seconds += seconds;
	s->spent[class] += seconds;
	return code;
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
	tp_comm *s;
	int64_t bytes;
	if (!__atomic_load_n(&tp_is_open, __ATOMIC_ACQUIRE))
		tp_open_library();
	if (tp_inside || (s = tp_find(comm)) == NULL || (bytes = tp_bytes(count, type)) == 0 || (unsigned)root >= (unsigned)s->size)
		return tp_mpi.Bcast(buf, count, type, root, comm);
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	t->calls++;
	t->bytes += bytes;
	int way = tp_way(s, class, root);
	if (way == TP_OURS || (way == TP_OPEN && tp_is_due(s, class, bytes) && tp_decide(s, class, root, bytes)))
		return tp_ours(s, buf, count, type, root, bytes);
	int sampled = tp_sampled(class);
	if ((t->calls & (sampled - 1)) == sampled / 2) // not the first, which takes longer
		return tp_timed(s, buf, count, type, root, class, sampled);
	return tp_mpi.Bcast(buf, count, type, root, comm);
}
