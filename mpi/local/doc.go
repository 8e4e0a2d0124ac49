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
// Rendezvous lets Send return when the message has been received, as MPI
// libraries do with long messages: code that runs here does not depend on
// buffering. In both modes it is an error (ErrDeadlock) if all ranks wait for
// each other. The error says what each rank was doing.
//
// Pinned binds ranks to cores and spins. Its times are those of the machine:
// package measure finds latencies from core to core over it.
//
// # Limits
//
// Worlds in the modes Buffered and Rendezvous move one message at a time,
// whatever the number of cores.
//
// Pinned requires Linux. With more ranks than cores (or GOMAXPROCS) no rank is
// bound. The ranks then are plain goroutines that yield while they wait, Core
// is -1, and times mean nothing. A rank that waits for one that has returned
// ends a pinned world. Ranks that wait for each other spin for ever, since
// nobody looks at all of them.
//
// # Design
//
// A comm is the communicator of all modes. It checks arguments and has sets of
// requests, Bcast and Split. Its mover moves the messages of one rank.
//
// The mover of Buffered and Rendezvous (locked.go) works under one lock per
// world. The lock makes it exact: it recognises a deadlock at the moment at
// which the last rank blocks.
//
// The mover of Pinned (engine.go, ring.go, pinned.go) has no lock. Each ordered
// pair of ranks has a ring of cache lines that one side writes and the other
// polls. The receiver copies longer messages out of the sender's buffer. Each
// rank has an OS thread of its own.
//
// Bcast is the native broadcast of these worlds: the root shows its buffer and
// all others copy from it. Only Pinned is an mpi.Timed, since only there is
// something to measure.
package local
