// Loaded into MPICH's processes, besides wait.c.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

// MPI_Finalize of MPICH 4.0 closes its connections and then waits for the
// others without answering theirs, which may need an answer to close: the job
// hangs. So do not close them one by one, but send what is left to send, for
// at most half a second; the end of the process closes them.
static void *worker;

int ucp_worker_create(void *context, const void *params, void **out) {
	int (*next)(void *, const void *, void **);
	*(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_create");
	int status = next(context, params, out);
	if (!worker)
		worker = *out;
	return status;
}

static void ignore(void *request, int status) {}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

void *ucp_disconnect_nb(void *endpoint) {
	void *(*flush)(void *, unsigned, void (*)(void *, int));
	unsigned (*progress)(void *);
	int (*status)(void *);
	if (!worker)
		return 0;
	*(void **)&flush = dlsym(RTLD_DEFAULT, "ucp_worker_flush_nb");
	*(void **)&progress = dlsym(RTLD_DEFAULT, "ucp_worker_progress");
	*(void **)&status = dlsym(RTLD_DEFAULT, "ucp_request_check_status");
	void *request = flush(worker, 0, ignore);
	long code = (long)request;
	if (code < 0 && code > -200) // an error, not a request
		request = 0;
	for (double end = now() + 0.5; request && status(request) == 1 && now() < end;)
		progress(worker);
	worker = 0;
	return 0;
}
