package mpi

import "fmt"

// A Step is one entry of a list that a Scheduler performs: a transfer, the start of a transfer, or the wait for those
// that were started. Its bytes are given by their place in a buffer.
type Step struct {
	Kind   StepKind
	Set    int // of StepStartSend, StepStartRecv and StepWait: the set of transfers, in [0, StepSets)
	Peer   int // the destination or the source
	Offset int // of the first byte
	Length int // bytes, at most 2^31-1
}

// StepKind says what a Step does.
type StepKind uint8

// The kinds of steps.
const (
	StepSend      StepKind = iota // as Send
	StepRecv                      // as Recv
	StepStartSend                 // starts a send, as Requests.Isend
	StepStartRecv                 // starts a receive, as Requests.Irecv
	StepWait                      // waits for all transfers of a set, which is empty then
)

const (
	// StepSets is how many sets of transfers a list may use.
	StepSets = 4

	// StepSetSize is how many transfers of a set may be under way at once.
	StepSetSize = 32
)

func (k StepKind) String() string {
	switch k {
	case StepSend:
		return "send"
	case StepRecv:
		return "receive"
	case StepStartSend:
		return "start to send"
	case StepStartRecv:
		return "start to receive"
	case StepWait:
		return "wait"
	}
	return fmt.Sprintf("step of kind %d", uint8(k))
}

func (s Step) String() string {
	if s.Kind == StepWait {
		return fmt.Sprintf("wait for set %d", s.Set)
	}
	return fmt.Sprintf("%v [%d, %d) peer %d", s.Kind, s.Offset, s.Offset+s.Length, s.Peer)
}

// A Scheduler performs whole lists of steps below Go, for the price of one call. A call from Go takes 30 to 100 ns,
// as much as the overhead of a short message.
type Scheduler interface {
	// Perform performs the steps in their order, on the bytes of buf and with the tag. A message has to be as long as
	// its step says: a longer one is an ErrTruncated, a shorter one an ErrLength. What a started transfer sends must
	// not be received, nor anything be received twice, before the wait.
	//
	// Perform does not allocate, and returns when nothing is under way on buf. If a transfer fails, it returns the
	// index of the step that has begun it. Others may be under way for good then, and keep buf. Steps that are wrong
	// in themselves are found before any is performed: ErrRank, ErrTag, ErrCount, bytes that are not in buf, a set that is
	// too full or is not waited for.
	Perform(buf []byte, steps []Step, tag int) (failed int, err error)
}
