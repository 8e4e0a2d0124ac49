// Wrappers around the calls that start and end MPI, and make communicators: see
// nativeLibrary in seam.go.

#ifndef TOPOCAST_LIBRARY_H
#define TOPOCAST_LIBRARY_H

#include "shim.h"

static inline int tc_started(void) {
	int started = 0;
	MPI_Initialized(&started);
	return started;
}

// The thread level is the least that the standard allows a Go program, whose
// goroutines have threads. Open MPI makes a round trip between cores some 20 %
// slower for it than at MPI_THREAD_SINGLE.
static inline int tc_start(int *provided) {
	int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided);
	if (code == MPI_SUCCESS) {
		tc_shared = 0;
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	}
	return code;
}

// tc_meet returns when all ranks have called it.
static inline int tc_meet(MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	MPI_Status status;
	int code = MPI_Ibarrier(comm, &request);
	return code != MPI_SUCCESS ? code : tc_wait(&request, &status, spin);
}

static inline int tc_finalize(void) { return MPI_Finalize(); }

// tc_give_up ends MPI if all ranks give up within so many nanoseconds. One that
// is alone would wait in MPI_Finalize for the others, which go on.
static inline void tc_give_up(int64_t limit) {
	MPI_Request request;
	int done = 0;
	if (tc_ended() || MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return;
	for (int64_t start = tc_now(); !done; sched_yield())
		if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || tc_now() - start > limit)
			return;
	MPI_Finalize();
}

// tc_leave ends the job with status 0 from within MPI_Finalize, on any thread.
static inline void tc_leave(void) { MPI_Abort(MPI_COMM_WORLD, 0); }

// tc_abort still aborts while MPI_Finalize hangs.
static inline void tc_abort(int code) {
	int ended = 0;
	MPI_Finalized(&ended);
	if (!ended)
		MPI_Abort(MPI_COMM_WORLD, code);
}

static inline int tc_dup_world(MPI_Comm *comm) {
	int code = tc_watch_end();
	if (code != MPI_SUCCESS)
		return code;
	MPI_Errhandler found = tc_hush(tc_shared);
	code = MPI_Comm_dup(MPI_COMM_WORLD, comm);
	tc_unhush(found);
	if (code == MPI_SUCCESS)
		MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
	return code;
}

// A negative color is that of a rank in no group; its communicator is null.
static inline int tc_split(MPI_Comm parent, int color, int key, MPI_Comm *comm) {
	if (tc_ended())
		return TC_ENDED;
	int code = MPI_Comm_split(parent, color < 0 ? MPI_UNDEFINED : color, key, comm);
	if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL)
		MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
	return code;
}

static inline int tc_is_null(MPI_Comm comm) { return comm == MPI_COMM_NULL; }

static inline int tc_free(MPI_Comm *comm) { return tc_ended() ? TC_ENDED : MPI_Comm_free(comm); }

static inline int tc_is_mpich(void) {
#ifdef MPICH_VERSION
	return 1;
#else
	return 0;
#endif
}

// Whole pages, written once, so that no page fault falls into a reading.
static inline void *tc_pages(size_t n) {
	void *p = NULL;
	if (posix_memalign(&p, 4096, n) != 0)
		return NULL;
	memset(p, 1, n);
	return p;
}

#endif
