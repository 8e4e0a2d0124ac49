// Package ongompi carries topocast's messages over gompi
// (github.com/sbromberger/gompi), for applications that are on it already:
//
//	gompi.Start(false)
//	world, err := ongompi.World(gompi.NewCommunicator)
//
// World has a communicator of its own, whose messages never match those of the
// application, the library's own broadcast, which bcast.New and topocast's
// measurements use, and Split and Dup. Wrap does the same for one communicator
// of gompi, of some of the ranks, say, without Split and Dup.
//
// # Limits
//
// gompi drops the return codes of MPI. As it leaves the handler of errors as it
// is, an error inside MPI ends the job. What can be found before MPI is called
// is an *mpi.Error, as everywhere.
//
// gompi has no synchronous and no non-blocking sends, so neither have these
// communicators: plans that overlap transfers run in order.
//
// gompi frees no communicator. Those of Split and Dup are kept after Close, and
// used again by the next Split or Dup into the same groups.
//
// Hosts of a job have one byte order: bytes travel as 32-bit numbers.
//
// # Design
//
// gompi's BcastBytes sends four times the bytes and so overwrites memory (v0.2.0;
// it counts MPI_INT32). BcastInt32s is sound, and takes what has at least one
// element. So a buffer is broadcast as 32-bit numbers where it lies; one whose
// length is no multiple of four has up to three bytes more, which go through
// scratch memory, as do buffers at odd addresses.
//
// The package names gompi's methods and does not import it: gompi builds with cgo
// only, and asks for Open MPI's paths. Who imports both has what it takes.
package ongompi
