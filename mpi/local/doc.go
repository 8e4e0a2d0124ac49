// Package local runs the ranks of a job as goroutines of one process. Users
// test their own message-passing code with it, and measure the latencies
// between the cores of one machine without any MPI:
//
//	err := local.Run(4, &local.Settings{Mode: local.Pinned}, func(c mpi.Communicator) error {
//		...
//	})
//
// # Modes
//
// Buffered lets Send return at once, as MPI libraries do with short messages.
// Rendezvous lets it return when the message is received, as they do with long
// ones: code that runs here does not depend on buffering. In both, ranks that all
// wait for each other are an error (ErrDeadlock) that says what each was doing.
//
// Pinned binds ranks to cores and spins, so that times are those of the machine:
// what package measure reads over it are latencies from core to core.
//
// # Limits
//
// Worlds in the modes Buffered and Rendezvous move one message at a time, whatever
// the number of cores. Pinned is for Linux. With more ranks than cores (or
// GOMAXPROCS) there is nothing to bind and nothing to spin for: its ranks then
// are plain goroutines that yield while they wait, Core is -1, and times mean
// nothing. A rank that waits for one that has returned ends a pinned world; ranks
// that wait for each other spin for good, since nobody looks at all of them.
//
// # Design
//
// Buffered and Rendezvous share one implementation under one lock per world.
// The lock makes it exact: a world in which all ranks wait for each other is
// recognised the moment the last one blocks.
//
// Pinned has no lock. Each ordered pair of ranks has a ring of cache lines
// that one side writes and the other polls; messages of more than a line are
// copied once, by the receiver, out of the sender's buffer. Each rank has an
// OS thread of its own.
//
// Broadcast is the "library's own" of these worlds: the root shows its buffer
// and everybody copies from it. Timed exists in Pinned only, since
// only there it has anything to measure.
package local
