package local

import "errors"

// A Mode is a way in which messages travel.
type Mode int

const (
	// Buffered lets Send return at once: the message is copied if nobody
	// receives it yet.
	Buffered Mode = iota
	// Rendezvous lets Send return only when the message has been received. Code
	// that runs here does not depend on buffering.
	Rendezvous
	// Pinned binds each rank's thread to a core and spins, for real
	// core-to-core latencies. Messages of more than 32 bytes, and short ones
	// when 8 of them are waiting, block until received. Linux only.
	Pinned
)

// ErrDeadlock is wrapped by the error of Run when ranks would wait for ever. In the
// modes Buffered and Rendezvous, all ranks that have not returned wait for each other.
// In mode Pinned, one waits for another that has returned.
var ErrDeadlock = errors.New("deadlock")
