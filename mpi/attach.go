package mpi

import "unsafe"

// Attach is collective over the ranks of an intra-communicator of MPI that somebody else, say a program
// in C, has made. It returns a communicator of the same ranks in the same order, on a duplicate of its
// own. handle points to the variable of type MPI_Comm. MPI runs already; Close frees the duplicate and
// leaves MPI alone.
//
// Where libraries have no communicator left to give (MPICH has some 2,000), Attach fails on all ranks,
// whatever the error handler of the other communicator.
func Attach(handle unsafe.Pointer) (*Comm, error) {
	lib, err := openLibrary()
	if err != nil {
		return nil, err
	}
	if err := lib.checkABI(); err != nil {
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
	if err := c.settle("Attach"); err != nil {
		_ = c.native.free() // if that fails, too, it stays
		return nil, err
	}
	return c, nil
}
