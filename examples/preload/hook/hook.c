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

// A thread remembers its last communicators, and the type of the last broadcast on each, since asking MPI costs as much as a
// short broadcast. Handles of communicators are used again, so a communicator is remembered for its generation
// only. The types are MPI's own, which are never freed, of less than 2 GiB. Both handles are kept as the program passed
// them: bits that are not the handle's may let a look-up miss, but never find another one.
enum { TP_REMEMBERED = 4 };
typedef struct {
	tp_handle comm, type;
	uint64_t generation; // 0: nothing is remembered
	int64_t size;        // bytes of the type; 0: no type is remembered
	tp_comm *s;
} tp_memory;
static __thread tp_memory tp_memories[TP_REMEMBERED], tp_last; // tp_last: a copy, of the last broadcast

// tp_ask fills a memory with a communicator and a type. It tells whether both are valid; otherwise
// MPI has to say what is wrong. *size is the size of the type in bytes.
static int tp_ask(tp_memory *m, tp_handle passed_type, tp_handle passed_comm, int64_t *size) {
	tp_handle type = passed_type & tp_mpi.abi.mask;
	uint64_t generation = __atomic_load_n(&tp_generation, __ATOMIC_ACQUIRE);
	if (m->comm != passed_comm || m->generation != generation) {
		tp_comm *s = tp_find(passed_comm & tp_mpi.abi.mask);
		if (s == NULL)
			return 0;
		*m = (tp_memory){.comm = passed_comm, .generation = generation, .s = s};
	}
	if (m->type == passed_type && (*size = m->size) > 0)
		return 1;
	m->size = 0;
	if (type == tp_mpi.abi.type_null || tp_mpi.Type_size_x(type, size) != TP_SUCCESS || *size <= 0)
		return 0;
	if (*size <= INT_MAX && tp_is_named(type))
		m->type = passed_type, m->size = *size;
	return 1;
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
static __attribute__((noinline)) int tp_look(void *buf, int count, tp_handle type, int root, tp_handle comm) {
	int64_t size, bytes;
	tp_memory *m = &tp_memories[(comm ^ comm >> 9) % TP_REMEMBERED];
	if (!__atomic_load_n(&tp_is_open, __ATOMIC_ACQUIRE))
		tp_open_library();
	// MPI says what is wrong.
	if (!tp_mpi.is_known || tp_inside || !tp_ask(m, type, comm, &size) || count <= 0 || __builtin_mul_overflow(size, (int64_t)count, &bytes) ||
	    (unsigned)root >= (unsigned)m->s->size || tp_passes(m->s, root, bytes))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	tp_last = *m;
	tp_comm *s = m->s;
	int class = tp_class(bytes), sampled = tp_sampled(class), variant = tp_variant(s, class, root);
	tp_tally *t = &s->tallies[class];
	type &= tp_mpi.abi.mask;
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
	int64_t bytes = tp_last.size * count;
	if (tp_last.comm == comm && tp_last.type == type && tp_last.generation == tp_generation && bytes > 0 && !tp_inside &&
	    tp_passes(tp_last.s, root, bytes))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	return tp_look(buf, count, type, root, comm);
}
