// What the files of the part in C share. doc.go explains the whole.

#ifndef TOPOCAST_PRELOAD_H
#define TOPOCAST_PRELOAD_H

#include "go.h"
#include "library.h"

// What the program may call. All else is compiled with -fvisibility=hidden, so that a call or a variable
// inside this library takes no look-up in a table.
#define TP_VISIBLE __attribute__((visibility("default")))

TP_VISIBLE int MPI_Bcast(void *buf, int count, tp_handle type, int root, tp_handle comm);
TP_VISIBLE int MPI_Allreduce(const void *own, void *buf, int count, tp_handle type, tp_handle op, tp_handle comm);
TP_VISIBLE int MPI_Reduce(const void *own, void *buf, int count, tp_handle type, tp_handle op, int root, tp_handle comm);

// A tp_call is a call of the program.
typedef struct {
	int collective;
	const void *own; // of a reduction: the values of this rank
	void *buf;       // of a reduction: where the result is wanted
	int count;
	tp_handle type, op; // op: of a reduction
	int root;           // 0 if all ranks want the result
	tp_handle comm;
} tp_call;

static inline int tp_class(int64_t bytes) { return bytes <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)bytes - 1); }

// The stages of a collective on a communicator. Its server, in Go, makes the calls of ours.
enum {
	TP_NEW,   // its ranks have not agreed on anything yet
	TP_OFF,   // all calls are native, for good
	TP_WAIT,  // there will be a server once enough bytes are called for
	TP_WATCH, // calls are native, and timed
	TP_ON     // there is a server
};

// A tp_pass is a number of calls of a class of sizes from some roots that go to MPI without a further look. They
// are counted in advance. All ranks grant the same passes at the same call.
typedef struct {
	int64_t left;
	int first, roots;
} tp_pass;

// A tp_comm is what is known of one collective on a communicator of the program.
typedef struct tp_comm {
	tp_handle comm;
	int collective, stage, rank, size;
	int roots;        // that decisions tell apart: 1 if all ranks want the result
	int model;        // TOPOCAST_CHOICE=model: the predicted best is used, and nothing is timed
	double patience;  // s, of native calls of a class before they are compared with ours
	uintptr_t handle; // of the server; 0: none
	int64_t calls;    // until the ranks agree
	int64_t moved;    // bytes of the calls since then, and TP_OVERHEAD for each
	tp_pass passes[TP_CLASSES];
	tp_choice *choices[TP_CLASSES]; // by root; NULL: all are open
	tp_tally tallies[TP_CLASSES];
	int64_t watched[TP_CLASSES]; // calls of open choices since the class was last compared
	int64_t due[TP_CLASSES];     // the value of watched at which the ranks compare their times
	double spent[TP_CLASSES];    // s, in these calls
	char *packed; // room for elements without gaps
	int64_t room; // bytes of packed
	struct tp_comm *next, **link; // the list of all, and the pointer to this one
} tp_comm;

static inline int tp_variant(const tp_comm *s, int class, int root) {
	if (s->stage == TP_OFF)
		return TP_NATIVE;
	if (s->stage == TP_ON && s->model)
		return TP_OURS;
	return s->choices[class] == NULL ? TP_OPEN : s->choices[class][root].variant;
}

// Ranks agree on a collective at its first call on a communicator of more than a kilobyte, or at its 4096th: beside
// either, one more collective operation costs nothing that could be measured.
enum { TP_LONG_CLASS = 11, TP_MANY = 4096 };

// Making a server takes as long as some ten broadcasts of a kilobyte, and longer on more ranks. Many communicators
// live for a few calls, so it is made only after so many bytes, where each call counts for a kilobyte more.
enum { TP_OVERHEAD = 1 << 10, TP_ENOUGH = 64 << 10 };

static inline int tp_is_due(tp_comm *s, int class, int64_t bytes) {
	if (s->stage == TP_NEW)
		return ++s->calls == TP_MANY || class >= TP_LONG_CLASS;
	if (s->stage == TP_WAIT)
		return (s->moved += bytes + TP_OVERHEAD) >= TP_ENOUGH;
	return ++s->watched[class] >= s->due[class];
}

// tp_inside is set while the thread is in our own work, which may call the collectives itself.
extern __thread int tp_inside;

// tp_generation changes whenever a communicator is freed, since its handle may then be another's. It is never 0.
extern uint64_t tp_generation;

// tp_find returns the state of a collective on a communicator. It returns NULL where everything is MPI's, as before MPI_Init
// and after MPI_Finalize.
tp_comm *tp_find(tp_handle comm, int collective);

// tp_grant grants a class of sizes its next passes. They end before the next call that is timed, which is one in
// `sampled`, a power of two, or at which the ranks may have to decide.
void tp_grant(tp_comm *s, int class, int root, int sampled);

// tp_decide is collective: all ranks call it for an open choice at the same call. It tells whether that
// call is ours.
int tp_decide(tp_comm *s, int class, int root, int64_t bytes);

// tp_servers_made is how many servers there have been.
extern int tp_servers_made;

// tp_broadcast and tp_reduce are collective: they make a call of ours. They return MPI's code, or TP_INVALID if the
// arguments are wrong and MPI has to say so.
enum { TP_INVALID = -1 };
int tp_broadcast(tp_comm *s, const tp_call *c, int64_t bytes);
int tp_reduce(tp_comm *s, const tp_call *c, int64_t bytes);

// tp_number returns the numbers that a type stands for (see TP_SIGNED); -1: none that is reduced.
int tp_number(tp_handle type);

// tp_detach is collective: it frees the server, if there is one.
void tp_detach(tp_comm *s);

// tp_is_named tells whether a type is one of MPI's own, which are never freed.
int tp_is_named(tp_handle type);

// tp_layout tells whether the bytes of elements stand in memory in their order and without gaps, and whether the
// type is predefined, too.
enum { TP_GAPS, TP_DENSE, TP_PREDEFINED };
int tp_layout(tp_handle type);

// tp_is_valid tells whether MPI would take elements of a type from there.
int tp_is_valid(void *buf, tp_handle type);

// tp_move copies elements into bytes without gaps, or back if in is 0. It returns MPI's code.
int tp_move(void *buf, int count, tp_handle type, char *packed, int64_t bytes, int in);

// tp_forget_alone frees the communicator that these two have made for themselves.
void tp_forget_alone(void);

double tp_now(void); // s

#endif
