// Package gompi is a communicator over github.com/sbromberger/gompi, for applications that talk over gompi already:
//
//	gompi.Start(true)
//	comm := topogompi.New(gompi.NewCommunicator(nil))
//
// Most applications need another call, mpi.World. It attaches to the MPI that gompi has started, has messages that never
// meet those of the application, and has every ability of package mpi. This package is for the cases in which World cannot
// be used: a communicator of gompi over some ranks, say, or a library that World does not know. examples/gompi shows both.
//
// The package is built with the tag gompi and cgo, since gompi itself is. gompi has the paths of Open MPI compiled in:
//
//	CC=mpicc.openmpi go build -tags gompi
//
// # Limits
//
// A Comm has the native broadcast, no other abilities: gompi has no synchronous or non-blocking sends, and frees no
// communicators. Its messages and those of the application differ by their tags only.
//
// gompi drops the return codes of MPI. Its errors end the job, as MPI's default handler says. What can be found before MPI is
// called is an *mpi.Error, and so is a message of the wrong length.
//
// The hosts of a job need one byte order, because broadcasts travel as 32-bit integers.
//
// # Design
//
// Three faults of gompi v0.2.0 shape the package. BcastBytes sends four times the bytes, as it counts MPI_INT32_T, and
// overwrites memory; BcastInt32s is right. A slice without elements panics, so that a message of 0 bytes needs a form of its own. A
// message longer than the buffer ends the job, so that Recv looks at the length first.
package gompi
