// Package bcast broadcasts along the wiring of the machine.
//
//	b, err := bcast.New(comm, &bcast.Settings{Network: network}) // collective
//	...
//	err = b.Bcast(buf, root) // collective, as often as you like; no allocation once warm
//
// An Algorithm is a pure schedule: the list of sends and receives of each
// rank. Check proves a schedule right, Predict tells its time on a
// model.Network, and a Broadcaster carries it out; none needs to know which
// algorithm it has. Plans tells, with no communicator at all, which algorithm
// and segment are best for a size, and Broadcaster.Plan which one is used.
//
// The algorithms are Flat, Binomial, Chain and MultiLevel. Small messages want
// few hops, long ones every link busy all the time, in segments, each link
// between groups crossed once: that the tree of the machine is known is what
// makes the difference (Reinfjell 2023, chapter 6; Kielmann et al. 1999).
//
// Benchmark compares all of them with the library's own broadcast.
//
// # Design
//
// Who decides. Every rank has to follow the same plan, and two processors may
// round a prediction apart. So the root of the first broadcast of a class of
// sizes decides and tells the others, once, in a few dozen bytes. The price is
// that the first broadcast waits for the root's choice; Tune pays it earlier.
//
// The library's own broadcast is timed against the best three plans, because
// no model knows what it does. Where it wins, it is what Bcast calls. Timing is
// done once per class of sizes, not for each root: trees are shaped from their
// root. With more ranks than cores, where times are noisy, it has to be faster
// by a tenth.
//
// A broadcast of 0 bytes sends nothing, as in the MPI libraries: a broadcast
// is no barrier.
//
// Segments of one broadcast go under one tag, in order; nothing rests on
// buffered sends. Where the communicator has mpi.NonBlocking, one receive is
// posted ahead and the sends of two segments are under way at once. More gains
// nothing: the next segment is all that a rank can wait for meanwhile.
package bcast
