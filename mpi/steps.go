package mpi

import "fmt"

// A Step is one transfer of a list that a Scheduler performs. Its bytes are given
// by their place in a buffer.
type Step struct {
	Kind   StepKind
	Peer   int // the destination of StepSend and StepExchange, the source of StepRecv
	Offset int // of the first byte
	Length int // bytes, at most 2^31-1

	// What StepExchange receives while it sends.
	RecvPeer, RecvOffset, RecvLength int
}

// StepKind says what a Step does.
type StepKind uint8

// The kinds of steps.
const (
	StepSend     StepKind = iota // as Send
	StepRecv                     // as Recv
	StepExchange                 // send to Peer and receive from RecvPeer at once, so that ranks in a ring may all do so
)

func (k StepKind) String() string {
	switch k {
	case StepSend:
		return "send"
	case StepRecv:
		return "recv"
	case StepExchange:
		return "exchange"
	}
	return fmt.Sprintf("step of kind %d", uint8(k))
}

// A Scheduler performs whole lists of transfers below Go, for the price of one
// call: that of a call from Go, 30 to 100 ns, is as much as a short transfer's own
// software.
type Scheduler interface {
	// Perform performs the steps in their order, on the bytes of buf and with the
	// tag. A message has to be as long as its step says: a longer one is an
	// ErrTruncated, a shorter one an ErrLength.
	//
	// With ahead, the receive after the current one is posted already, and a
	// send may end as late as with the list; what a step sends must not be
	// received by a later step then, nor anything be received twice. Perform
	// waits for no transfer earlier than without.
	//
	// It does not allocate, and returns when nothing is under way on buf. If a
	// step fails, it returns its index; others may be under way for good then,
	// and keep buf. Steps that are wrong in themselves (ErrRank, ErrTag,
	// ErrCount, or bytes that are not in buf) are found before any is performed.
	Perform(buf []byte, steps []Step, tag int, ahead bool) (failed int, err error)
}
