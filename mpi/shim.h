// Static wrappers around the calls of MPI that package mpi makes. They exist
// because cgo cannot see MPI's macros, because the handles of the libraries
// differ in type, and because a wait that may yield has to stay below Go.
//
// Buffers of Go are pointers to bytes, not to void: see data in comm_mpi.go.
//
// Every wrapper returns MPI's own code, or TC_ENDED when MPI has been
// finalised: MPI would end the process on any further call.

#ifndef TOPOCAST_SHIM_H
#define TOPOCAST_SHIM_H

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What is part of a library between a program and MPI calls it in a way of its own (examples/preload).
#ifdef TC_HEADER
#include TC_HEADER
#endif

#if UINTPTR_MAX < UINT64_MAX
#error "topocast talks to MPI on 64-bit systems only"
#endif

#define TC_ENDED (-1)

// TC_PENDING is the code of a request that is not complete. No code of MPI is
// negative.
#define TC_PENDING (-2)

typedef struct {
	int code;
	int count; // bytes received; -1 if that does not apply
} tc_result;

// tc_finalized is set when MPI_Finalize begins: tc_watch_end has asked for that
// before the first communicator was made. MPI_Finalized would tell the same, but
// costs as much as a short MPI_Bcast does (10 to 20 ns in Open MPI 4.1).
extern int tc_finalized;
int tc_watch_end(void);

// tc_shared is cleared when we start MPI. Else somebody else has, who may rely on
// the error handler of MPI_COMM_WORLD.
extern int tc_shared;

// tc_hush lets MPI_COMM_WORLD return its errors, if it is asked to, and tc_unhush
// gives it the handler back that tc_hush has found there.
static inline MPI_Errhandler tc_hush(int wanted) {
	MPI_Errhandler found = MPI_ERRHANDLER_NULL;
	if (wanted && MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found) == MPI_SUCCESS)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	return found;
}

static inline void tc_unhush(MPI_Errhandler found) {
	if (found == MPI_ERRHANDLER_NULL)
		return;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, found);
	MPI_Errhandler_free(&found);
}

// MPICH 4.0.2 gives errors of requests to the handler of MPI_COMM_WORLD, instead of
// that of their communicator.
#ifdef MPICH_VERSION
#define TC_ERRORS_OF_REQUESTS tc_shared
#else
#define TC_ERRORS_OF_REQUESTS 0
#endif

static inline int tc_ended(void) { return tc_finalized; }

// tc_poll is called after a poll in vain, with the number of polls that are left
// before it gives the core away, and returns that number for the next one. It
// counts down, since a wait may take more polls than an int holds.
static inline int tc_poll(int left) {
	if (left > 0)
		return left - 1;
	sched_yield();
	return 0;
}

// tc_wait completes a request. With spin > 0 it polls that often and then
// gives the core away between polls: MPICH never does so by itself, and ranks
// that outnumber the cores would wait for each other's time slices.
static inline int tc_wait(MPI_Request *request, MPI_Status *status, int spin) {
	MPI_Errhandler found = tc_hush(TC_ERRORS_OF_REQUESTS);
	int done = 0, code;
	if (spin == 0)
		code = MPI_Wait(request, status);
	else
		while ((code = MPI_Test(request, &done, status)) == MPI_SUCCESS && !done)
			spin = tc_poll(spin);
	tc_unhush(found);
	return code;
}

// tc_put and tc_get are the blocking transfers, for a caller that knows MPI to
// be running.

static inline int tc_put(void *buf, int n, int dst, int tag, MPI_Comm comm, int spin) {
	if (spin == 0)
		return MPI_Send(buf, n, MPI_BYTE, dst, tag, comm);
	MPI_Request request;
	MPI_Status status;
	int code = MPI_Isend(buf, n, MPI_BYTE, dst, tag, comm, &request);
	return code != MPI_SUCCESS ? code : tc_wait(&request, &status, spin);
}

static inline int tc_get(void *buf, int n, int src, int tag, MPI_Comm comm, int spin, MPI_Status *status) {
	if (spin == 0)
		return MPI_Recv(buf, n, MPI_BYTE, src, tag, comm, status);
	MPI_Request request;
	int code = MPI_Irecv(buf, n, MPI_BYTE, src, tag, comm, &request);
	return code != MPI_SUCCESS ? code : tc_wait(&request, status, spin);
}

static inline int tc_send(unsigned char *buf, int n, int dst, int tag, MPI_Comm comm, int spin) {
	return tc_ended() ? TC_ENDED : tc_put(buf, n, dst, tag, comm, spin);
}

static inline int tc_ssend(unsigned char *buf, int n, int dst, int tag, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	if (spin == 0)
		return MPI_Ssend(buf, n, MPI_BYTE, dst, tag, comm);
	MPI_Request request;
	MPI_Status status;
	int code = MPI_Issend(buf, n, MPI_BYTE, dst, tag, comm, &request);
	return code != MPI_SUCCESS ? code : tc_wait(&request, &status, spin);
}

// tc_overruns tells whether a message that is longer than the buffer may be
// written past its end. Open MPI's ob1 does so when the receiver reads from
// the sender's memory by itself (4.1.4, messages above 4 KiB between ranks of
// one host). That is taken for granted unless the single copy is known to be
// off; it goes by the name of Open MPI 4's variable, where 3 stands for none.
// Asking takes tens of milliseconds, so it is done once.
static inline int tc_overruns(void) {
	static int overruns = -1;
	if (overruns >= 0)
		return overruns;
	overruns = 0;
#ifdef OPEN_MPI
	overruns = 1;
	int provided, index, count, mechanism;
	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
		return overruns;
	MPI_T_cvar_handle handle;
	if (MPI_T_cvar_get_index("btl_vader_single_copy_mechanism", &index) == MPI_SUCCESS &&
	    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
		if (count == 1 && MPI_T_cvar_read(handle, &mechanism) == MPI_SUCCESS)
			overruns = mechanism != 3;
		MPI_T_cvar_handle_free(&handle);
	}
	MPI_T_finalize();
#endif
	return overruns;
}

// tc_guard says how a receive is kept within its buffer; see tc_overruns.
typedef struct {
	int overruns; // the library writes past the end of a buffer
	void *landing; // room for the longest message there is; NULL: none
} tc_guard;

// A message of up to TC_LANDED bytes is received where there is room for any,
// and copied: 20 ns for some bytes, and at most as much as looking costs.
enum { TC_LANDED = 4096 };

static inline int tc_get_landed(void *buf, int n, int src, int tag, MPI_Comm comm, int spin, void *landing, MPI_Status *status) {
	int count, code = tc_get(landing, n, src, tag, comm, spin, status);
	if (code == MPI_SUCCESS && MPI_Get_count(status, MPI_BYTE, &count) == MPI_SUCCESS)
		memcpy(buf, landing, count);
	return code;
}

// tc_get_probed looks at the length of the message first, and takes one that is
// too long elsewhere. That makes round trips of short messages half as long
// again, and is hardly to be seen from 16 KiB on.
static inline int tc_get_probed(void *buf, int n, int src, int tag, MPI_Comm comm, int spin, MPI_Status *status) {
	MPI_Message message;
	int found = 0, count, code;
	if (spin == 0)
		code = MPI_Mprobe(src, tag, comm, &message, status);
	else
		for (int left = spin; (code = MPI_Improbe(src, tag, comm, &found, &message, status)) == MPI_SUCCESS && !found;)
			left = tc_poll(left);
	if (code != MPI_SUCCESS)
		return code;
	MPI_Get_count(status, MPI_BYTE, &count);
	void *other = NULL;
	if (count > n) {
		if ((other = malloc(count)) == NULL)
			return MPI_ERR_TRUNCATE;
		buf = other, n = count;
	}
	if (spin == 0) {
		code = MPI_Mrecv(buf, n, MPI_BYTE, &message, status);
	} else {
		MPI_Request request;
		code = MPI_Imrecv(buf, n, MPI_BYTE, &message, &request);
		if (code == MPI_SUCCESS)
			code = tc_wait(&request, status, spin);
	}
	free(other);
	return code == MPI_SUCCESS && other != NULL ? MPI_ERR_TRUNCATE : code;
}

// tc_take is a blocking receive that stays within its buffer.
static inline tc_result tc_take(void *buf, int n, int src, int tag, MPI_Comm comm, int spin, tc_guard guard) {
	tc_result result = {MPI_SUCCESS, -1};
	MPI_Status status;
	if (!guard.overruns)
		result.code = tc_get(buf, n, src, tag, comm, spin, &status);
	else if (guard.landing != NULL && n <= TC_LANDED)
		result.code = tc_get_landed(buf, n, src, tag, comm, spin, guard.landing, &status);
	else
		result.code = tc_get_probed(buf, n, src, tag, comm, spin, &status);
	if (result.code == MPI_SUCCESS)
		MPI_Get_count(&status, MPI_BYTE, &result.count);
	return result;
}

static inline tc_result tc_recv(unsigned char *buf, int n, int src, int tag, MPI_Comm comm, int spin, tc_guard guard) {
	tc_result ended = {TC_ENDED, -1};
	return tc_ended() ? ended : tc_take(buf, n, src, tag, comm, spin, guard);
}

static inline int tc_isend(unsigned char *buf, int n, int dst, int tag, MPI_Comm comm, MPI_Request *request) {
	return tc_ended() ? TC_ENDED : MPI_Isend(buf, n, MPI_BYTE, dst, tag, comm, request);
}

static inline int tc_irecv(unsigned char *buf, int n, int src, int tag, MPI_Comm comm, MPI_Request *request) {
	return tc_ended() ? TC_ENDED : MPI_Irecv(buf, n, MPI_BYTE, src, tag, comm, request);
}

// tc_waitall completes the requests one after the other; MPI drives all of
// them while it waits for one. Unlike MPI_Waitall this gives each request its
// own code, and leaves none pending after an error.
static inline int tc_waitall(int n, MPI_Request *requests, tc_result *results, int spin) {
	if (tc_ended())
		return TC_ENDED;
	for (int i = 0; i < n; i++) {
		MPI_Status status;
		if (results[i].code != TC_PENDING)
			continue;
		results[i].code = tc_wait(&requests[i], &status, spin);
		if (results[i].code == MPI_SUCCESS)
			MPI_Get_count(&status, MPI_BYTE, &results[i].count);
	}
	return MPI_SUCCESS;
}

// tc_test completes the i-th request if it can, and tells whether it is pending still.
static inline int tc_test(int i, MPI_Request *requests, tc_result *results) {
	int done = 0;
	MPI_Status status;
	if (results[i].code != TC_PENDING)
		return 0;
	int code = MPI_Test(&requests[i], &done, &status);
	if (code == MPI_SUCCESS && !done)
		return 1;
	results[i].code = code;
	if (code == MPI_SUCCESS)
		MPI_Get_count(&status, MPI_BYTE, &results[i].count);
	return 0;
}

// tc_waitany completes one of the requests that are pending and returns its
// index, n if none is.
static inline int tc_waitany(int n, MPI_Request *requests, tc_result *results, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Errhandler found = tc_hush(TC_ERRORS_OF_REQUESTS);
	int first = -1;
	for (int pending = 1; pending && first < 0;) {
		pending = 0;
		for (int i = 0; i < n && first < 0; i++) {
			if (results[i].code != TC_PENDING)
				continue;
			pending = 1;
			if (!tc_test(i, requests, results))
				first = i;
		}
		if (spin > 0 && pending && first < 0)
			spin = tc_poll(spin - 1) + 1;
	}
	tc_unhush(found);
	return first < 0 ? n : first;
}

// tc_testall completes what it can without waiting, and returns how many
// requests are left pending.
static inline int tc_testall(int n, MPI_Request *requests, tc_result *results, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Errhandler found = tc_hush(TC_ERRORS_OF_REQUESTS);
	int left = 0;
	for (int i = 0; i < n; i++)
		left += tc_test(i, requests, results);
	tc_unhush(found);
	if (left > 0 && spin > 0)
		sched_yield();
	return left;
}

static inline int tc_ibcast(unsigned char *buf, int n, int root, MPI_Comm comm, MPI_Request *request) {
	return tc_ended() ? TC_ENDED : MPI_Ibcast(buf, n, MPI_BYTE, root, comm, request);
}

static inline int tc_bcast(unsigned char *buf, int n, int root, MPI_Comm comm) {
	return tc_ended() ? TC_ENDED : MPI_Bcast(buf, n, MPI_BYTE, root, comm);
}

static inline int64_t tc_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// tc_pingpong stores the times of iters round trips each, in seconds. Its
// count is the length of the last message received.
static inline tc_result tc_pingpong(void *buf, int n, int peer, int tag, MPI_Comm comm, int spin,
                                    int first, int iters, int samples, double *seconds) {
	tc_result result = {TC_ENDED, -1};
	if (tc_ended())
		return result;
	MPI_Status status;
	for (int s = 0; s < samples; s++) {
		int64_t start = tc_now();
		for (int i = 0; i < iters; i++) {
			if (first && (result.code = tc_put(buf, n, peer, tag, comm, spin)) != MPI_SUCCESS)
				return result;
			if ((result.code = tc_get(buf, n, peer, tag, comm, spin, &status)) != MPI_SUCCESS)
				return result;
			if (!first && (result.code = tc_put(buf, n, peer, tag, comm, spin)) != MPI_SUCCESS)
				return result;
		}
		seconds[s] = (double)(tc_now() - start) * 1e-9;
	}
	MPI_Get_count(&status, MPI_BYTE, &result.count);
	return result;
}

#endif
