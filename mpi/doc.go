// Package mpi is the seam between topocast and message passing: the small
// Communicator interface, optional abilities found by type assertion, and the
// real MPI communicator behind the build tag mpi.
//
// Most programs need one call, Run:
//
//	func main() {
//		if err := mpi.Run(work); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
//
// The package imports the standard library only. Package mpi/local holds the
// in-process communicator, package mpi/mpitest the contract that every
// communicator has to pass.
package mpi
