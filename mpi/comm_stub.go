//go:build !(mpi && cgo)

package mpi

import "io"

// A Comm is a communicator of a real MPI library. Built without MPI, there is
// none: World returns ErrNotBuilt.
type Comm struct {
	Communicator
	SyncSender
	NonBlocking
	Clock
	Named
	Bound
	Versioned
	Timed
	NativeBcast
	Splitter
	Aborter
	io.Closer
}

// World returns a communicator of all ranks of the job, or ErrNotBuilt in a
// program that was built without MPI, as this one.
func World() (*Comm, error) { return nil, ErrNotBuilt }
