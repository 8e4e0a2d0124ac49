// MPI_Bcast as programs call it. What needs nothing of ours is with the library after some
// nanoseconds.

#include "preload.h"
#include <limits.h>
#include <time.h>

__thread int tp_inside = 0;

double tp_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A thread remembers its last communicators and types, since asking costs as much as a short broadcast. Handles of
// communicators are used again, so of them it remembers only what is of this generation; types are
// predefined ones, which are never freed, of less than 2 GiB.
enum { TP_REMEMBERED = 4 };
static __thread struct {
	struct {
		MPI_Comm comm;
		uint64_t generation;
		tp_comm *s;
	} comms[TP_REMEMBERED];
	struct {
		MPI_Datatype type;
		int64_t size; // bytes; 0: nothing is remembered
	} types[TP_REMEMBERED];
	// Both of the last broadcast; generation 0: not both are remembered.
	struct {
		MPI_Comm comm;
		MPI_Datatype type;
		uint64_t generation;
		int64_t size;
		tp_comm *s;
	} last;
} tp_memory;

static inline int tp_place(uintptr_t handle) { return (handle ^ handle >> 9) % TP_REMEMBERED; }

static inline tp_comm *tp_remembered(MPI_Comm comm) {
	int i = tp_place((uintptr_t)comm);
	int holds = tp_memory.comms[i].comm == comm && tp_memory.comms[i].generation == __atomic_load_n(&tp_generation, __ATOMIC_ACQUIRE);
	return holds ? tp_memory.comms[i].s : NULL;
}

static inline int64_t tp_remembered_size(MPI_Datatype type) {
	int i = tp_place((uintptr_t)type);
	return tp_memory.types[i].type == type ? tp_memory.types[i].size : 0;
}

// tp_state is the state of a communicator, as tp_find has it.
static tp_comm *tp_state(MPI_Comm comm) {
	tp_comm *s = tp_remembered(comm);
	if (s != NULL)
		return s;
	uint64_t generation = __atomic_load_n(&tp_generation, __ATOMIC_ACQUIRE);
	int i = tp_place((uintptr_t)comm);
	if ((s = tp_find(comm)) != NULL)
		tp_memory.comms[i].comm = comm, tp_memory.comms[i].generation = generation, tp_memory.comms[i].s = s;
	return s;
}

// tp_size is the size of a type; 0 if the library has to say what is wrong.
static int64_t tp_size(MPI_Datatype type) {
	MPI_Count size = tp_remembered_size(type);
	int integers, addresses, types, combiner, i = tp_place((uintptr_t)type);
	if (size > 0)
		return size;
	if (type == MPI_DATATYPE_NULL || tp_mpi.Type_size_x(type, &size) != MPI_SUCCESS || size <= 0)
		return 0;
	if (size <= INT_MAX && tp_mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED)
		tp_memory.types[i].type = type, tp_memory.types[i].size = size;
	return size;
}

// tp_passes tells whether a broadcast has a pass, and uses it up.
static inline int tp_passes(tp_comm *s, int root, int64_t bytes) {
	int class = tp_class(bytes);
	tp_pass *p = &s->passes[class];
	if (p->left == 0 || (unsigned)(root - p->first) >= (unsigned)p->roots)
		return 0;
	p->left--;
	s->tallies[class].bytes += bytes;
	return 1;
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

// tp_look makes a broadcast that has no pass, or of which the thread does not remember enough to know.
static __attribute__((noinline)) int tp_look(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
	tp_comm *s;
	int64_t bytes;
	if (!__atomic_load_n(&tp_is_open, __ATOMIC_ACQUIRE))
		tp_open_library();
	// The library says what is wrong.
	if (tp_inside || (s = tp_state(comm)) == NULL || count <= 0 || __builtin_mul_overflow(tp_size(type), (int64_t)count, &bytes) ||
	    bytes == 0 || (unsigned)root >= (unsigned)s->size || tp_passes(s, root, bytes))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	tp_memory.last.comm = comm, tp_memory.last.type = type, tp_memory.last.s = s;
	tp_memory.last.size = tp_remembered_size(type);
	tp_memory.last.generation = tp_memory.last.size > 0 ? tp_generation : 0;
	int class = tp_class(bytes), sampled = tp_sampled(class), way = tp_way(s, class, root);
	tp_tally *t = &s->tallies[class];
	t->calls++;
	t->bytes += bytes;
	if (way == TP_OURS || (way == TP_OPEN && tp_is_due(s, class, bytes) && tp_decide(s, class, root, bytes)))
		return tp_ours(s, buf, count, type, root, bytes);
	int is_timed = (t->calls & (sampled - 1)) == sampled / 2; // not the first, which takes longer
	tp_grant(s, class, root, sampled);
	return is_timed ? tp_timed(s, buf, count, type, root, class, sampled) : tp_mpi.Bcast(buf, count, type, root, comm);
}

// Most broadcasts of a program that only has short ones have a pass: they cost some 50 instructions of ours.
TP_VISIBLE int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
	if (tp_memory.last.comm == comm && tp_memory.last.type == type && tp_memory.last.generation == tp_generation && count > 0 &&
	    !tp_inside && tp_passes(tp_memory.last.s, root, tp_memory.last.size * count))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	return tp_look(buf, count, type, root, comm);
}
