// MPI_Bcast as programs call it. A broadcast that needs nothing of ours is with MPI after some nanoseconds.

#include "preload.h"
#include <limits.h>
#include <time.h>

__thread int tp_inside = 0;

double tp_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A thread remembers its last communicators and types, since asking MPI costs as much as a short broadcast. Handles of
// communicators are used again, so a communicator is remembered for its generation only. The
// types that are remembered are MPI's own, which are never freed, of less than 2 GiB.
enum { TP_REMEMBERED = 4 };
static __thread struct {
	struct {
		tp_handle comm;
		uint64_t generation;
		tp_comm *s;
	} comms[TP_REMEMBERED];
	struct {
		tp_handle type;
		int64_t size; // bytes; 0: nothing is remembered
	} types[TP_REMEMBERED];
	// Both of the last broadcast, as the program passed them. The bits that are not the handle's may make it miss, but
	// never match another one.
	struct {
		tp_handle comm, type;
		uint64_t generation; // 0: not both are remembered
		int64_t size;
		tp_comm *s;
	} last;
} tp_memory;

static inline int tp_place(tp_handle handle) { return (handle ^ handle >> 9) % TP_REMEMBERED; }

// tp_state is tp_find, but for communicators that are remembered.
static tp_comm *tp_state(tp_handle comm) {
	uint64_t generation = __atomic_load_n(&tp_generation, __ATOMIC_ACQUIRE);
	int i = tp_place(comm);
	if (tp_memory.comms[i].comm == comm && tp_memory.comms[i].generation == generation)
		return tp_memory.comms[i].s;
	tp_comm *s = tp_find(comm);
	if (s != NULL)
		tp_memory.comms[i].comm = comm, tp_memory.comms[i].generation = generation, tp_memory.comms[i].s = s;
	return s;
}

static inline int64_t tp_remembered_size(tp_handle type) {
	int i = tp_place(type);
	return tp_memory.types[i].type == type ? tp_memory.types[i].size : 0;
}

// tp_size is the size of a type in bytes; 0 if MPI has to say what is wrong with it.
static int64_t tp_size(tp_handle type) {
	int64_t size = tp_remembered_size(type);
	if (size > 0)
		return size;
	if (type == tp_mpi.abi.type_null || tp_mpi.Type_size_x(type, &size) != TP_SUCCESS || size <= 0)
		return 0;
	int i = tp_place(type);
	if (size <= INT_MAX && tp_is_named(type))
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

// tp_sampled is how many broadcasts of a class of sizes stand for one that is timed. It is a power of two. Where
// broadcasts are short, reading the clock takes a part of their time that could be measured.
static inline int tp_sampled(int class) { return class <= 13 ? 256 : class <= 16 ? 16 : 1; }

static __attribute__((noinline)) int tp_ours(tp_comm *s, void *buf, int count, tp_handle type, int root, int64_t bytes) {
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	int is_decided = s->choices[class] != NULL && s->choices[class][root].variant == TP_OURS;
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

static __attribute__((noinline)) int tp_timed(tp_comm *s, void *buf, int count, tp_handle type, int root, int class, int weight) {
	double begin = tp_now();
	int code = tp_mpi.Bcast(buf, count, type, root, s->comm);
	double seconds = (tp_now() - begin) * weight;
	s->tallies[class].seconds += seconds;
	s->spent[class] += seconds;
	return code;
}

// tp_look makes a broadcast that has no pass, or of which the thread does not remember enough to know.
static __attribute__((noinline)) int tp_look(void *buf, int count, tp_handle passed_type, int root, tp_handle passed_comm) {
	tp_comm *s;
	int64_t bytes;
	if (!__atomic_load_n(&tp_is_open, __ATOMIC_ACQUIRE))
		tp_open_library();
	tp_handle type = passed_type & tp_mpi.abi.mask, comm = passed_comm & tp_mpi.abi.mask;
	// MPI says what is wrong.
	if (!tp_mpi.is_known || tp_inside || (s = tp_state(comm)) == NULL || count <= 0 ||
	    __builtin_mul_overflow(tp_size(type), (int64_t)count, &bytes) || bytes == 0 || (unsigned)root >= (unsigned)s->size ||
	    tp_passes(s, root, bytes))
		return tp_mpi.Bcast(buf, count, passed_type, root, passed_comm);
	tp_memory.last.comm = passed_comm, tp_memory.last.type = passed_type, tp_memory.last.s = s;
	tp_memory.last.size = tp_remembered_size(type);
	tp_memory.last.generation = tp_memory.last.size > 0 ? tp_generation : 0;
	int class = tp_class(bytes), sampled = tp_sampled(class), variant = tp_variant(s, class, root);
	tp_tally *t = &s->tallies[class];
	t->calls++;
	t->bytes += bytes;
	if (variant == TP_OURS || (variant == TP_OPEN && tp_is_due(s, class, bytes) && tp_decide(s, class, root, bytes)))
		return tp_ours(s, buf, count, type, root, bytes);
	int is_timed = (t->calls & (sampled - 1)) == sampled / 2; // not the first, which takes longer
	tp_grant(s, class, root, sampled);
	return is_timed ? tp_timed(s, buf, count, type, root, class, sampled) : tp_mpi.Bcast(buf, count, type, root, comm);
}

// Most broadcasts of a program that only has short ones have a pass. They cost some 50 instructions of ours.
int MPI_Bcast(void *buf, int count, tp_handle type, int root, tp_handle comm) {
	if (tp_memory.last.comm == comm && tp_memory.last.type == type && tp_memory.last.generation == tp_generation && count > 0 &&
	    !tp_inside && tp_passes(tp_memory.last.s, root, tp_memory.last.size * count))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	return tp_look(buf, count, type, root, comm);
}
