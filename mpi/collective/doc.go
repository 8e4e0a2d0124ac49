// Package collective has the collective operations of MPI besides the broadcast, for slices of Go values and over any
// mpi.Communicator:
//
//	c := collective.New(comm) // once
//	sums := []float64{a, b, c}
//	err := collective.Allreduce(c, sums, mpi.Sum)
//
// The operations are Barrier, Reduce, Allreduce, Gather, Scatter, Allgather and Alltoall. Gatherv, Scatterv, Allgatherv and
// Alltoallv move parts of different lengths. ReduceFunc and AllreduceFunc combine values by a Go function. Sendrecv sends
// and receives at once. Broadcasts are in package bcast.
//
// # Method
//
// The MPI library's own collectives (native) are called where the communicator has them (mpi.Collectives). Other
// communicators, ranks of one process or of a simulation, use one simple algorithm for each operation:
//
//	Barrier     dissemination (Hensgen, Finkel, Manber 1988)
//	Reduce      binomial tree
//	Allreduce   recursive doubling (Thakur, Rabenseifner, Gropp 2005)
//	Gather      every rank sends to the root
//	Scatter     the root sends to every rank
//	Allgather   ring
//	Alltoall    pairwise exchange
//
// The same algorithms serve ReduceFunc and AllreduceFunc everywhere. They also move blocks of 2 GiB and more in all, which MPI cannot
// count, where all ranks know the lengths: in Gather, Scatter, Allgather, Alltoall and Allgatherv. Their messages have
// the tag mpi.MaxTag-1.
//
// # Contract
//
// All ranks call an operation, with equal roots, reductions and lengths unless the operation says otherwise. No other message of
// tag mpi.MaxTag-1 is under way on the communicator. Nothing depends on whether Send buffers.
//
// Values are numbers, booleans, and arrays and structs of them, whose bytes mean the same on all ranks. Other types are
// refused before anything is sent, as are lengths, counts and ranks that cannot be right. Lengths that differ between ranks
// show as messages that are too long or too short; then some ranks may wait for good. In native collectives such a difference may
// overwrite memory, as ever in MPI, and so may a long message of Open MPI (see package mpi). dst and src do not overlap, unless the
// operation says so.
//
// An error makes the communicator unusable on all ranks, as any error of a communicator does. Allreduce says how
// floating-point sums are rounded. No operation allocates once it has been called with the same lengths before.
//
// # Limits
//
// Functions of ReduceFunc and AllreduceFunc have to be associative and commutative. Complex numbers and structs are reduced by
// functions only. Sums of integers wrap round where they overflow, but those of 8 and 16 bits by Open MPI, which stop at the largest
// number (issue 8045 of Open MPI). A matrix with gaps between its rows has to be packed first. Native Gatherv, Scatterv and Alltoallv take less than 2
// GiB in all. The simple algorithms are made for tests and for a few ranks: Gather, Scatter, Allgather and Alltoall take as many
// messages one after the other as there are ranks.
//
// # Design
//
// A Comm is no mpi.Communicator. It would hide the abilities of the communicator below from packages such as bcast, which are
// given the communicator itself. Functions take a Comm because Go has no generic methods. The package imports
// package mpi only.
package collective
