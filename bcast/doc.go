// Package bcast provides topology-aware broadcasts that are never slower than MPI_Bcast.
//
//	b, err := bcast.New(comm, &bcast.Settings{Network: network}) // collective
//	...
//	err = b.Bcast(buf, root) // collective, as often as you like; no allocation once warm
//	...
//	err = b.Close() // collective
//
// The network is that of measure.Discover, or a file of it (model.Load). It may be of other ranks than those of the
// communicator: New compares where they run and takes the view, and Broadcaster.Warnings says what does not fit.
//
// # Words
//
// Native is MPI_Bcast. An algorithm (package schedule) says what each rank sends and receives. A plan is an algorithm
// with its settings, a segment and the groups that it follows. A decision is the plan for a class of sizes (up to a power
// of two) and one of roots. A compiled plan is a rank's part in a plan from one root. A program is its flat list of
// steps for one length.
//
// # Method
//
// It is that of Reinfjell 2023, chapter 6, on a tree of any depth:
//
//  1. Small messages want few hops, long ones every link busy all the time: they are sent in segments. Groups that are
//     not confident shape no schedule.
//  2. Package predict computes when the last rank has the message, and lists each algorithm with its best settings and
//     segment. The decision function of section 6.5.2 rests on timed broadcasts; ours rests on the network, and then on
//     time.
//  3. Native is the incumbent. The best plans are timed against it, on the caller's first message of each class or in
//     Tune, and one of them is used only if it wins a paired test (package tuner). Blocking transfers or some at once is
//     a part of the choice, as in tables 6.4 and 6.6. A plan may also leave the last part of the path to native
//     broadcasts inside each group of a level (schedule.NativeGroups).
//  4. Decisions stay with the network (Broadcaster.Table, package table). In the next job with the same ranks, hosts,
//     cores, library and settings of the library, a stored win is confirmed by seven pairs of broadcasts, or eleven if
//     one of the seven was lost, before it displaces native.
//
// # Files
//
// No file calls a file that calls it, directly or through others.
//
//   - bcast.go is New, with handshake.go, match.go and stored.go: network and stored decisions.
//   - broadcast.go is Bcast. compiled.go and execute.go are all of a warm one; ibcast.go leaves one under way.
//   - first.go is a first broadcast, which makes a decision (internal/decisions). groups.go measures native inside groups.
//   - compiled.go, execute.go and native.go perform a plan. plan.go shows plans, and compiles one of the caller.
//
// Candidates, Compile and a tuner.Stopwatch time algorithms side by side, those of the caller too: see the example
// Algorithm.
//
// # Limits
//
// The first broadcast of a class of sizes, and of roots that play the same part in the groups, takes longer: some 50 to
// 100 broadcasts, unless Settings.Budget says less. A decision is made at one size of its class and holds for all.
// Messages are bytes or slices of numbers (BcastSlice). Predictions know links and hosts, not what other jobs do. A
// Broadcaster belongs to one goroutine, and after an error of the communicator it is unusable.
//
// # Ranks that disagree
//
// All ranks call the same functions in the same order, with equal lengths and roots. If they do not:
//
//   - In the first broadcast of a class of sizes from a root, in Tune and in Candidates, all ranks get an error, and go on
//     together. That is so for a root that is no rank, too, if there was no broadcast of the class.
//   - In later broadcasts nothing looks, as that would take messages. Ranks get wrong bytes, wait for ever, or a rank
//     gets an error alone: of the communicator, or of a root that is no rank. If the ranks go on, the next first
//     broadcast tells all of them. Tune without sizes does so at any time.
//   - A rank that calls another package, or returns while others broadcast, lets these wait for ever. MPI itself does
//     so, too. Ranks of package mpi/local and of mpi/simnet get an error instead: a deadlock.
//
// A rank that returns its error from the function of mpi.Run ends the job, so that no other rank waits.
//
// # Design
//
// Rank 0 decides, always, and distributes the decision: two processors may round a prediction apart. It validates before
// it can fail alone, so an error of rank 0 is an error on all ranks. The price is one more hop in the first
// broadcast of a class. The network stays on rank 0: the others know the groups, and what messages cost on each level.
//
// Native is timed against the best of up to eight plans, because no model knows what it does. Timing is done once per
// class of sizes and of roots (table.RootClasses), from up to three roots of the class in turn: what is faster from some
// and slower from others does not win. A plan has to be faster by 3 % in single broadcasts or in loops, and must not be
// slower by that in the other; 10 % where ranks share cores. The price: gains of a few percent are ignored.
//
// A schedule is lowered once to starts and waits (schedule.Lower). mpi.Scheduler performs that list in one call, and
// request sets perform it here. One receive is posted ahead and the sends of two segments are under way
// at once. More gains nothing: the next segment is all that a rank can wait for meanwhile.
//
// A broadcast of 0 bytes sends nothing, as in the MPI libraries: a broadcast is no barrier. The first one from each root is
// an exception. 0 bytes are a class of sizes, so ranks agree about them: another rank may have passed more.
package bcast
