// Package collective are the collective operations of MPI for slices of Go values, over any
// mpi.Communicator:
//
//	sums := []float64{a, b, c}
//	err := collective.Allreduce(comm, sums, mpi.Sum)
//
// There are Barrier, Sendrecv, Reduce, Allreduce, Gather, Scatter, Allgather, Alltoall, and those with parts of
// different lengths, Gatherv and so on. Broadcasts are in package bcast. A program that calls
// them often makes a Comm once, which all functions take like any communicator. It keeps buffers, so
// that nothing is allocated once it is warm, and knows which ranks are near to each other:
//
//	c, err := collective.New(comm, &collective.Settings{Groups: network.RankGroups(8)})
//	...
//	err = collective.Allreduce(c, sums, mpi.Sum)
//
// # Method
//
// Where the communicator has the library's own collectives (mpi.NativeBarrier, NativeReduce, NativeGather, NativeBlocks), they are
// called, whether there are groups or not. Messages have to win a contest to replace them, that of broadcasts (package bcast/tuner),
// which Comm.Tune holds for one collective and size:
//
//	choice, err := c.Tune("Allreduce", 8, 0) // collective; choice says what is used now, and the times
//
// Without the library's, with Settings.Messages, and by functions of one's own, messages go by algorithms that are known well:
//
//	Barrier     dissemination (Hensgen, Finkel, Manber 1988)
//	Reduce      binomial tree; recursive halving and a gather (Rabenseifner 2004)
//	Allreduce   recursive doubling; halving and doubling (Rabenseifner 2004); ring (Patarasuk, Yuan 2009)
//	Gather      binomial tree; straight to the root. Scatter likewise; Gatherv and Scatterv straight
//	Allgather   Bruck, Ho, Kipnis, Upfal, Weathersby 1997; ring
//	Alltoall    Bruck et al. 1997; pairwise exchange, as Alltoallv
//
// Of those, the one is taken whose cost by LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995) is least, as Thakur,
// Rabenseifner and Gropp (2005) work them out. With groups, ranks of one put together what they have before it
// goes to the others, once (Kielmann, Hofman, Bal, Plaat, Bhoedjang 1999); for long lists each rank
// cares for a part of it.
//
// # Contract
//
// All ranks call a collective, and no other message of the same tag is under way. Nothing depends on
// whether Send buffers. Values are numbers, booleans, and arrays and structs of them, whose bytes
// mean the same on all ranks; others are refused, as are lengths, counts and ranks that cannot be, before anything is sent.
// That lengths differ between ranks is found out by messages that are too long or too short, and never overwrites memory; ranks
// may wait for good, though. In the library's own collectives, as ever in MPI, memory may be overwritten.
// dst and src do not overlap.
// As of any communicator, an error makes it unusable on all ranks. What floating-point sums round to is said at Allreduce.
//
// # Limits
//
// Groups have two levels, those inside and those between. The costs are those of any message: whether links are
// shared by many is not looked at. Functions of one's own have to be commutative. Complex numbers and other structs are reduced
// by functions (ReduceFunc); matrices with gaps between rows are packed first. Tune knows nothing of Gatherv and the like.
//
// # Design
//
// The package sees ranks, not wiring: it does not import package model, only the contest of package bcast/tuner. Groups are plain lists, which
// model.Network.RankGroups makes. Functions take any communicator, and look for a Comm in it, because Go has no
// generic methods.
package collective
