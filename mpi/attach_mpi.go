//go:build mpi && cgo

package mpi

/*
#include "shim.h"

// tc_attach makes a communicator of the same ranks in the same order. Unlike
// MPI_Comm_dup it does not run the copy functions of attributes. The error handler
// of the other one may end the job, where a failure is only no communicator.
static inline int tc_attach(MPI_Comm other, MPI_Comm *comm) {
	MPI_Errhandler handler;
	MPI_Group group;
	int code = tc_watch_end();
	if (code != MPI_SUCCESS)
		return code;
	if ((code = MPI_Comm_get_errhandler(other, &handler)) != MPI_SUCCESS)
		return code;
	MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
	if ((code = MPI_Comm_group(other, &group)) == MPI_SUCCESS) {
		code = MPI_Comm_create(other, group, comm);
		MPI_Group_free(&group);
	}
	MPI_Comm_set_errhandler(other, handler);
	MPI_Errhandler_free(&handler);
	return code == MPI_SUCCESS ? MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN) : code;
}
*/
import "C"

import "unsafe"

// Attach is collective over the ranks of an intra-communicator of MPI that somebody else, say a
// program in C, has made: it returns a communicator of the same ranks in the same order, on a
// duplicate of its own. handle points to the variable of type MPI_Comm. MPI runs
// already; Close frees the duplicate and leaves MPI alone.
//
// Where libraries have no communicator left to give (MPICH has some 2,000), Attach fails on all
// ranks, whatever the error handler of the other communicator.
func Attach(handle unsafe.Pointer, _ func(name string) uintptr) (*Comm, error) {
	c := &Comm{lib: new(library), epoch: hostEpoch(), rank: -1}
	if failed := C.tc_attach(*(*C.MPI_Comm)(handle), &c.native.comm); failed != C.MPI_SUCCESS {
		return nil, c.fault("Attach", code(failed), -1, -1)
	}
	if err := c.settle("Attach"); err != nil {
		_ = c.native.drop() // if that fails, too, it stays
		return nil, err
	}
	return c, nil
}
