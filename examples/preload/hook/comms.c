// The communicators of the program. The states of the collectives on each are an attribute of it, and are freed with it.

#include "preload.h"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t tp_lock = PTHREAD_MUTEX_INITIALIZER; // of the variables of this file
static int tp_key, tp_has_key = 0;
static int tp_ended = 0; // MPI_Finalize has begun, and the report is written
static tp_comm *tp_all = NULL;
static tp_tally tp_total[TP_COLLECTIVES][TP_CLASSES]; // of communicators that are freed

// A tp_set is the value of the attribute. Collectives without a call have no state.
typedef struct {
	tp_comm *of[TP_COLLECTIVES];
} tp_set;

uint64_t tp_generation = 1;

static void tp_add(const tp_comm *s) {
	for (int i = 0; i < TP_CLASSES; i++) {
		tp_tally *to = &tp_total[s->collective][i];
		const tp_tally *t = &s->tallies[i];
		to->calls += t->calls - s->passes[i].left, to->ours += t->ours, to->bytes += t->bytes;
		to->seconds += t->seconds, to->gain += t->gain;
	}
}

static void tp_forget(tp_comm *s) {
	pthread_mutex_lock(&tp_lock);
	int ended = tp_ended;
	if (!ended)
		tp_add(s);
	if ((*s->link = s->next) != NULL)
		s->next->link = s->link;
	__atomic_add_fetch(&tp_generation, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tp_lock);
	// MPICH frees a communicator when its last transfer ends, which may be in a call of ours. Nothing collective
	// may be done there, so the server's communicator stays.
	if (!ended && tp_inside == 0)
		tp_detach(s);
	for (int i = 0; i < TP_CLASSES; i++)
		free(s->choices[i]);
	free(s->packed);
	free(s);
}

// tp_freed is called when a communicator is freed. That is collective, and so is this function.
static int tp_freed(tp_handle comm, int key, void *value, void *unused) {
	tp_set *set = value;
	for (int i = 0; i < TP_COLLECTIVES; i++)
		if (set->of[i] != NULL)
			tp_forget(set->of[i]);
	free(set);
	return TP_SUCCESS;
}

// tp_end is called when MPI_Finalize begins, by whatever name: the first thing that MPI_Finalize does is to
// delete the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1). Attributes of the program that are deleted
// later may still broadcast, and all ranks have to choose alike then, too. So only the counting ends
// here. No communicator is freed, since the ranks may come here in any order.
static int tp_end(tp_handle self, int key, void *value, void *unused) {
	int rank;
	pthread_mutex_lock(&tp_lock);
	tp_ended = 1;
	for (const tp_comm *s = tp_all; s != NULL; s = s->next)
		tp_add(s);
	pthread_mutex_unlock(&tp_lock);
	if (tp_mpi.Comm_rank(tp_mpi.abi.comm_world, &rank) == TP_SUCCESS && rank == 0 && tp_has_go()) {
		tp_inside++;
		tp_enter();
		tp_go.report(tp_total[0], tp_servers_made);
		tp_leave();
		tp_inside--;
	}
	tp_forget_alone();
	return TP_SUCCESS;
}

static int tp_copy_none(tp_handle comm, int key, void *unused, void *value, void *copy, int *is_copied) {
	*is_copied = 0;
	return TP_SUCCESS;
}

// tp_begin tells whether MPI runs. The first time that it does, tp_begin makes the attributes.
static int tp_begin(void) {
	int running = 0, over = 1, end;
	if (tp_mpi.Initialized(&running) != TP_SUCCESS || !running || tp_mpi.Finalized(&over) != TP_SUCCESS || over)
		return 0;
	if (!tp_has_key)
		tp_has_key = tp_mpi.Comm_create_keyval(tp_copy_none, tp_end, &end, NULL) == TP_SUCCESS &&
		             tp_mpi.Comm_set_attr(tp_mpi.abi.comm_self, end, NULL) == TP_SUCCESS &&
		             tp_mpi.Comm_free_keyval(&end) == TP_SUCCESS && // the attribute stays
		             tp_mpi.Comm_create_keyval(tp_copy_none, tp_freed, &tp_key, NULL) == TP_SUCCESS;
	return tp_has_key;
}

// tp_register makes the state of a collective on a communicator. It sends nothing.
static tp_comm *tp_register(tp_handle comm, int collective) {
	enum { TP_FIRST_DUE = 1000 };
	int inter;
	tp_comm *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->comm = comm, s->collective = collective;
	if (tp_mpi.Comm_rank(comm, &s->rank) != TP_SUCCESS || tp_mpi.Comm_size(comm, &s->size) != TP_SUCCESS ||
	    tp_mpi.Comm_test_inter(comm, &inter) != TP_SUCCESS) {
		free(s);
		return NULL;
	}
	s->stage = inter || s->size == 1 ? TP_OFF : TP_NEW;
	s->roots = collective == TP_ALLREDUCE ? 1 : s->size;
	for (int i = 0; i < TP_CLASSES; i++)
		s->due[i] = TP_FIRST_DUE;
	pthread_mutex_lock(&tp_lock);
	if ((s->next = tp_all) != NULL)
		tp_all->link = &s->next;
	tp_all = s, s->link = &tp_all;
	pthread_mutex_unlock(&tp_lock);
	return s;
}

tp_comm *tp_find(tp_handle comm, int collective) {
	tp_set *set = NULL;
	int found = 0;
	pthread_mutex_lock(&tp_lock);
	int running = tp_begin();
	pthread_mutex_unlock(&tp_lock);
	if (!running || comm == tp_mpi.abi.comm_null || tp_mpi.Comm_get_attr(comm, tp_key, &set, &found) != TP_SUCCESS)
		return NULL;
	if (!found && ((set = calloc(1, sizeof *set)) == NULL || tp_mpi.Comm_set_attr(comm, tp_key, set) != TP_SUCCESS)) {
		free(set);
		return NULL;
	}
	if (set->of[collective] == NULL)
		set->of[collective] = tp_register(comm, collective);
	return set->of[collective];
}
