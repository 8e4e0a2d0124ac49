// The part of the library that is written in Go, and what it must not do to the program. It is a file of
// its own and loaded when it is first needed. So shells, launchers, and programs that only have short messages
// never load Go.

#define _GNU_SOURCE
#include "go.h"
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct tp_go tp_go;

// The path of this library. It is asked for while relative paths still hold.
static char tp_path[PATH_MAX];

static __attribute__((constructor)) void tp_remember_path(void) {
	Dl_info own;
	if (dladdr(&tp_go, &own) == 0 || realpath(own.dli_fname, tp_path) == NULL)
		tp_path[0] = 0;
}

// Signals. Goroutines have stacks of a few kilobytes. A handler of the program that does not ask for a
// stack of its own (SA_ONSTACK) would write past the end. So a thread takes no signal while it
// is in Go. Signals that came meanwhile are taken where the thread waits for messages, which is in C.
// Go's own threads take no signals but SIGPROF and SIGCHLD, which Go insists on.

static __thread int tp_depth = 0;
static __thread int tp_known = 0;  // Go has seen this thread
static __thread sigset_t tp_mask; // the program's

// Go gives a thread that it first sees an alternate stack of 32 KiB, and handlers of SIGPROF and SIGCHLD run there
// (SA_ONSTACK). They have used the stack of the thread before, and another handler may interrupt them. Two handlers may
// need more than 32 KiB, and would write into Go's memory. So a thread that has no alternate stack gets one that is as
// large as handlers may want, of which the system gives what is used. Below it is a page that nobody may touch.
static const size_t tp_stack_bytes = 1 << 20;
static pthread_key_t tp_stack; // of a thread: the alternate stack that it got here; unmapped when it ends

static void tp_take_stack(void *stack) {
	stack_t none = {.ss_flags = SS_DISABLE};
	sigaltstack(&none, NULL);
	munmap(stack, tp_stack_bytes);
}

static void tp_give_stack(void) {
	stack_t own;
	if (sigaltstack(NULL, &own) != 0 || !(own.ss_flags & SS_DISABLE))
		return; // it is the program's
	char *stack = mmap(NULL, tp_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return;
	long page = sysconf(_SC_PAGESIZE);
	mprotect(stack, page, PROT_NONE);
	own = (stack_t){.ss_sp = stack + page, .ss_size = tp_stack_bytes - page};
	if (sigaltstack(&own, NULL) != 0 || pthread_setspecific(tp_stack, stack) != 0)
		tp_take_stack(stack);
}

static void tp_block(sigset_t *old) {
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t all;
	sigfillset(&all);
	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, old);
}

void tp_enter(void) {
	if (tp_depth++ > 0)
		return;
	tp_block(&tp_mask);
	if (!tp_known) {
		// Go changes the mask of a thread when it first sees it.
		tp_known = 1;
		tp_give_stack();
		tp_go.start();
		tp_block(NULL);
	}
}

void tp_leave(void) {
	if (--tp_depth == 0)
		pthread_sigmask(SIG_SETMASK, &tp_mask, NULL);
}

void tp_take_signals(void) {
	if (tp_depth > 0)
		pthread_sigmask(SIG_SETMASK, &tp_mask, NULL);
}

void tp_block_signals(void) {
	if (tp_depth > 0)
		tp_block(NULL);
}

// The program's handlers. Those of SIGPROF and SIGCHLD keep what Go adds: on a thread of Go's they run
// on a stack of their own.
typedef struct {
	struct sigaction of[NSIG];
	int is_known[NSIG];
} tp_handlers;

static void tp_save(tp_handlers *h) {
	for (int s = 1; s < NSIG; s++)
		h->is_known[s] = s != SIGPROF && s != SIGCHLD && sigaction(s, NULL, &h->of[s]) == 0;
}

static void tp_restore(const tp_handlers *h) {
	for (int s = 1; s < NSIG; s++)
		if (h->is_known[s])
			sigaction(s, &h->of[s], NULL);
}

static int tp_load_go(const char *file) {
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return 0;
	int missing = 0;
#define X(name, symbol) \
	*(void **)&tp_go.name = dlsym(handle, symbol); \
	missing += tp_go.name == NULL;
	TP_GO(X)
#undef X
	return !missing;
}

static int tp_is_there = 0;

static void tp_try_go(void) {
	static tp_handlers handlers;
	struct rlimit files;
	char file[sizeof tp_path + 8];
	sigset_t mask;
	size_t n = strlen(tp_path);
	if (n < 3 || strcmp(tp_path + n - 3, ".so") != 0) {
		fprintf(stderr, "topocast: all is left to MPI: the file of this library is not known\n");
		return;
	}
	snprintf(file, sizeof file, "%.*s.go.so", (int)(n - 3), tp_path);
	tp_save(&handlers);
	int is_limited = getrlimit(RLIMIT_NOFILE, &files) == 0;
	tp_block(&mask); // threads that are made here inherit it
	if (pthread_key_create(&tp_stack, tp_take_stack) == 0 && tp_load_go(file)) {
		tp_give_stack();
		tp_go.start(); // returns when all of Go's threads have begun
		tp_is_there = tp_known = 1;
	} else {
		const char *why = dlerror();
		fprintf(stderr, "topocast: all is left to MPI: %s\n", why != NULL ? why : file);
	}
	if (is_limited)
		setrlimit(RLIMIT_NOFILE, &files); // which Go raises
	tp_restore(&handlers);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// tp_mind_stacks does for handlers that came later what Go does when it begins.
static void tp_mind_stacks(void) {
	static const int taken[] = {SIGPROF, SIGCHLD};
	struct sigaction a;
	for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
		if (sigaction(taken[i], NULL, &a) == 0 && a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
			a.sa_flags |= SA_ONSTACK;
			sigaction(taken[i], &a, NULL);
		}
}

int tp_has_go(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, tp_try_go);
	if (tp_is_there)
		tp_mind_stacks();
	return tp_is_there;
}
