// The communicators of the program: what is known of each is an attribute of it, and goes with it.

#include "preload.h"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t tp_lock = PTHREAD_MUTEX_INITIALIZER; // of what stands here
static int tp_key = MPI_KEYVAL_INVALID;
static int tp_ended = 0; // MPI_Finalize has begun, and what is reported is counted
static tp_comm *tp_all = NULL;
static tp_tally tp_total[TP_CLASSES]; // of communicators that are gone

uint64_t tp_generation = 1;

static void tp_add(const tp_comm *s) {
	for (int i = 0; i < TP_CLASSES; i++) {
		tp_tally *to = &tp_total[i];
		const tp_tally *t = &s->tallies[i];
		to->calls += t->calls - s->passes[i].left, to->ours += t->ours, to->bytes += t->bytes;
		to->seconds += t->seconds, to->gain += t->gain;
	}
}

// tp_drop is called when a communicator is freed. That is collective, and so is what it does.
static int tp_drop(MPI_Comm comm, int key, void *value, void *unused) {
	tp_comm *s = value;
	pthread_mutex_lock(&tp_lock);
	int ended = tp_ended;
	if (!ended)
		tp_add(s);
	if ((*s->link = s->next) != NULL)
		s->next->link = s->link;
	__atomic_add_fetch(&tp_generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tp_lock);
	// MPICH frees a communicator when its last transfer ends, and so perhaps in a call of ours, where nothing
	// collective may be done: what the Broadcaster has stays then.
	if (!ended && tp_inside == 0)
		tp_detach(s);
	for (int i = 0; i < TP_CLASSES; i++)
		free(s->choices[i]);
	free(s->packed);
	free(s);
	return MPI_SUCCESS;
}

// tp_end is called when MPI_Finalize begins, by whatever name: the first thing that it does is to
// delete the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1). Those of the program that are deleted
// later may broadcast still, and all ranks go the same way then, too: so nothing ends here
// but the counting. It frees no communicator: their ranks may come here in any order.
static int tp_end(MPI_Comm self, int key, void *value, void *unused) {
	int rank;
	pthread_mutex_lock(&tp_lock);
	tp_ended = 1;
	for (const tp_comm *s = tp_all; s != NULL; s = s->next)
		tp_add(s);
	pthread_mutex_unlock(&tp_lock);
	if (tp_mpi.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0 && tp_has_go()) {
		tp_inside++;
		tp_enter();
		tp_go.report(tp_total, tp_broadcasters_made);
		tp_leave();
		tp_inside--;
	}
	tp_forget_alone();
	return MPI_SUCCESS;
}

static int tp_copy_none(MPI_Comm comm, int key, void *unused, void *value, void *copy, int *is_copied) {
	*is_copied = 0;
	return MPI_SUCCESS;
}

// tp_begin prepares all this when it is first called after MPI_Init.
static int tp_begin(void) {
	int running = 0, over = 1, end = MPI_KEYVAL_INVALID;
	if (tp_mpi.Initialized(&running) != MPI_SUCCESS || !running || tp_mpi.Finalized(&over) != MPI_SUCCESS || over)
		return 0;
	if (tp_key != MPI_KEYVAL_INVALID)
		return 1;
	return tp_mpi.Comm_create_keyval(tp_copy_none, tp_end, &end, NULL) == MPI_SUCCESS &&
	       tp_mpi.Comm_set_attr(MPI_COMM_SELF, end, NULL) == MPI_SUCCESS &&
	       tp_mpi.Comm_free_keyval(&end) == MPI_SUCCESS && // the attribute stays
	       tp_mpi.Comm_create_keyval(tp_copy_none, tp_drop, &tp_key, NULL) == MPI_SUCCESS;
}

// tp_meet gets to know a communicator. It sends nothing.
static tp_comm *tp_meet(MPI_Comm comm) {
	enum { TP_FIRST_DUE = 1000 };
	int inter;
	tp_comm *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->comm = comm;
	if (tp_mpi.Comm_rank(comm, &s->rank) != MPI_SUCCESS || tp_mpi.Comm_size(comm, &s->size) != MPI_SUCCESS ||
	    tp_mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || tp_mpi.Comm_set_attr(comm, tp_key, s) != MPI_SUCCESS) {
		free(s);
		return NULL;
	}
	s->stage = inter || s->size == 1 ? TP_OFF : TP_NEW;
	for (int i = 0; i < TP_CLASSES; i++)
		s->due[i] = TP_FIRST_DUE;
	pthread_mutex_lock(&tp_lock);
	if ((s->next = tp_all) != NULL)
		tp_all->link = &s->next;
	tp_all = s, s->link = &tp_all;
	pthread_mutex_unlock(&tp_lock);
	return s;
}

tp_comm *tp_find(MPI_Comm comm) {
	tp_comm *s = NULL;
	int found = 0;
	pthread_mutex_lock(&tp_lock);
	int running = tp_begin();
	pthread_mutex_unlock(&tp_lock);
	if (!running || comm == MPI_COMM_NULL || tp_mpi.Comm_get_attr(comm, tp_key, &s, &found) != MPI_SUCCESS)
		return NULL;
	return found ? s : tp_meet(comm);
}
