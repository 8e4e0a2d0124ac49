// What the parts of the library in C know of each other. doc.go says what it does.

#ifndef TOPOCAST_PRELOAD_H
#define TOPOCAST_PRELOAD_H

#include "go.h"
#include "library.h"
#include <stddef.h>

static inline int tp_class(int64_t bytes) { return bytes <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)bytes - 1); }

// How far a communicator has come.
enum {
	TP_NEW,   // its ranks have not agreed on anything yet
	TP_OFF,   // all is left to the library, for good
	TP_WAIT,  // there will be a Broadcaster if enough is broadcast
	TP_WATCH, // the library broadcasts, and is timed
	TP_ON     // there is a Broadcaster
};

// A tp_pass is how many of the next broadcasts of a class of sizes from some roots the library makes, where nothing
// is to be looked at but these two: they are counted already. All ranks grant the same passes at the same broadcast.
typedef struct {
	int64_t left;
	int first, roots;
} tp_pass;

// A tp_comm is what is known of a communicator of the program: the value of an attribute.
typedef struct tp_comm {
	MPI_Comm comm;
	int stage, rank, size;
	int model;        // what is predicted to be best is used, and nothing timed
	double patience;  // s, that the library's broadcasts of a class take before they are compared with ours
	uintptr_t handle; // of the Broadcaster; 0: none
	int64_t calls;    // until the ranks agree
	int64_t moved;    // of those since: their bytes, and a kilobyte for each
	tp_pass passes[TP_CLASSES];
	tp_choice *choices[TP_CLASSES]; // by root; NULL: all are open
	tp_tally tallies[TP_CLASSES];
	int64_t watched[TP_CLASSES]; // broadcasts of open choices since the class was last tried
	int64_t due[TP_CLASSES];     // the number of them at which the ranks look at the time
	double spent[TP_CLASSES];    // s, that they took
	char *packed; // for elements without gaps
	int64_t room; // bytes of it
	struct tp_comm *next, **link; // of all, and what points here
} tp_comm;

static inline int tp_way(const tp_comm *s, int class, int root) {
	if (s->stage == TP_OFF)
		return TP_NATIVE;
	if (s->stage == TP_ON && s->model)
		return TP_OURS;
	return s->choices[class] == NULL ? TP_OPEN : s->choices[class][root].way;
}

// Ranks agree on a communicator at its first broadcast of more than a kilobyte, or when it has
// seen this many: one collective operation then costs nothing that could be measured.
enum { TP_LONG_CLASS = 11, TP_MANY = 4096 };

// To make a Broadcaster takes as long as some ten broadcasts of a kilobyte, and longer the more ranks there
// are. Where one would be used at once it has to wait for so many bytes: many communicators
// live for a few broadcasts.
enum { TP_OVERHEAD = 1 << 10, TP_ENOUGH = 64 << 10 };

static inline int tp_is_due(tp_comm *s, int class, int64_t bytes) {
	if (s->stage == TP_NEW)
		return ++s->calls == TP_MANY || class >= TP_LONG_CLASS;
	if (s->stage == TP_WAIT)
		return (s->moved += bytes + TP_OVERHEAD) >= TP_ENOUGH;
	return ++s->watched[class] >= s->due[class];
}

// tp_inside is set while the thread is in our own work, which may call MPI_Bcast itself.
extern __thread int tp_inside;

// tp_generation changes whenever a communicator is freed, as its handle may then be another's. It is never 0.
extern uint64_t tp_generation;

// tp_find is the state of a communicator, or NULL where the library is to be left alone: before
// MPI_Init and after MPI_Finalize, say.
tp_comm *tp_find(MPI_Comm comm);

// tp_grant grants a class of sizes its next passes, up to the next broadcast that is timed, which is one in so many, a
// power of two, or at which the ranks may have to decide.
void tp_grant(tp_comm *s, int class, int root, int sampled);

// tp_decide is collective: it is called for an open choice at the same broadcast on all ranks, and
// tells whether that one is ours.
int tp_decide(tp_comm *s, int class, int root, int64_t bytes);

// tp_broadcasters_made is how many communicators had a Broadcaster.
extern int tp_broadcasters_made;

// tp_broadcast makes a broadcast of ours. It returns MPI's code, or TP_INVALID if the arguments
// are such that the library has to say what is wrong with them.
enum { TP_INVALID = -1 };
int tp_broadcast(tp_comm *s, void *buf, int count, MPI_Datatype type, int64_t bytes, int root);

// tp_detach is collective: it frees the Broadcaster, if there is one.
void tp_detach(tp_comm *s);

// tp_learn takes over what the Broadcaster has decided for a class of sizes.
void tp_learn(tp_comm *s, int class);

// tp_layout tells whether elements of a type are the bytes from their address on, in that order
// and without gaps between them, as those of predefined types are.
enum { TP_GAPS, TP_DENSE, TP_PREDEFINED };
int tp_layout(MPI_Datatype type);

// tp_is_valid tells whether the library would take elements of a type from there.
int tp_is_valid(void *buf, MPI_Datatype type);

// tp_pack and tp_unpack copy elements to and from bytes without gaps, and return MPI's code.
int tp_pack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes);
int tp_unpack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes);

// tp_forget_alone frees what these three have made for themselves.
void tp_forget_alone(void);

double tp_now(void); // s

#endif
