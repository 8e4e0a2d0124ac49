// Package bcast broadcasts along the wiring of the machine.
//
//	b, err := bcast.New(comm, &bcast.Settings{Network: network}) // collective
//	...
//	err = b.Bcast(buf, root) // collective, as often as you like; no allocation once warm
//
// The network is that of measure.Discover, or a file of it (model.Load). It may
// be of other ranks than those of the communicator: New compares where they run
// and takes the view, and Broadcaster.Warnings says what does not fit.
//
// # Method
//
// It is that of Reinfjell 2023, chapter 6, on a tree of any depth:
//
//  1. An Algorithm is a pure schedule, the list of sends and receives of each
//     rank: Flat, Binomial, Chain, and MultiLevel, which generalises MagPIe
//     (Kielmann et al. 1999) and enters each group of the machine once.
//  2. Small messages want few hops, long ones every link busy all the time: they
//     are sent in segments. Groups that are not firm (topology.FirmSupport) shape
//     no schedule.
//  3. The decision function of section 6.5.2 rests on broadcasts that were timed.
//     Ours rests on the network: Predict tells when the last rank has the
//     message, and Plans lists each algorithm with its best shape and segment, the
//     fastest first.
//  4. The library's own broadcast is the incumbent: the best plans are timed
//     against it, on the caller's first message of each class of sizes or in
//     Tune, and only what wins is used. Broadcaster.Plan tells what that is.
//
// Check proves a schedule right; a Broadcaster carries it out; neither needs to
// know which algorithm it has, and yours may be one. Benchmark compares all of
// them with the library's own and looks at every byte.
//
// # Limits
//
// The first broadcast of a class of sizes (up to a power of two) takes longer.
// Messages are bytes or slices of numbers (BcastSlice); all ranks know the length
// and the root. Predictions know links and hosts, not what other jobs do. A plan
// that was chosen by timing, for one root, serves the others, too. A Broadcaster
// belongs to one goroutine, and after an error it is unusable.
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
// no model knows what it does. A network that may not be that of the ranks does
// not go before it untested, whatever Settings.ModelOnly says. Timing is done once
// per class of sizes, not for each root: trees are shaped from their root. Where
// ranks share cores (mpi.CrowdedHosts) and times are noisy, a plan has to be faster
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
