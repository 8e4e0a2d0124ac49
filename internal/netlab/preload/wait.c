// Loaded into the ranks of a lab, of which many share a core: how they wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>

// Both libraries wait by looking for messages over and over: Open MPI with poll,
// UCX, and so MPICH, with epoll_wait. A dozen ranks that look in turn keep from the
// core the one that has something to do. So the third look in a row in vain lasts
// until a message comes. Libraries look once or twice in vain where they do not wait:
// Open MPI after every message.
enum { IN_PASSING = 2 };

// What the sockets do not tell, such as a connection that another thread has made,
// waits for the end of a look, 1 ms. So would messages in shared memory: with
// several ranks on a host they yield instead.
enum { LONGEST = 1 }; // ms

static int blocks(void) {
	static int known, yes;
	if (!known) {
		yes = getenv("NETLAB_BLOCK") != NULL;
		known = 1;
	}
	return yes;
}

// in_vain counts a look that found nothing and tells how long the next may last.
static int in_vain(int *row) {
	if (!blocks()) {
		sched_yield();
		return 0;
	}
	return ++*row > IN_PASSING ? LONGEST : 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout) {
	static int (*next)(int, struct epoll_event *, int, int);
	static __thread int row;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
	int got = next(fd, events, max, timeout);
	int longer;
	if (got == 0 && timeout == 0 && (longer = in_vain(&row)) > 0)
		got = next(fd, events, max, longer);
	if (got != 0)
		row = 0;
	return got;
}

int poll(struct pollfd *fds, nfds_t n, int timeout) {
	static int (*next)(struct pollfd *, nfds_t, int);
	static __thread int row;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "poll");
	int got = next(fds, n, timeout);
	int longer;
	if (got == 0 && timeout == 0 && (longer = in_vain(&row)) > 0)
		got = next(fds, n, longer);
	if (got != 0)
		row = 0;
	return got;
}
