//go:build mpi && cgo

// The variables of the shim: every file of the package that includes shim.h is
// compiled by itself, and all of them look at these.

#include "shim.h"

int tc_finalized = 0;
int tc_shared = 1;

static int tc_end(MPI_Comm comm, int key, void *value, void *state) {
	tc_finalized = 1;
	return MPI_SUCCESS;
}

// tc_watch_end lets tc_finalized be set before MPI takes anything down: the first
// thing that MPI_Finalize does is to delete the attributes of MPI_COMM_SELF
// (MPI 3.1, section 8.7.1), whoever calls it. It returns MPI's code, or TC_ENDED.
// A library that is told of the end itself, and calls nothing of ours then, is not in the way of
// what a program still does when its own attributes are deleted.
int tc_watch_end(void) {
#ifdef TC_IS_TOLD_OF_THE_END
	return MPI_SUCCESS;
#endif
	static int watched = 0;
	int key, code = MPI_SUCCESS;
	if (!watched) {
		MPI_Finalized(&tc_finalized);
		if (tc_finalized)
			return TC_ENDED;
		if ((code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tc_end, &key, NULL)) != MPI_SUCCESS ||
		    (code = MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)) != MPI_SUCCESS ||
		    (code = MPI_Comm_free_keyval(&key)) != MPI_SUCCESS) // the attribute stays
			return code;
		watched = 1;
	}
	return tc_finalized ? TC_ENDED : code;
}
