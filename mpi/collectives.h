// Wrappers around MPI's collectives: see nativeCollectives in native.go. Where ranks share cores
// (spin > 0), they are started and waited for, which yields.

#ifndef TOPOCAST_COLLECTIVES_H
#define TOPOCAST_COLLECTIVES_H

#include "shim.h"

// In the order of NumberType.
static inline MPI_Datatype tc_number(int number) {
	switch (number) {
	case 0: return MPI_INT8_T;
	case 1: return MPI_INT16_T;
	case 2: return MPI_INT32_T;
	case 3: return MPI_INT64_T;
	case 4: return MPI_UINT8_T;
	case 5: return MPI_UINT16_T;
	case 6: return MPI_UINT32_T;
	case 7: return MPI_UINT64_T;
	case 8: return MPI_FLOAT;
	}
	return MPI_DOUBLE;
}

// In the order of Reduction.
static inline MPI_Op tc_reduction(int with) {
	switch (with) {
	case 0: return MPI_SUM;
	case 1: return MPI_PROD;
	case 2: return MPI_MIN;
	}
	return MPI_MAX;
}

// tc_settle waits for what has been started.
static inline int tc_settle(int code, MPI_Request *request, int spin) {
	MPI_Status status;
	return code != MPI_SUCCESS ? code : tc_wait(request, &status, spin);
}

static inline int tc_reduce(unsigned char *values, unsigned char *into, int count, int number, int with, int root, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Datatype type = tc_number(number);
	MPI_Op op = tc_reduction(with);
	MPI_Request request;
	if (spin == 0)
		return root < 0 ? MPI_Allreduce(values, into, count, type, op, comm) : MPI_Reduce(values, into, count, type, op, root, comm);
	return tc_settle(root < 0 ? MPI_Iallreduce(values, into, count, type, op, comm, &request)
	                          : MPI_Ireduce(values, into, count, type, op, root, comm, &request),
	                 &request, spin);
}

static inline int tc_gather(unsigned char *dst, int *counts, int *offsets, unsigned char *src, int n, int root, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return root < 0 ? MPI_Allgatherv(src, n, MPI_BYTE, dst, counts, offsets, MPI_BYTE, comm)
		                : MPI_Gatherv(src, n, MPI_BYTE, dst, counts, offsets, MPI_BYTE, root, comm);
	return tc_settle(root < 0 ? MPI_Iallgatherv(src, n, MPI_BYTE, dst, counts, offsets, MPI_BYTE, comm, &request)
	                          : MPI_Igatherv(src, n, MPI_BYTE, dst, counts, offsets, MPI_BYTE, root, comm, &request),
	                 &request, spin);
}

static inline int tc_scatter(unsigned char *dst, int n, unsigned char *src, int *counts, int *offsets, int root, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return MPI_Scatterv(src, counts, offsets, MPI_BYTE, dst, n, MPI_BYTE, root, comm);
	return tc_settle(MPI_Iscatterv(src, counts, offsets, MPI_BYTE, dst, n, MPI_BYTE, root, comm, &request), &request, spin);
}

static inline int tc_alltoall(unsigned char *dst, int *dst_counts, int *dst_offsets, unsigned char *src, int *src_counts, int *src_offsets, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return MPI_Alltoallv(src, src_counts, src_offsets, MPI_BYTE, dst, dst_counts, dst_offsets, MPI_BYTE, comm);
	return tc_settle(MPI_Ialltoallv(src, src_counts, src_offsets, MPI_BYTE, dst, dst_counts, dst_offsets, MPI_BYTE, comm, &request), &request, spin);
}

// Blocks of n bytes, equally long on all ranks.

static inline int tc_gather_blocks(unsigned char *dst, unsigned char *src, int n, int root, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return root < 0 ? MPI_Allgather(src, n, MPI_BYTE, dst, n, MPI_BYTE, comm) : MPI_Gather(src, n, MPI_BYTE, dst, n, MPI_BYTE, root, comm);
	return tc_settle(root < 0 ? MPI_Iallgather(src, n, MPI_BYTE, dst, n, MPI_BYTE, comm, &request)
	                          : MPI_Igather(src, n, MPI_BYTE, dst, n, MPI_BYTE, root, comm, &request),
	                 &request, spin);
}

static inline int tc_scatter_blocks(unsigned char *dst, unsigned char *src, int n, int root, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return MPI_Scatter(src, n, MPI_BYTE, dst, n, MPI_BYTE, root, comm);
	return tc_settle(MPI_Iscatter(src, n, MPI_BYTE, dst, n, MPI_BYTE, root, comm, &request), &request, spin);
}

static inline int tc_alltoall_blocks(unsigned char *dst, unsigned char *src, int n, MPI_Comm comm, int spin) {
	if (tc_ended())
		return TC_ENDED;
	MPI_Request request;
	if (spin == 0)
		return MPI_Alltoall(src, n, MPI_BYTE, dst, n, MPI_BYTE, comm);
	return tc_settle(MPI_Ialltoall(src, n, MPI_BYTE, dst, n, MPI_BYTE, comm, &request), &request, spin);
}

#endif
