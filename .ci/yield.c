// Loaded into ranks of MPICH (see test-mpi), which may outnumber the cores. Debian's MPICH
// looks for messages over and over while it waits, and never gives way to the rank that has one
// to send: 16 ranks on 2 cores take 120 ms for a barrier. A look in vain yields, as Open MPI's does, and who has looked
// in vain for long naps: ranks that yield to each other take most of both cores.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

static const int yields = 30; // in a row, before a rank naps
static const long nap = 50000; // ns

unsigned ucp_worker_progress(void *worker) {
	static unsigned (*next)(void *);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
	if (!next) // of a library that was opened at run time, for its program alone
		*(void **)&next = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
	static __thread int idle;
	unsigned found = next(worker);
	if (found != 0)
		idle = 0;
	else if (++idle <= yields)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
	return found;
}
