package mpi

import "unsafe"

// Attach is collective over the ranks of an intra-communicator of MPI that somebody else, say a program
// in C, has made. It returns a communicator of the same ranks in the same order, on a duplicate of its
// own. handle points to the variable of type MPI_Comm. MPI runs already; Close frees the duplicate and
// leaves MPI alone.
//
// find returns the address of a C function by its name, 0 if there is none. A library between a program and
// MPI passes its own, for example to have PMPI_Send called for MPI_Send. Such a library has to close the
// communicator before MPI_Finalize returns, as calls after that end the process. With nil the functions
// are those of World, and after MPI_Finalize calls return ErrClosed. The first World or Attach of a process
// decides for all.
//
// Where libraries have no communicator left to give (MPICH has some 2,000), Attach fails on all ranks,
// whatever the error handler of the other communicator.
func Attach(handle unsafe.Pointer, find func(name string) uintptr) (*Comm, error) {
	lib, err := openLibrary(find)
	if err != nil {
		return nil, err
	}
	other := uintptr(*(*uint32)(handle)) // MPICH's handles are of 4 bytes
	if lib.handleBytes == 8 {
		other = *(*uintptr)(handle)
	}
	c := &Comm{lib: lib, epoch: hostEpoch(), rank: -1}
	if failed := lib.attach(&c.native, other); failed != codeOK {
		return nil, c.fault("Attach", failed, -1, -1)
	}
	// The program may wait for any message on MPI_COMM_SELF. On this communicator it does not.
	rank, _ := c.native.who()
	if err = lib.checkABI(c.native.comm, rank); err == nil {
		err = c.settle("Attach")
	}
	if err != nil {
		_ = c.native.free() // if that fails, too, it stays
		return nil, err
	}
	return c, nil
}
