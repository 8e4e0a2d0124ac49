//go:build mpi && cgo

// Elements with gaps, or in another order than memory has them.

#include "preload.h"
#include <pthread.h>
#include <stdlib.h>

int tp_layout(MPI_Datatype type) {
	enum { TP_FEW = 4 }; // what the types looked into below have of each
	int integers, addresses, types, combiner;
	MPI_Count size, lb, extent;
	if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
	    PMPI_Type_size_x(type, &size) != MPI_SUCCESS || PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS ||
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
	    PMPI_Type_get_contents(type, integers, addresses, types, i, a, &old) != MPI_SUCCESS)
		return TP_GAPS;
	dense = tp_layout(old) != TP_GAPS;
	// Types of Fortran 90 are predefined, too, though they do not say so.
	if (PMPI_Type_get_envelope(old, &integers, &addresses, &types, &inner) == MPI_SUCCESS && inner != MPI_COMBINER_NAMED &&
	    inner != MPI_COMBINER_F90_REAL && inner != MPI_COMBINER_F90_COMPLEX && inner != MPI_COMBINER_F90_INTEGER)
		PMPI_Type_free(&old);
	return dense ? TP_DENSE : TP_GAPS;
}

// tp_alone is a communicator of this rank that returns its errors. It is made when first needed.
static MPI_Comm tp_alone(void) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static MPI_Comm alone;
	static int made = 0;
	pthread_mutex_lock(&lock);
	if (!made) {
		MPI_Group group;
		MPI_Errhandler handler;
		PMPI_Comm_group(MPI_COMM_SELF, &group);
		PMPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
		PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		if (PMPI_Comm_create(MPI_COMM_SELF, group, &alone) == MPI_SUCCESS)
			PMPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
		else
			alone = MPI_COMM_SELF;
		PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
		PMPI_Errhandler_free(&handler);
		PMPI_Group_free(&group);
		made = 1;
	}
	pthread_mutex_unlock(&lock);
	return alone;
}

int tp_is_valid(void *buf, MPI_Datatype type) {
	char none[1];
	int position = 0;
	return PMPI_Pack(buf, 0, type, none, 0, &position, tp_alone()) == MPI_SUCCESS;
}

enum { TP_PART = 1 << 30 }; // bytes, of one call

// tp_bytes_type is a type of so many bytes, however many.
static void tp_bytes_type(int64_t bytes, MPI_Datatype *type) {
	MPI_Datatype part, all, both[2];
	int parts = (int)(bytes / TP_PART), lengths[2] = {1, (int)(bytes % TP_PART)};
	MPI_Aint at[2] = {0, (MPI_Aint)parts * TP_PART};
	PMPI_Type_contiguous(TP_PART, MPI_BYTE, &part);
	PMPI_Type_contiguous(parts, part, &all);
	both[0] = all, both[1] = MPI_BYTE;
	PMPI_Type_create_struct(2, lengths, at, both, type);
	PMPI_Type_free(&part);
	PMPI_Type_free(&all);
	PMPI_Type_commit(type);
}

// tp_post has elements sent to this rank itself: that takes more bytes than MPI_Pack counts, and
// MPI_BOTTOM, which MPI_Pack of MPICH 4.0 takes for no buffer.
static int tp_post(void *buf, int n, MPI_Datatype type, char *packed, int64_t bytes, int in) {
	MPI_Datatype as;
	MPI_Comm alone = tp_alone();
	tp_bytes_type(bytes, &as);
	int code = in ? PMPI_Sendrecv(buf, n, type, 0, 0, packed, 1, as, 0, 0, alone, MPI_STATUS_IGNORE)
	              : PMPI_Sendrecv(packed, 1, as, 0, 0, buf, n, type, 0, 0, alone, MPI_STATUS_IGNORE);
	PMPI_Type_free(&as);
	return code;
}

static int tp_move(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes, int in) {
	MPI_Aint lb, extent;
	int64_t size = bytes / count;
	int code = PMPI_Type_get_extent(type, &lb, &extent);
	if (buf == MPI_BOTTOM || size > TP_PART)
		return code == MPI_SUCCESS ? tp_post(buf, count, type, packed, bytes, in) : code;
	int step = (int)(TP_PART / size);
	for (int64_t done = 0; done < count && code == MPI_SUCCESS; done += step) {
		int n = count - done < step ? (int)(count - done) : step, position = 0;
		void *element = (char *)buf + done * extent;
		char *at = packed + done * size;
		code = in ? PMPI_Pack(element, n, type, at, (int)(n * size), &position, tp_alone())
		          : PMPI_Unpack(at, (int)(n * size), &position, element, n, type, tp_alone());
	}
	return code;
}

int tp_pack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes) {
	return tp_move(buf, count, type, packed, bytes, 1);
}

int tp_unpack(void *buf, int count, MPI_Datatype type, char *packed, int64_t bytes) {
	return tp_move(buf, count, type, packed, bytes, 0);
}
