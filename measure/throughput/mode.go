package throughput

import "fmt"

// A Mode says what the messages of a pair look like.
type Mode int

const (
	// OneWay messages follow each other from one rank to the other; the receiver times
	// their arrivals. The two directions are measured one after the other.
	OneWay Mode = iota

	// Answered messages are answered by one of the same size each, as Servet's are:
	// a rate is the size over half a round trip, latency included, and both directions
	// of a link get the same.
	Answered

	// Exchange has messages in both directions at once, as LinkTest's are with its
	// option for that: each rate is what is left of a direction while the other is busy. It
	// takes a communicator that is mpi.NonBlocking.
	Exchange
)

func (m Mode) String() string {
	switch m {
	case OneWay:
		return "one-way"
	case Answered:
		return "answered"
	case Exchange:
		return "exchange"
	}
	return fmt.Sprintf("Mode(%d)", int(m))
}
