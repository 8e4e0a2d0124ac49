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
// The network may be of other ranks than those of the communicator: New compares
// where they run (Locations) and takes the view, and Broadcaster.Warnings says
// what does not fit. Groups that are not firm (topology.FirmSupport) shape no
// schedule.
//
// # Design
//
// Who decides. Every rank has to follow the same plan, and two processors may
// round a prediction apart. So the root of the first broadcast of a class of
// sizes decides and tells the others, once, in a few dozen bytes. The price is
// that the first broadcast waits for the root's choice; Tune pays it earlier.
//
// Settings, network and places are rank 0's as well: it takes the view once and
// tells the others its groups and, as they travelled, where the ranks are, each in
// some bytes per rank. They keep the network that they have, and take the view
// when they first have to predict: that of all ranks on each of them would cost
// O(ranks) times as much, which matters where thousands are simulated in one
// process.
//
// The library's own broadcast is timed against the best three plans, because
// no model knows what it does. Where it wins, it is what Bcast calls. A network
// that may not be that of the ranks does not go before it untested, whatever
// Settings.ModelOnly says. Timing is done once per class of sizes, not for each
// root: trees are shaped from their root. Where ranks share cores (mpi.CrowdedHosts)
// and times are noisy, a plan has to be faster by a tenth.
//
// A broadcast of 0 bytes sends nothing, as in the MPI libraries: a broadcast
// is no barrier.
//
// Segments of one broadcast go under one tag, in order; nothing rests on
// buffered sends. Where the communicator has mpi.NonBlocking, one receive is
// posted ahead and the sends of two segments are under way at once. More gains
// nothing: the next segment is all that a rank can wait for meanwhile.
package bcast
