// Elements with gaps, or whose bytes are in another order than in memory.

#include "preload.h"
#include <pthread.h>
#include <stdlib.h>

// A tp_shape is how many integers, addresses, large counts and types a type was made from. The numbers of combiners differ
// between ABIs, but these counts are the standard's and tell the combiners apart (MPI 3.1, section 4.1.13).
typedef struct {
	int64_t ints, addresses, larges, types;
} tp_shape;

static int tp_get_shape(tp_handle type, tp_shape *s) {
	int ints, addresses, types, combiner;
	if (tp_mpi.Type_get_envelope_c != NULL) // the other one is an error for types with large counts
		return tp_mpi.Type_get_envelope_c(type, &s->ints, &s->addresses, &s->larges, &s->types, &combiner) == TP_SUCCESS;
	int code = tp_mpi.Type_get_envelope(type, &ints, &addresses, &types, &combiner);
	*s = (tp_shape){ints, addresses, 0, types};
	return code == TP_SUCCESS;
}

static int tp_has_shape(const tp_shape *s, int ints, int addresses, int types) {
	return s->ints == ints && s->addresses == addresses && s->larges == 0 && s->types == types;
}

int tp_is_named(tp_handle type) {
	tp_shape s;
	return tp_get_shape(type, &s) && tp_has_shape(&s, 0, 0, 0);
}

int tp_layout(tp_handle type) {
	tp_shape s, inner;
	int64_t size, lb, extent, a[2];
	int i[1];
	tp_handle old = 0;
	if (!tp_get_shape(type, &s) || tp_mpi.Type_size_x(type, &size) != TP_SUCCESS ||
	    tp_mpi.Type_get_extent(type, &lb, &extent) != TP_SUCCESS || lb != 0 || extent != size)
		return TP_GAPS;
	if (tp_has_shape(&s, 0, 0, 0))
		return TP_PREDEFINED;
	// MPI_Type_dup, MPI_Type_contiguous, MPI_Type_create_resized. Another type may be dense, too, which a copy does not mind.
	if (!tp_has_shape(&s, 0, 0, 1) && !tp_has_shape(&s, 1, 0, 1) && !tp_has_shape(&s, 0, 2, 1))
		return TP_GAPS;
	if (tp_mpi.Type_get_contents(type, (int)s.ints, (int)s.addresses, 1, i, a, &old) != TP_SUCCESS)
		return TP_GAPS;
	int is_dense = tp_layout(old) != TP_GAPS;
	// Types of Fortran 90 and pairs of a value and an index are predefined, too: (1,0,0), (2,0,0), (0,0,2).
	if (tp_get_shape(old, &inner) && (inner.types == 1 || (inner.types > 0 && inner.ints + inner.larges > 0)))
		tp_mpi.Type_free(&old);
	return is_dense ? TP_DENSE : TP_GAPS;
}

static pthread_mutex_t tp_lock = PTHREAD_MUTEX_INITIALIZER; // of these two
static tp_handle tp_made = 0;
static int tp_is_made = 0;

// tp_alone is a communicator of this rank alone, which returns its errors. The first call makes it.
static tp_handle tp_alone(void) {
	const tp_abi *abi = &tp_mpi.abi;
	pthread_mutex_lock(&tp_lock);
	if (!tp_is_made) {
		tp_handle group = 0, handler = 0;
		tp_mpi.Comm_group(abi->comm_self, &group);
		tp_mpi.Comm_get_errhandler(abi->comm_self, &handler);
		tp_mpi.Comm_set_errhandler(abi->comm_self, abi->errors_return);
		if (tp_mpi.Comm_create(abi->comm_self, group, &tp_made) == TP_SUCCESS)
			tp_mpi.Comm_set_errhandler(tp_made, abi->errors_return);
		else
			tp_made = abi->comm_self;
		tp_mpi.Comm_set_errhandler(abi->comm_self, handler);
		tp_mpi.Errhandler_free(&handler);
		tp_mpi.Group_free(&group);
		tp_is_made = 1;
	}
	pthread_mutex_unlock(&tp_lock);
	return tp_made;
}

void tp_forget_alone(void) {
	pthread_mutex_lock(&tp_lock);
	if (tp_is_made && tp_made != tp_mpi.abi.comm_self)
		tp_mpi.Comm_free(&tp_made);
	tp_is_made = 0;
	pthread_mutex_unlock(&tp_lock);
}

int tp_is_valid(void *buf, tp_handle type) {
	char none[1];
	int position = 0;
	return tp_mpi.Pack(buf, 0, type, none, 0, &position, tp_alone()) == TP_SUCCESS;
}

enum { TP_PART = 1 << 30 }; // bytes, of one call

// tp_bytes_type makes a type of that many bytes, which may be more than an int counts.
static void tp_bytes_type(int64_t bytes, tp_handle *type) {
	int n = (int)((bytes + TP_PART - 1) / TP_PART), *lengths = malloc(n * sizeof *lengths);
	int64_t *at = malloc(n * sizeof *at);
	if (lengths == NULL || at == NULL)
		abort();
	for (int i = 0; i < n; i++) {
		at[i] = (int64_t)i * TP_PART;
		lengths[i] = (int)(bytes - at[i] < TP_PART ? bytes - at[i] : TP_PART);
	}
	tp_mpi.Type_create_hindexed(n, lengths, at, tp_mpi.abi.byte, type);
	tp_mpi.Type_commit(type);
	free(lengths);
	free(at);
}

// tp_send_to_self moves elements by a message to this rank. Unlike MPI_Pack that takes more bytes than an int counts,
// and MPI_BOTTOM, which MPI_Pack of MPICH 4.0 takes for no buffer.
static int tp_send_to_self(void *buf, int n, tp_handle type, char *packed, int64_t bytes, int in) {
	tp_handle as = 0, alone = tp_alone();
	char status[TP_STATUS_ROOM];
	tp_bytes_type(bytes, &as);
	int code = in ? tp_mpi.Sendrecv(buf, n, type, 0, 0, packed, 1, as, 0, 0, alone, status)
	              : tp_mpi.Sendrecv(packed, 1, as, 0, 0, buf, n, type, 0, 0, alone, status);
	tp_mpi.Type_free(&as);
	return code;
}

int tp_move(void *buf, int count, tp_handle type, char *packed, int64_t bytes, int in) {
	int64_t lb, extent, size = bytes / count;
	int code = tp_mpi.Type_get_extent(type, &lb, &extent);
	if (buf == NULL || size > TP_PART)
		return code == TP_SUCCESS ? tp_send_to_self(buf, count, type, packed, bytes, in) : code;
	int step = (int)(TP_PART / size);
	for (int64_t done = 0; done < count && code == TP_SUCCESS; done += step) {
		int n = count - done < step ? (int)(count - done) : step, position = 0;
		void *element = (char *)buf + done * extent;
		char *at = packed + done * size;
		code = in ? tp_mpi.Pack(element, n, type, at, (int)(n * size), &position, tp_alone())
		          : tp_mpi.Unpack(at, (int)(n * size), &position, element, n, type, tp_alone());
	}
	return code;
}
