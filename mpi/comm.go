package mpi

// A Communicator carries messages between the ranks 0..Size()-1 of a job. It
// is the whole of what topocast needs of a message-passing library.
//
// Messages between one pair of ranks with one tag arrive in the order in which
// they were sent. A Communicator belongs to one goroutine. After an error on
// one rank the communicator is unusable on all of them.
type Communicator interface {
	// Rank is the number of the calling rank, in [0, Size()).
	Rank() int

	// Size is the number of ranks.
	Size() int

	// Send sends buf to rank dst. The buffer is reusable when Send returns.
	// Send may block until the message is received. dst must not be the
	// calling rank.
	Send(buf []byte, dst, tag int) error

	// Recv receives the next message with the given tag from rank src. The
	// message has to be exactly len(buf) bytes long; 0 bytes is legal. A
	// longer message is an ErrTruncated, a shorter one an ErrLength.
	Recv(buf []byte, src, tag int) error
}

// MaxTag is the largest tag that every Communicator accepts; the MPI standard
// guarantees as much (MPI 4.0, section 9.1.2: MPI_TAG_UB is at least 32767).
// Tags are at least 0.
const MaxTag = 32767

// A SyncSender sends synchronously: Ssend returns only after the receiver has
// started to receive the message.
type SyncSender interface {
	Ssend(buf []byte, dst, tag int) error
}

// NonBlocking is the ability to have several transfers under way at once.
type NonBlocking interface {
	// NewRequests returns an empty set of requests. A set is meant to be
	// kept and used again; in steady state it does not allocate.
	NewRequests() Requests
}

// Requests is a set of transfers under way. Buffers given to Isend and Irecv must not be touched before
// WaitAll or Test says that the set is complete, and stay pinned until then. A set that is dropped before,
// after an error, say, leaks its buffers and does no other harm.
type Requests interface {
	// Isend starts to send buf to rank dst.
	Isend(buf []byte, dst, tag int) error

	// Irecv starts to receive a message of exactly len(buf) bytes from src.
	Irecv(buf []byte, src, tag int) error

	// WaitAll blocks until all transfers of the set are complete, and empties the set. It returns
	// the first error in the order of the calls.
	WaitAll() error

	// WaitAny blocks until a transfer of the set is complete that it has not returned yet. It returns
	// the number of the transfer, from 0 in the order of the calls that have made the set, and -1
	// when it has returned all. WaitAll has to be called in the end: it empties the set, and returns
	// what was wrong with a transfer.
	WaitAny() (int, error)

	// Test returns at once and tells whether all transfers of the set are complete. If so, it has
	// emptied the set, and returns what WaitAll would. Transfers progress in its calls: without
	// them, what is longer than the library buffers may not move before WaitAll.
	Test() (done bool, err error)
}

// An Ibcaster is the ability of Requests to have the library's own broadcast
// under way.
type Ibcaster interface {
	// Ibcast is collective: it starts to copy buf of rank root into buf of all
	// ranks, as one more transfer of the set. len(buf) and root are equal on all
	// ranks, which start their broadcasts, also those of NativeBcast, in one order.
	Ibcast(buf []byte, root int) error
}

// A Clock tells the time of the communicator: the wall clock of real ranks,
// virtual time in a simulation.
type Clock interface {
	// Now is the time in seconds since some fixed moment. Clocks of different
	// ranks need not agree.
	Now() float64
}

// Placed tells where a rank runs.
type Placed interface {
	// Place is the host, the core and the CPUs of the rank.
	Place() Place
}

// Versioned tells which library carries the messages.
type Versioned interface {
	// LibraryVersion is the name and version of the library, in one line of
	// its own words.
	LibraryVersion() string
}

// Timed runs a whole batch of timed exchanges below Go, so that the cost of calls from Go does not enter the
// measured times.
type Timed interface {
	// PingPong exchanges messages of size bytes with rank peer. It stores in samples[i] the time in
	// seconds of the i-th iters round trips, which includes the overhead of the clock. The rank with
	// first = true sends first; samples are taken on both ranks. Both ranks call with equal
	// len(samples), size, tag and iters, and opposite first.
	PingPong(samples []float64, peer, tag, size, iters int, first bool) error

	// CallCosts tells what Go adds to calls of the library, in s: to a call such as Send, of which a
	// round trip has two on either rank, and to a call that PingPong makes. 0: nothing.
	CallCosts() (call, loop float64)
}

// NativeBcast is the library's own broadcast.
type NativeBcast interface {
	// Bcast is collective: it copies buf of rank root into buf of all ranks.
	// len(buf) and root are equal on all ranks.
	Bcast(buf []byte, root int) error
}

// A Splitter makes further communicators over subsets of the ranks.
type Splitter interface {
	// Split is collective: ranks with equal color >= 0 form a new communicator, ordered by key and
	// then by old rank. A rank with color < 0 takes part in no new communicator and gets nil. With
	// color 0 and the rank as key it is a duplicate, whose messages never match those of the original.
	// It belongs to the goroutine of the original: a rank makes one call at a time.
	Split(color, key int) (Communicator, error)
}

// A Failer ends the whole job because of an error, and tells it.
type Failer interface {
	// Fail ends all ranks because of err, which is told to whoever has started them. Unlike other
	// methods it may be called while another goroutine waits in an operation of the communicator:
	// that is what it is for. It returns only if the process goes on, as that of ranks in one process
	// does; their operations then return ErrAborted.
	Fail(err error)
}
