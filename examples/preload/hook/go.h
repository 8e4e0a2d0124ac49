// The part of the library that is written in Go. The comments of the functions are in library.go.

#ifndef TOPOCAST_GO_H
#define TOPOCAST_GO_H

#include "../shared.h"

#define TP_GO(X) \
	X(start, "tpStart") X(load, "tpLoad") X(attach, "tpAttach") X(choices, "tpChoices") \
	X(bcast, "tpBcast") X(reduce, "tpReduce") X(close, "tpClose") X(report, "tpReport")

struct tp_go {
	void (*start)(void);
	void (*load)(int collective, int ranks, int multiple, int world, double *findings);
	uintptr_t (*attach)(void *comm, int collective, int model, tp_lookup lookup);
	int (*choices)(uintptr_t handle, int class, int size, tp_choice *choices);
	int (*bcast)(uintptr_t handle, void *buf, int64_t bytes, int root, int decides);
	int (*reduce)(uintptr_t handle, void *values, int count, int number, int operation, int root, int decides);
	void (*close)(uintptr_t handle);
	void (*report)(tp_tally *tallies, int attached);
};
extern struct tp_go tp_go;

// tp_has_go starts Go when it is first called, and tells whether Go runs. A thread calls what is in tp_go only
// after tp_has_go has told it so, and between tp_enter and tp_leave.
int tp_has_go(void);
void tp_enter(void);
void tp_leave(void);

// tp_take_signals lets the program's signals through while a call of MPI waits, until tp_block_signals.
// Both do nothing on a thread that is not in Go.
void tp_take_signals(void);
void tp_block_signals(void);

// tp_lookup_mpi is the tp_lookup of package mpi.
void *tp_lookup_mpi(const char *name);

#endif
