// Package bcast broadcasts along the wiring of the machine.
//
//	b, err := bcast.New(comm, &bcast.Settings{Network: network}) // collective
//	...
//	err = b.Bcast(buf, root) // collective, as often as you like; no allocation once warm
//	...
//	err = b.Close() // collective
//
// The network is that of measure.Discover, or a file of it (model.Load). It may
// be of other ranks than those of the communicator: New compares where they run
// and takes the view, and Broadcaster.Warnings says what does not fit.
//
// # Method
//
// It is that of Reinfjell 2023, chapter 6, on a tree of any depth:
//
//  1. An algorithm of package schedule is a pure schedule, the list of sends and
//     receives of each rank: flat, binomial, a chain, and multilevel, which
//     generalises MagPIe (Kielmann et al. 1999) and enters each group once.
//  2. Small messages want few hops, long ones every link busy all the time: they
//     are sent in segments. Groups that are not firm (topology.FirmSupport) shape
//     no schedule. Settings.Topologies compares plans along several ways to see the ranks in groups, as the thesis
//     does with nodes and sockets; a plan may also pass over levels (schedule.ShapeNone).
//  3. The decision function of section 6.5.2 rests on broadcasts that were timed.
//     Ours rests on the network: package predict tells when the last rank has
//     the message, and lists each algorithm with its best shape and segment.
//  4. The library's own broadcast is the incumbent: the best plans are timed
//     against it, on the caller's first message of each class of sizes and roots or in
//     Tune, and one of them is used only if it wins a paired test (package tuner).
//     Broadcaster.Plan tells what that is. Blocking transfers or some at once is a part of the
//     choice, as in tables 6.4 and 6.6. A plan may also leave the last part of the way to the library, inside each group
//     of a level (schedule.NativeGroups): within a host, say. How long that takes is measured first.
//  5. What was tuned stays with the network (Broadcaster.Table, package table), so
//     that the next job on these hosts starts tuned. Settings.Adapt goes on comparing while the job
//     runs: the plan in use with the library's own broadcast, and with the best plan of another schedule.
//
// # Rooms
//
// A warm Bcast looks into a table and either calls the library or has its steps
// performed: route.go and the executor are all of its way. What fills the table is apart from
// it: choose.go asks package predict for plans and package tuner which of them is
// fastest, groups.go knows the library in groups, adapt.go does so again while the job runs, tuned.go reads it from the
// network and gives it back.
//
// Package schedule proves a schedule right (Check); a Broadcaster carries it out; neither needs to
// know which algorithm it has, and yours may be one. Benchmark compares all of
// them with the library's own and looks at every byte.
//
// # Limits
//
// The first broadcast of a class of sizes (up to a power of two) and of roots that play the same
// part in the groups takes longer: some 50 to 100 broadcasts, unless Settings.Budget says less.
// A choice is made at one size of its class and holds for all.
// Messages are bytes or slices of numbers (BcastSlice); all ranks know the length
// and the root. Predictions know links and hosts, not what other jobs do. A Broadcaster
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
// The library's own broadcast is timed against the best of up to a dozen plans, because
// no model knows what it does. A network that may not be that of the ranks does
// not go before it untested, whatever Settings.ModelOnly says. Timing is done once
// per class of sizes and of roots (table.RootClasses), from up to three roots of the class in turn:
// what is faster from some and slower from others does not win. A plan has to be faster by 3 %, where
// ranks share cores (mpi.OversubscribedHosts) and times are noisy by a tenth, in single broadcasts or in loops,
// and must not be slower by that in the other. The price is that gains of a few percent are
// left lying, and those that loops would lose.
//
// A broadcast of 0 bytes sends nothing, as in the MPI libraries: a broadcast
// is no barrier.
//
// Segments of one broadcast go under one tag, in order; nothing rests on
// buffered sends. Where the communicator has mpi.NonBlocking, one receive is
// posted ahead and the sends of two segments are under way at once. More gains
// nothing: the next segment is all that a rank can wait for meanwhile.
package bcast
