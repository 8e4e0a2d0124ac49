// Package mpitest is the contract that every mpi.Communicator has to pass: the
// in-process world, the simulated one, and real MPI on each library.
//
// An in-process world is tested by RunWorld, which calls it with several
// numbers of ranks:
//
//	func TestContract(t *testing.T) {
//		mpitest.RunWorld(t, func(n int, body func(mpi.Communicator) error) error {
//			return local.Run(n, nil, body)
//		})
//	}
//
// Where each rank is a process, all processes call Run, in a package whose
// TestMain is Main; or Check, which needs no *testing.T and stays on the calling
// goroutine:
//
//	func main() { err := mpi.Run(mpitest.Check) ... }
//
// The contract is that of the interfaces of package mpi. It says which messages meet and
// in which order, and what is refused before anything is sent. It says what every call returns
// after an error, and what each optional ability that is present has to do. The name
// of a case that fails says which sentence is broken.
//
// # Limits
//
// It tests what a communicator does, not how fast. It waits for nothing but
// messages, so a communicator that loses one hangs until the test's own timeout.
//
// # Design
//
// The cases never rely on a Send that buffers, so they hold for the strictest
// communicator that the MPI standard allows. What is only visible with
// buffering (messages overtaking each other by tag) is tested through
// Requests. Optional abilities are tested where they are present. Errors are
// part of the contract: the same misuse gives the same sentinel, in an
// *mpi.Error that names the rank, on every implementation.
package mpitest
