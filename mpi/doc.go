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
// built and started by
//
//	CC=mpicc go build -tags mpi -o program .
//	mpirun -n 4 ./program
//
// The package imports the standard library only. Package mpi/local holds the
// in-process communicator, package mpi/simnet the one of a simulated cluster,
// package mpi/mpitest the contract that every communicator has to pass.
//
// # Design
//
// The real communicator is a thin layer of our own on the C library. gompi
// cannot be below it: it has neither 0-byte messages nor Ssend nor requests,
// it drops return codes, and its byte broadcast overwrites memory. Wrap serves
// applications that use it. The price is a C compiler, the library's own
// (CC=mpicc), which also brings headers and library. That build is for 64-bit
// systems, and refuses others.
//
// MPI is started at MPI_THREAD_FUNNELED, the least that the standard allows a
// Go program. Open MPI makes a round trip between cores some 20 % slower for
// it than at MPI_THREAD_SINGLE.
//
// Where ranks have to share CPUs (CrowdedHosts), a wait polls a hundred times and
// then yields between polls; elsewhere the library waits itself. The library's
// own collectives (Bcast, Split, Dup) are not covered by this.
//
// Open MPI 4.1, when ranks of one host read from each other's memory (its
// default), writes a message of more than 4 KiB past the end of a shorter
// buffer before it reports the error. Recv then looks at the length before it
// receives, which makes round trips of short messages some 200 ns slower, a
// quarter, and is hardly to be seen from 16 KiB on. Irecv, Bcast and PingPong
// cannot look: there the ranks have to agree on the length, or memory is
// overwritten. With OMPI_MCA_btl_vader_single_copy_mechanism=none in the
// environment all is safe, and Recv looks at nothing.
package mpi
