// A rank's part of a schedule, performed below Go: see Scheduler.

#ifndef TOPOCAST_STEPS_H
#define TOPOCAST_STEPS_H

#include "shim.h"

// tc_step is mpi.Step.
typedef struct {
	uint8_t kind;
	int64_t peer, offset, length;
	int64_t recv_peer, recv_offset, recv_length;
} tc_step;

enum { TC_SEND, TC_RECV, TC_EXCHANGE };

// tc_performed tells how the steps went: the step that failed, and how. Its code
// is MPI_SUCCESS for a message that is too short, of so many bytes.
typedef struct {
	int step; // n: none has failed
	int code;
	int count;
	int stranded; // transfers are under way for good
} tc_performed;

// A part is what one side of a step moves.
typedef struct {
	unsigned char *buf;
	int n, peer;
} tc_part;

static inline tc_part tc_sent(unsigned char *buf, const tc_step *s) {
	tc_part p = {buf + s->offset, (int)s->length, (int)s->peer};
	return p;
}

static inline tc_part tc_received(unsigned char *buf, const tc_step *s) {
	if (s->kind == TC_EXCHANGE) {
		tc_part p = {buf + s->recv_offset, (int)s->recv_length, (int)s->recv_peer};
		return p;
	}
	return tc_sent(buf, s);
}

// tc_in_order performs the steps one after the other.
static inline tc_performed tc_in_order(unsigned char *buf, int n, const tc_step *steps, int tag, MPI_Comm comm, int spin, tc_guard guard) {
	tc_performed done = {n, MPI_SUCCESS, -1, 0};
	for (int i = 0; i < n; i++) {
		tc_part out = tc_sent(buf, &steps[i]), in = tc_received(buf, &steps[i]);
		tc_result got = {MPI_SUCCESS, in.n};
		MPI_Request sending = MPI_REQUEST_NULL;
		switch (steps[i].kind) {
		case TC_SEND:
			got.code = tc_put(out.buf, out.n, out.peer, tag, comm, spin);
			break;
		case TC_EXCHANGE:
			got.code = MPI_Isend(out.buf, out.n, MPI_BYTE, out.peer, tag, comm, &sending);
			if (got.code != MPI_SUCCESS)
				break;
			// fall through
		case TC_RECV:
			got = tc_take(in.buf, in.n, in.peer, tag, comm, spin, guard);
		}
		if (got.code == MPI_SUCCESS && got.count == in.n && sending != MPI_REQUEST_NULL) {
			MPI_Status status;
			got.code = tc_wait(&sending, &status, spin);
		}
		if (got.code != MPI_SUCCESS || got.count != in.n) {
			tc_performed failed = {i, got.code, got.count, sending != MPI_REQUEST_NULL};
			return failed;
		}
	}
	return done;
}

// A stage is one receive and the sends that follow it, of which there are two
// at once. A rank that only sends makes a new one after TC_STAGE of them.
enum { TC_STAGE = 32 };

typedef struct {
	int n;
	MPI_Request requests[TC_STAGE];
	int steps[TC_STAGE]; // by request
} tc_stage;

// tc_end_stage waits for the sends of a stage.
static inline tc_performed tc_end_stage(tc_stage *stage, int n, int spin) {
	tc_performed done = {n, MPI_SUCCESS, -1, 0};
	for (int k = 0; k < stage->n; k++) {
		MPI_Status status;
		int code = tc_wait(&stage->requests[k], &status, spin);
		if (code != MPI_SUCCESS) {
			tc_performed failed = {stage->steps[k], code, -1, 1};
			return failed;
		}
	}
	stage->n = 0;
	return done;
}

// tc_ahead keeps the next receive posted while it waits for the current one, and
// lets the sends of one stage run on during the next.
static inline tc_performed tc_ahead(unsigned char *buf, int n, const tc_step *steps, int tag, MPI_Comm comm, int spin) {
	tc_performed done = {n, MPI_SUCCESS, -1, 0};
	MPI_Request recvs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	tc_stage stages[2];
	int current = 0, send = 0, next = 0; // the sets in use, and the step up to which receives are posted
	stages[0].n = stages[1].n = 0;
	for (int i = -1; i < n; i++) { // -1: the first receive is posted before anything is sent
		int kind = i < 0 ? TC_RECV : steps[i].kind;
		if (i >= 0 && kind != TC_RECV) {
			if (stages[send].n == TC_STAGE) {
				send = 1 - send;
				done = tc_end_stage(&stages[send], n, spin);
				if (done.step < n)
					return done;
			}
			tc_stage *stage = &stages[send];
			tc_part out = tc_sent(buf, &steps[i]);
			int code = MPI_Isend(out.buf, out.n, MPI_BYTE, out.peer, tag, comm, &stage->requests[stage->n]);
			if (code != MPI_SUCCESS) {
				tc_performed failed = {i, code, -1, 1};
				return failed;
			}
			stage->steps[stage->n++] = i;
		}
		if (kind == TC_SEND)
			continue;
		while (next < n && steps[next].kind == TC_SEND)
			next++;
		if (next < n) {
			tc_part in = tc_received(buf, &steps[next]);
			int code = MPI_Irecv(in.buf, in.n, MPI_BYTE, in.peer, tag, comm, &recvs[i < 0 ? current : 1 - current]);
			if (code != MPI_SUCCESS) {
				tc_performed failed = {next, code, -1, 1};
				return failed;
			}
			next++;
		}
		if (i < 0)
			continue;
		MPI_Status status;
		int count = -1, code = tc_wait(&recvs[current], &status, spin);
		if (code == MPI_SUCCESS)
			MPI_Get_count(&status, MPI_BYTE, &count);
		if (code != MPI_SUCCESS || count != tc_received(buf, &steps[i]).n) {
			tc_performed failed = {i, code, count, 1};
			return failed;
		}
		current = 1 - current;
		if (stages[send].n > 0) {
			send = 1 - send;
			done = tc_end_stage(&stages[send], n, spin);
			if (done.step < n)
				return done;
		}
	}
	done = tc_end_stage(&stages[1 - send], n, spin);
	return done.step < n ? done : tc_end_stage(&stages[send], n, spin);
}

static inline tc_performed tc_perform(unsigned char *buf, int n, const tc_step *steps, int tag, int ahead, MPI_Comm comm, int spin, tc_guard guard) {
	tc_performed ended = {0, TC_ENDED, -1, 0};
	if (tc_ended())
		return ended;
	return ahead ? tc_ahead(buf, n, steps, tag, comm, spin) : tc_in_order(buf, n, steps, tag, comm, spin, guard);
}

#endif
