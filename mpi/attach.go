//go:build !(mpi && cgo)

package mpi

import (
	"fmt"
	"os"
	"unsafe"
)

// Attach is collective over the ranks of an intra-communicator of MPI that somebody else has made, a program
// in C for example. It returns a communicator of the same ranks in the same order, with messages of
// its own. handle points to the variable of type MPI_Comm. MPI runs already: Close frees the
// communicator and leaves MPI alone.
//
// find returns the address of a function by its name, or 0. A library between a program and MPI gives its own
// functions so, which may call PMPI_Send for MPI_Send. Then it has to close the communicator before
// MPI_Finalize ends. The process's first World or Attach decides on the functions. With nil they are found as
// World finds them, and calls after MPI_Finalize return ErrClosed.
//
// Where libraries have no communicator left to give (MPICH has some 2,000), Attach fails on all ranks,
// whatever the error handler of the other communicator.
func Attach(handle unsafe.Pointer, find func(name string) uintptr) (*Comm, error) {
	lib, err := attachLibrary(find)
	if err != nil {
		return nil, err
	}
	c := &Comm{lib: lib, epoch: hostEpoch(), rank: -1}
	if failed := lib.attach(handle, &c.native); failed != codeOK {
		return nil, c.fault("Attach", failed, -1, -1)
	}
	if err := c.settle("Attach"); err != nil {
		_ = c.native.drop() // if that fails, too, it stays
		return nil, err
	}
	return c, nil
}

// attachLibrary returns the library of the process, as openLibrary does, but with functions of the caller's.
func attachLibrary(find resolver) (*library, error) {
	if find == nil {
		return openLibrary()
	}
	process.Lock()
	defer process.Unlock()
	if process.lib != nil {
		return process.lib, nil
	}
	l := &library{find: find}
	err := l.resolve()
	if err == nil {
		l.abi, err = tellABI(l.version(), l.standardABI(), l.find)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: Attach: %w%s", err, named(os.Getenv))
	}
	l.watch.Do(func() {}) // the caller knows when MPI ends
	process.lib = l
	return l, nil
}

// attach splits the communicator: unlike MPI_Comm_dup that runs no copy functions of attributes. The error
// handler of the communicator may end the job, where a failure is only no communicator.
func (l *library) attach(handle unsafe.Pointer, e *endpoint) code {
	if c := l.watchEnd(); c != codeOK {
		return c
	}
	var other endpoint
	other.open(l)
	if other.comm = *(*uintptr)(handle); l.handleBytes == 4 {
		other.comm = uintptr(*(*uint32)(handle))
	}
	found := new(uint64)
	if c := run(l.tc.getHandler, other.comm, uintptr(unsafe.Pointer(found))); c != codeOK {
		return c
	}
	run(l.tc.setHandler, other.comm, l.errorsReturn)
	rank, _ := other.who()
	c := other.split(0, rank, e)
	run(l.tc.setHandler, other.comm, uintptr(*found))
	run(l.tc.freeHandler, uintptr(unsafe.Pointer(found)))
	return c
}
