// What the ranks of a communicator decide together. They use MPI's own operations on that communicator, inside
// a call that all of them have made. That needs no communicator of our own, and meets no message of
// the program.

#include "preload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// tp_least is collective: all ranks get the least of each value. It tells whether that went well.
static int tp_least(tp_comm *s, double *values, int n) {
	return tp_mpi.Allreduce(tp_mpi.abi.in_place, values, n, tp_mpi.abi.real, tp_mpi.abi.min, s->comm) == TP_SUCCESS;
}

// tp_is_of_world tells whether all ranks are of this MPI_COMM_WORLD, and so started alike. The answer is the
// same on all of them.
static int tp_is_of_world(tp_comm *s) {
	if (s->comm == tp_mpi.abi.comm_world)
		return 1;
	tp_handle own = 0, world = 0;
	int inside = 1, *ranks = malloc(2 * sizeof(int) * s->size);
	if (ranks == NULL)
		abort();
	tp_mpi.Comm_group(s->comm, &own);
	tp_mpi.Comm_group(tp_mpi.abi.comm_world, &world);
	for (int i = 0; i < s->size; i++)
		ranks[i] = i;
	if (tp_mpi.Group_translate_ranks(own, s->size, ranks, world, ranks + s->size) != TP_SUCCESS)
		inside = 0;
	for (int i = 0; i < s->size && inside; i++)
		inside = ranks[s->size + i] != TP_UNDEFINED;
	tp_mpi.Group_free(&own);
	tp_mpi.Group_free(&world);
	free(ranks);
	return inside;
}

// Each server takes a communicator, of which MPICH has some 2,000.
enum { TP_MOST = 64 };
static int tp_servers = 0; // without a lock: where there are any, one thread calls MPI at a time

int tp_servers_made = 0;

// tp_learn stores what the server has decided for a class of sizes, at a call from some root; TP_NO_ROOT: before all calls.
enum { TP_NO_ROOT = -1 };
static void tp_learn(tp_comm *s, int class, int root) {
	tp_choice *old = s->choices[class], *choices = calloc(s->roots, sizeof *choices);
	if (choices == NULL)
		abort();
	if (!tp_go.choices(s->handle, class, s->roots, choices)) {
		free(choices);
		choices = NULL;
	}
	for (int i = 0; i < s->roots && choices != NULL; i++) {
		if (choices[i].variant != TP_OURS)
			continue;
		if (root == TP_NO_ROOT)
			choices[i].variant = TP_STORED;
		else if (old != NULL && old[i].variant == TP_STORED)
			choices[i] = (tp_choice){i == root ? TP_OURS : TP_STORED, old[i].gain};
	}
	s->choices[class] = choices;
	free(old);
}

// tp_attach is collective: it makes a server, on all ranks or on none, and returns the next stage of the
// collective. The stage stays if there are too many servers, which may change.
static int tp_attach(tp_comm *s) {
	double made = !tp_has_go() ? -1 : tp_servers < TP_MOST;
	if (!tp_least(s, &made, 1) || made < 0)
		return TP_OFF;
	if (made == 0)
		return s->stage;
	tp_inside++;
	tp_enter();
	s->handle = tp_go.attach(&s->comm, s->collective, s->model, tp_lookup_mpi);
	tp_leave();
	made = s->handle != 0;
	int agreed = tp_least(s, &made, 1);
	tp_inside--;
	if (s->handle == 0)
		return TP_OFF;
	tp_servers++;
	tp_servers_made++;
	if (!agreed || made == 0) {
		tp_detach(s);
		return TP_OFF;
	}
	tp_enter();
	for (int i = 0; i < TP_CLASSES; i++)
		tp_learn(s, i, TP_NO_ROOT);
	tp_leave();
	return TP_ON;
}

void tp_detach(tp_comm *s) {
	if (s->handle == 0)
		return;
	tp_inside++;
	tp_enter();
	tp_go.close(s->handle);
	tp_leave();
	tp_inside--;
	s->handle = 0;
	tp_servers--;
}

// tp_first is collective: the ranks find out whether calls of ours may be used at all. Rank 0's network
// and settings apply; other ranks need none.
static void tp_first(tp_comm *s) {
	double v[TP_FINDINGS] = {1, 1, 1, INFINITY};
	int level = tp_mpi.abi.thread_multiple;
	s->stage = TP_OFF;
	if (!tp_is_of_world(s))
		return;
	tp_mpi.Query_thread(&level);
	int is_multiple = level == tp_mpi.abi.thread_multiple;
	if (s->rank == 0) {
		int world;
		tp_mpi.Comm_rank(tp_mpi.abi.comm_world, &world);
		v[TP_ABLE] = v[TP_MODEL] = v[TP_TUNED] = 0;
		tp_inside++;
		if (tp_has_go()) {
			tp_enter();
			tp_go.load(s->collective, s->size, is_multiple, world, v);
			tp_leave();
		}
		tp_inside--;
	}
	if (is_multiple)
		v[TP_ABLE] = 0;
	if (!tp_least(s, v, TP_FINDINGS) || v[TP_ABLE] == 0)
		return;
	s->model = v[TP_MODEL] != 0;
	s->patience = v[TP_PATIENCE];
	s->stage = s->model || v[TP_TUNED] != 0 ? TP_WAIT : TP_WATCH;
	if (s->patience > 0)
		return;
	s->moved = TP_ENOUGH;
	for (int i = 0; i < TP_CLASSES; i++)
		s->due[i] = 1;
}

// tp_count counts n calls of a class that are made without a look; a negative n takes them back.
static void tp_count(tp_comm *s, int class, int64_t n) {
	s->tallies[class].calls += n;
	if (s->stage == TP_NEW)
		s->calls += n;
	else if (s->choices[class] == NULL)
		s->watched[class] += n;
}

// tp_withdraw takes the remaining passes of a class back.
static void tp_withdraw(tp_comm *s, int class) {
	tp_count(s, class, -s->passes[class].left);
	s->passes[class].left = 0;
}

void tp_grant(tp_comm *s, int class, int root, int sampled) {
	const tp_choice *choices = s->choices[class];
	tp_withdraw(s, class); // another root's
	if (s->stage == TP_WAIT || (choices != NULL && choices[root].variant == TP_OPEN))
		return; // each call is looked at
	int64_t timed = (sampled / 2 - s->tallies[class].calls) & (sampled - 1), due = INT64_MAX;
	if (s->stage == TP_NEW)
		due = TP_MANY - s->calls;
	else if (s->stage != TP_OFF && choices == NULL)
		due = s->due[class] - s->watched[class];
	if (timed == 0)
		timed = sampled;
	int64_t n = (timed < due ? timed : due) - 1;
	if (n <= 0)
		return;
	tp_count(s, class, n);
	s->passes[class] = choices == NULL ? (tp_pass){n, 0, s->roots} : (tp_pass){n, root, 1};
}

int tp_decide(tp_comm *s, int class, int root, int64_t bytes) {
	for (int i = 0; i < TP_CLASSES; i++)
		tp_withdraw(s, i);
	if (s->stage == TP_NEW) {
		tp_first(s);
		return s->stage != TP_OFF && tp_is_due(s, class, bytes) && tp_decide(s, class, root, bytes);
	}
	if (s->stage == TP_WAIT) {
		s->moved = 0;
		s->stage = tp_attach(s);
		return tp_variant(s, class, root) >= TP_OURS;
	}
	double spent = s->spent[class];
	if (!tp_least(s, &spent, 1) || spent < s->patience) {
		s->due[class] *= 2;
		return 0;
	}
	s->watched[class] = 0, s->spent[class] = 0;
	if (s->stage == TP_WATCH)
		s->stage = tp_attach(s);
	return s->stage == TP_ON;
}

// tp_perform is collective: it makes a call on data without gaps, and returns MPI's code.
static int tp_perform(tp_comm *s, const tp_call *c, void *data, int64_t bytes) {
	int class = tp_class(bytes), variant = tp_variant(s, class, c->root), decides = variant == TP_OPEN;
	tp_inside++;
	tp_enter();
	int outcome = c->collective == TP_BCAST ? tp_go.bcast(s->handle, data, bytes, c->root, decides)
	            : tp_go.reduce(s->handle, data, c->count, tp_number(c->type), tp_operation(c->op), c->root, decides);
	if (variant != TP_OURS)
		tp_learn(s, class, c->root);
	tp_leave();
	tp_inside--;
	if (outcome == TP_DONE)
		return TP_SUCCESS;
	return outcome == TP_TRUNCATED ? tp_mpi.abi.err_truncate : tp_mpi.abi.err_other;
}

int tp_broadcast(tp_comm *s, const tp_call *c, int64_t bytes) {
	int layout = tp_layout(c->type), is_dense = layout != TP_GAPS, is_root = s->rank == c->root;
	char *data = c->buf;
	if (c->buf == tp_mpi.abi.in_place || (is_dense && c->buf == NULL) || (layout != TP_PREDEFINED && !tp_is_valid(c->buf, c->type)))
		return TP_INVALID;
	// While variants are compared the root receives, too. Its program may have the buffer where nothing can be written.
	int is_compared = tp_variant(s, tp_class(bytes), c->root) != TP_OURS;
	if (is_dense && !(is_compared && is_root))
		return tp_perform(s, c, data, bytes);
	if (s->room < bytes) {
		free(s->packed);
		// Without memory there is no way back: the other ranks have begun.
		if ((s->packed = malloc(bytes)) == NULL)
			abort();
		s->room = bytes;
	}
	data = s->packed;
	int moved = TP_SUCCESS;
	if (is_root && (moved = tp_move(c->buf, c->count, c->type, data, bytes, 1)) != TP_SUCCESS)
		memset(data, 0, bytes);
	int code = tp_perform(s, c, data, bytes);
	if (code == TP_SUCCESS && !is_root)
		moved = tp_move(c->buf, c->count, c->type, data, bytes, 0);
	return code != TP_SUCCESS ? code : moved;
}

int tp_number(tp_handle type) {
	int family = tp_family(type);
	int64_t size;
	if (family < 0 || tp_mpi.Type_size_x(type, &size) != TP_SUCCESS || size < (family == TP_FLOATING ? 4 : 1) || size > 8 || (size & (size - 1)) != 0)
		return -1;
	return family + __builtin_ctzll((uint64_t)size);
}

// Where two buffers are one, which MPI forbids and Open MPI takes, the values are in place: other ranks cannot know.
int tp_reduce(tp_comm *s, const tp_call *c, int64_t bytes) {
	if (c->collective == TP_REDUCE && s->rank != c->root) // the values of this rank stay
		return c->own == NULL || c->own == tp_mpi.abi.in_place ? TP_INVALID : tp_perform(s, c, (void *)c->own, bytes);
	if (c->buf == NULL || c->buf == tp_mpi.abi.in_place || c->own == NULL)
		return TP_INVALID;
	if (c->own != tp_mpi.abi.in_place && c->own != c->buf)
		memmove(c->buf, c->own, bytes);
	return tp_perform(s, c, c->buf, bytes);
}
