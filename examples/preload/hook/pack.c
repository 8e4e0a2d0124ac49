// Elements with gaps, or in another order than memory has them.

#include "preload.h"
#include <pthread.h>
#include <stdlib.h>

int tp_layout(MPI_Datatype type) {
	enum { TP_FEW = 4 }; // what the types looked into below have of each
	int integers, addresses, types, combiner;
	MPI_Count size, lb, extent;
	if (tp_mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
	    tp_mpi.Type_size_x(type, &size) != MPI_SUCCESS || tp_mpi.Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS ||
	    lb != 0 || extent != size)
		return TP_GAPS;
	if (combiner == MPI_COMBINER_NAMED)
		return TP_PREDEFINED;
	if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_RESIZED)
		return TP_GAPS; // may be dense, which a copy does not mind
	int i[TP_FEW], dense, inner;
	MPI_Aint a[TP_FEW];
	MPI_Datatype old;
	if (integers > TP_FEW || addresses > TP_FEW || types != 1 ||
	    tp_mpi.Type_get_contents(type, integers, addresses, types, i, a, &old) != MPI_SUCCESS)
		return TP_GAPS;
	dense = tp_layout(old) != TP_GAPS;
	// Types of Fortran 90 are predefined, too, though they do not say so.
	if (tp_mpi.Type_get_envelope(old, &integers, &addresses, &types, &inner) == MPI_SUCCESS && inner != MPI_COMBINER_NAMED &&
	    inner != MPI_COMBINER_F90_REAL && inner != MPI_COMBINER_F90_COMPLEX && inner != MPI_COMBINER_F90_INTEGER)
		tp_mpi.Type_free(&old);
	return dense ? TP_DENSE : TP_GAPS;
}

static pthread_mutex_t tp_lock = PTHREAD_MUTEX_INITIALIZER; // of these two
static MPI_Comm tp_made;
static int tp_is_made = 0;

// tp_alone is a communicator of this rank that returns its errors. It is made when first needed.
static MPI_Comm tp_alone(void) {
	pthread_mutex_lock(&tp_lock);
	if (!tp_is_made) {
		MPI_Group group;
		MPI_Errhandler handler;
		tp_mpi.Comm_group(MPI_COMM_SELF, &group);
		tp_mpi.Comm_get_errhandler(MPI_COMM_SELF, &handler);
		tp_mpi.Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		if (tp_mpi.Comm_create(MPI_COMM_SELF, group, &tp_made) == MPI_SUCCESS)
			tp_mpi.Comm_set_errhandler(tp_made, MPI_ERRORS_RETURN);
		else
			tp_made = MPI_COMM_SELF;
		tp_mpi.Comm_set_errhandler(MPI_COMM_SELF, handler);
		tp_mpi.Errhandler_free(&handler);
		tp_mpi.Group_free(&group);
		tp_is_made = 1;
	}
	pthread_mutex_unlock(&tp_lock);
	return tp_made;
}

void tp_forget_alone(void) {
	pthread_mutex_lock(&tp_lock);
	if (tp_is_made && tp_made != MPI_COMM_SELF)
		tp_mpi.Comm_free(&tp_made);
	tp_is_made = 0;
	pthread_mutex_unlock(&tp_lock);
}

int tp_is_valid(void *buf, MPI_Datatype type) {
	char none[1];
	int position = 0;
	return tp_mpi.Pack(buf, 0, type, none, 0, &position, tp_alone()) == MPI_SUCCESS;
}

enum { TP_PART = 1 << 30 }; // bytes, of one call

// tp_bytes_type is a type of so many bytes, however many.
static void tp_bytes_type(int64_t bytes, MPI_Datatype *type) {
	MPI_Datatype part, all, both[2];
	int parts = (int)(bytes / TP_PART), lengths[2] = {1, (int)(bytes % TP_PART)};
	MPI_Aint at[2] = {0, (MPI_Aint)parts * TP_PART};
	tp_mpi.Type_contiguous(TP_PART, MPI_BYTE, &part);
	tp_mpi.Type_contiguous(parts, part, &all);
	both[0] = all, both[1] = MPI_BYTE;
	tp_mpi.Type_create_struct(2, lengths, at, both, type);
	tp_mpi.Type_free(&part);
	tp_mpi.Type_free(&all);
	tp_mpi.Type_commit(type);
}

// tp_post has elements sent to this rank itself: that takes more bytes than MPI_Pack counts, and
// MPI_BOTTOM, which MPI_Pack of MPICH 4.0 takes for no buffer.
static int tp_post(void *buf, int n, MPI_Datatype type, char *packed, int64_t bytes, int in) {
	MPI_Datatype as;
	MPI_Comm alone = tp_alone();
	tp_bytes_type(bytes, &as);
	int code = in ? tp_mpi.Sendrecv(buf, n, type, 0, 0, packed, 1, as, 0, 0, alone, MPI_STATUS_IGNORE)
	              : tp_mpi.Sendrecv(packed, 1, as, 0, 0, buf, n, type, 0, 0, alone, MPI_STATUS_IGNORE);
	tp_mpi.Type_free(&as);
	return code;
}

static int tp_move(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes, int in) {
	MPI_Aint lb, extent;
	int64_t size = bytes / count;
	int code = tp_mpi.Type_get_extent(type, &lb, &extent);
	if (buf == MPI_BOTTOM || size > TP_PART)
		return code == MPI_SUCCESS ? tp_post(buf, count, type, packed, bytes, in) : code;
	int step = (int)(TP_PART / size);
	for (int64_t done = 0; done < count && code == MPI_SUCCESS; done += step) {
		int n = count - done < step ? (int)(count - done) : step, position = 0;
		void *element = (char *)buf + done * extent;
		char *at = packed + done * size;
		code = in ? tp_mpi.Pack(element, n, type, at, (int)(n * size), &position, tp_alone())
		          : tp_mpi.Unpack(at, (int)(n * size), &position, element, n, type, tp_alone());
	}
	return code;
}

int tp_pack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes) {
	return tp_move(buf, count, type, packed, bytes, 1);
}

int tp_unpack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes) {
	return tp_move(buf, count, type, packed, bytes, 0);
}
