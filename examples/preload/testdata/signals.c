// What belongs to the program: signals that a thread waits for, handlers, masks and limits, while it broadcasts.

#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { BYTES = 20000, WAITED = 200 };

static int rank, size;
static volatile sig_atomic_t waited = 0, alarms = 0, profiles = 0, narrow = 0;
static sigjmp_buf fault;

// A handler that needs more stack than a goroutine has, and finds it changed if somebody else uses it.
static void use_stack(volatile sig_atomic_t *count) {
	volatile char big[16384];
	memset((void *)big, *count, sizeof big);
	(*count)++;
}

static void on_alarm(int s) { use_stack(&alarms); }

// Another handler may interrupt this one and need as much stack again.
static void on_profile(int s) {
	stack_t own;
	if (getpid() == gettid() && sigaltstack(NULL, &own) == 0 && own.ss_flags & SS_ONSTACK && own.ss_size < 4 * 16384)
		narrow = 1;
	use_stack(&profiles);
	raise(SIGALRM);
}

static void on_fault(int s) { siglongjmp(fault, 1); }
static void ignore(int s) {}

static void *waiter(void *set) {
	int s;
	while (waited < WAITED)
		if (sigwait(set, &s) == 0 && s == SIGUSR1)
			waited++;
	return NULL;
}

static long cast(int turns) {
	static unsigned char buf[BYTES];
	long wrong = 0;
	for (int turn = 0; turn < turns; turn++) {
		memset(buf, rank == turn % size ? turn : ~turn, BYTES);
		MPI_Bcast(buf, BYTES, MPI_BYTE, turn % size, MPI_COMM_WORLD);
		for (int i = 0; i < BYTES; i++)
			wrong += buf[i] != (unsigned char)turn;
	}
	return wrong;
}

static int faulted(void) {
	if (sigsetjmp(fault, 1))
		return 1;
	*(volatile int *)8 = 1;
	return 0;
}

// tell prints what a broadcast must not change.
static void tell(const char *when) {
	struct rlimit files;
	sigset_t mask;
	char line[1000];
	int n = snprintf(line, sizeof line, "rank %d %s: handlers", rank, when);
	for (int s = 1; s < SIGRTMIN; s++) {
		struct sigaction a;
		if (sigaction(s, NULL, &a) != 0 || s == SIGPROF) // profilers are minded apart
			continue;
		const char *what = a.sa_handler == SIG_DFL ? "" : a.sa_handler == SIG_IGN ? "i" : a.sa_handler == on_alarm ? "a" : a.sa_handler == on_fault ? "f" : "?";
		if (*what == '?' && s != SIGUSR2)
			what = "o"; // the MPI library's
		if (*what)
			n += snprintf(line + n, sizeof line - n, " %d%s%x", s, what, a.sa_flags & (SA_ONSTACK | SA_RESTART));
	}
	n += snprintf(line + n, sizeof line - n, "; blocked");
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < SIGRTMIN; s++)
		if (sigismember(&mask, s) == 1)
			n += snprintf(line + n, sizeof line - n, " %d", s);
	getrlimit(RLIMIT_NOFILE, &files);
	printf("%s; files %ld; fault caught %d\n", line, (long)files.rlim_cur, faulted());
	fflush(stdout);
}

int main(int argc, char **argv) {
	sigset_t waits;
	pthread_t thread;
	int provided;
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < 900 ? files.rlim_max : 900;
	setrlimit(RLIMIT_NOFILE, &files);
	// SIGUSR1 is for the thread that waits for it, SIGCHLD for nobody. Threads of MPI's inherit that.
	sigemptyset(&waits);
	sigaddset(&waits, SIGUSR1);
	sigaddset(&waits, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &waits, NULL);
	sigdelset(&waits, SIGCHLD);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &a, NULL);
	a.sa_handler = on_fault;
	sigaction(SIGSEGV, &a, NULL);
	signal(SIGUSR2, ignore);
	pthread_create(&thread, NULL, waiter, &waits);
	tell("before");
	long wrong = cast(40);
	tell("after");

	// A handler of profilers that comes late; the next communicator finds it.
	a.sa_handler = on_profile;
	sigaction(SIGPROF, &a, NULL);
	MPI_Comm other;
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	for (int i = 0; i < 10; i++) {
		static char buf[BYTES];
		MPI_Bcast(buf, BYTES, MPI_BYTE, 0, other);
	}
	struct itimerval often = {{0, 500}, {0, 500}};
	setitimer(ITIMER_REAL, &often, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	int told = 0;
	for (int all = 0; !all;) {
		wrong += cast(20);
		int enough = waited >= WAITED && alarms >= 100 && profiles >= 3;
		// Each is sent when the last one has come: signals of a kind do not add up.
		for (int i = 0; i < 20 && waited < WAITED; i++)
			if (waited >= told) {
				told = waited + 1;
				kill(getpid(), SIGUSR1);
			}
		MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	struct itimerval never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &never, NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	pthread_join(thread, NULL);
	printf("rank %d: %ld bytes are wrong, %d signals waited for; handlers have too little stack: %d\n", rank, wrong, waited, narrow);
	MPI_Comm_free(&other);
	MPI_Finalize();
	return wrong != 0;
}
