// MPI_Bcast, MPI_Allreduce and MPI_Reduce as programs call them. A call that needs nothing of ours is with MPI after some
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

static int tp_native(const tp_call *c) {
	switch (c->collective) {
	case TP_ALLREDUCE:
		return tp_mpi.Allreduce(c->own, c->buf, c->count, c->type, c->op, c->comm);
	case TP_REDUCE:
		return tp_mpi.Reduce(c->own, c->buf, c->count, c->type, c->op, c->root, c->comm);
	default:
		return tp_mpi.Bcast(c->buf, c->count, c->type, c->root, c->comm);
	}
}

// A thread remembers for each collective its last communicators, and the type and operation of the last call on each, since
// asking MPI costs as much as a short broadcast. Handles of communicators are used again, so a communicator is remembered for
// its generation only. The types are MPI's own, which are never freed, of less than 2 GiB. All handles are kept as the program
// passed them: bits that are not the handle's may let a look-up miss, but never find another one.
enum { TP_REMEMBERED = 4 };
typedef struct {
	tp_handle comm, type, op;
	uint64_t generation; // 0: nothing is remembered
	int64_t size;        // bytes of the type; 0: no type is remembered
	tp_comm *s;
} tp_memory;
static __thread tp_memory tp_memories[TP_COLLECTIVES][TP_REMEMBERED], tp_last[TP_COLLECTIVES]; // tp_last: copies, of the last calls

// tp_ask fills a memory with the communicator, type and operation of a call. It tells whether the call may be ours: otherwise
// nobody but MPI reduces such values, or MPI has to say what is wrong. *size is the size of the type in bytes.
static int tp_ask(tp_memory *m, const tp_call *c, int64_t *size) {
	tp_handle type = c->type & tp_mpi.abi.mask;
	uint64_t generation = __atomic_load_n(&tp_generation, __ATOMIC_ACQUIRE);
	int is_remembered = m->comm == c->comm && m->generation == generation;
	if (is_remembered && m->type == c->type && m->op == c->op && (*size = m->size) > 0)
		return 1;
	if (c->collective != TP_BCAST && (tp_number(type) < 0 || tp_operation(c->op & tp_mpi.abi.mask) < 0))
		return 0;
	if (!is_remembered) {
		tp_comm *s = tp_find(c->comm & tp_mpi.abi.mask, c->collective);
		if (s == NULL)
			return 0;
		*m = (tp_memory){.comm = c->comm, .generation = generation, .s = s};
	}
	m->size = 0;
	if (type == tp_mpi.abi.type_null || tp_mpi.Type_size_x(type, size) != TP_SUCCESS || *size <= 0)
		return 0;
	if (*size <= INT_MAX && (c->collective != TP_BCAST || tp_is_named(type)))
		m->type = c->type, m->op = c->op, m->size = *size;
	return 1;
}

// tp_passes tells whether a call has a pass, and uses it up.
static inline int tp_passes(tp_comm *s, int root, int64_t bytes) {
	int class = tp_class(bytes);
	tp_pass *p = &s->passes[class];
	if (p->left == 0 || (unsigned)(root - p->first) >= (unsigned)p->roots)
		return 0;
	p->left--;
	s->tallies[class].bytes += bytes;
	return 1;
}

// tp_sampled is how many calls of a class of sizes stand for one that is timed. It is a power of two. Where
// calls are short, reading the clock takes a part of their time that could be measured.
static inline int tp_sampled(int class) { return class <= 13 ? 256 : class <= 16 ? 16 : 1; }

static __attribute__((noinline)) int tp_ours(tp_comm *s, const tp_call *c, int64_t bytes) {
	int class = tp_class(bytes);
	tp_tally *t = &s->tallies[class];
	int is_decided = s->choices[class] != NULL && s->choices[class][c->root].variant >= TP_OURS;
	double begin = tp_now();
	int code = c->collective == TP_BCAST ? tp_broadcast(s, c, bytes) : tp_reduce(s, c, bytes);
	if (code == TP_INVALID)
		return tp_native(c);
	if (code != TP_SUCCESS)
		tp_mpi.Comm_call_errhandler(s->comm, code);
	t->seconds += tp_now() - begin;
	t->ours++;
	if (is_decided && s->choices[class] != NULL && s->choices[class][c->root].variant == TP_OURS)
		t->gain += s->choices[class][c->root].gain;
	return code;
}

static __attribute__((noinline)) int tp_timed(tp_comm *s, const tp_call *c, int class, int weight) {
	double begin = tp_now();
	int code = tp_native(c);
	double seconds = (tp_now() - begin) * weight;
	s->tallies[class].seconds += seconds;
	s->spent[class] += seconds;
	return code;
}

// tp_look makes a call that has no pass, or of which the thread does not remember enough to know.
static __attribute__((noinline)) int tp_look(tp_call c) {
	int64_t size, bytes;
	tp_memory *m = &tp_memories[c.collective][(c.comm ^ c.comm >> 9) % TP_REMEMBERED];
	if (!__atomic_load_n(&tp_is_open, __ATOMIC_ACQUIRE))
		tp_open_library();
	// MPI says what is wrong.
	if (!tp_mpi.is_known || tp_inside || !tp_ask(m, &c, &size) || c.count <= 0 || __builtin_mul_overflow(size, (int64_t)c.count, &bytes) ||
	    (unsigned)c.root >= (unsigned)m->s->roots || tp_passes(m->s, c.root, bytes))
		return tp_native(&c);
	tp_last[c.collective] = *m;
	tp_comm *s = m->s;
	int class = tp_class(bytes), sampled = tp_sampled(class), variant = tp_variant(s, class, c.root);
	tp_tally *t = &s->tallies[class];
	c.type &= tp_mpi.abi.mask, c.op &= tp_mpi.abi.mask;
	t->calls++;
	t->bytes += bytes;
	if (variant >= TP_OURS || (variant == TP_OPEN && tp_is_due(s, class, bytes) && tp_decide(s, class, c.root, bytes)))
		return tp_ours(s, &c, bytes);
	int is_timed = (t->calls & (sampled - 1)) == sampled / 2; // not the first, which takes longer
	tp_grant(s, class, c.root, sampled);
	return is_timed ? tp_timed(s, &c, class, sampled) : tp_native(&c);
}

// tp_has_pass tells whether a call is remembered and has a pass. Most calls of a program that only has short ones do. They
// cost some 50 instructions of ours.
static inline int tp_has_pass(int collective, int count, tp_handle type, tp_handle op, int root, tp_handle comm) {
	const tp_memory *last = &tp_last[collective];
	int64_t bytes = last->size * count;
	return last->comm == comm && last->type == type && last->op == op && last->generation == tp_generation && bytes > 0 && !tp_inside &&
	       tp_passes(last->s, root, bytes);
}

int MPI_Bcast(void *buf, int count, tp_handle type, int root, tp_handle comm) {
	if (tp_has_pass(TP_BCAST, count, type, 0, root, comm))
		return tp_mpi.Bcast(buf, count, type, root, comm);
	return tp_look((tp_call){TP_BCAST, NULL, buf, count, type, 0, root, comm});
}

int MPI_Allreduce(const void *own, void *buf, int count, tp_handle type, tp_handle op, tp_handle comm) {
	if (tp_has_pass(TP_ALLREDUCE, count, type, op, 0, comm))
		return tp_mpi.Allreduce(own, buf, count, type, op, comm);
	return tp_look((tp_call){TP_ALLREDUCE, own, buf, count, type, op, 0, comm});
}

int MPI_Reduce(const void *own, void *buf, int count, tp_handle type, tp_handle op, int root, tp_handle comm) {
	if (tp_has_pass(TP_REDUCE, count, type, op, root, comm))
		return tp_mpi.Reduce(own, buf, count, type, op, root, comm);
	return tp_look((tp_call){TP_REDUCE, own, buf, count, type, op, root, comm});
}
