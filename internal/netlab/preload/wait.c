// Loaded into the ranks of a lab, of which many share a core: how they wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>

// Both libraries wait by looking for messages over and over: Open MPI with poll,
// UCX, and so MPICH, with epoll_wait. A dozen ranks that look in turn keep from the
// core the one that has something to do. So where NETLAB_SLEEP is set, a look lasts until a message
// comes, after some in vain in a row. Libraries look once or twice in vain where they do not wait:
// Open MPI after every message.
enum { IN_PASSING = 2 };

// What the sockets do not tell, such as a connection that another thread has made, waits for the end
// of a look. Sixteen ranks that wait for 1 ms at a time take a third of the core to find nothing.
enum { LONGEST = 10 }; // ms

// row counts the looks in vain since a message came, or a request was found complete.
static __thread int row;

// in_vain counts a look that found nothing and tells how long the next may last.
static int in_vain(void) {
	static int sleeps = -1;
	if (sleeps < 0)
		sleeps = getenv("NETLAB_SLEEP") != NULL;
	if (!sleeps) {
		sched_yield();
		return 0;
	}
	return ++row > IN_PASSING ? LONGEST : 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout) {
	static int (*next)(int, struct epoll_event *, int, int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
	int got = next(fd, events, max, timeout);
	int longer;
	if (got == 0 && timeout == 0 && (longer = in_vain()) > 0)
		got = next(fd, events, max, longer);
	if (got != 0)
		row = 0;
	return got;
}

int poll(struct pollfd *fds, nfds_t n, int timeout) {
	static int (*next)(struct pollfd *, nfds_t, int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "poll");
	int got = next(fds, n, timeout);
	int longer;
	if (got == 0 && timeout == 0 && (longer = in_vain()) > 0)
		got = next(fds, n, longer);
	if (got != 0)
		row = 0;
	return got;
}

// MPICH's MPI_Test looks for messages before it looks at the request, which may have been complete: a rank that
// takes what has come long ago does not wait. The types are those of no library: all are passed as pointers.
int MPI_Test(void *request, int *flag, void *status) {
	static int (*next)(void *, int *, void *);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "MPI_Test");
	int code = next(request, flag, status);
	if (code == 0 && *flag)
		row = 0;
	return code;
}
