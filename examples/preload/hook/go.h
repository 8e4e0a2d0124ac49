// What is written in Go: main.go has its comments.

#ifndef TOPOCAST_GO_H
#define TOPOCAST_GO_H

#include "../shared.h"

#define TP_GO(X) \
	X(start, "tpStart") X(load, "tpLoad") X(attach, "tpAttach") X(choices, "tpChoices") \
	X(bcast, "tpBcast") X(close, "tpClose") X(report, "tpReport")

struct tp_go {
	void (*start)(void);
	int (*load)(int ranks, int multiple, int world, double *patience);
	uintptr_t (*attach)(void *comm, int model);
	int (*choices)(uintptr_t handle, int class, int size, tp_choice *choices);
	int (*bcast)(uintptr_t handle, void *buf, int64_t bytes, int root);
	void (*close)(uintptr_t handle);
	void (*report)(tp_tally *tallies, int broadcasters);
};
extern struct tp_go tp_go;

// tp_has_go starts Go when it is first called, and tells whether it runs. All of tp_go is called
// between tp_enter and tp_leave, by a thread to which it has told so.
int tp_has_go(void);
void tp_enter(void);
void tp_leave(void);

#endif
