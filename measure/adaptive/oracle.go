package adaptive

import (
	"errors"
	"fmt"
	"math"
)

// An Oracle measures pairs of hosts.
type Oracle interface {
	// Read measures the given pairs, all at once, and writes the latency of
	// each in s into dst, which is as long; NaN is a pair that gave none. No host
	// is in two pairs of a call. ErrStop, wrapped or not, ends the discovery with
	// what was read before; any other error fails it.
	Read(dst []float64, pairs []Pair) error
}

// ErrStop is returned by an Oracle whose time is up.
var ErrStop = errors.New("no time left")

// A Pair is two different hosts.
type Pair struct{ A, B int32 }

// A Reading is the latency of a pair, in s, as it was read in a round.
type Reading struct {
	Pair
	Round   int32
	Latency float32 // s, to seven digits
}

// A ledger asks the oracle and keeps what it said.
type ledger struct {
	oracle Oracle
	hosts  int
	log    []Reading
	rounds int
	idle   int     // rounds without a pair, in a row
	busy   []int32 // round in which a host was last taken, from 1
	pairs  []Pair
	values []float64
}

// mostIdle is how many rounds without a pair in a row are a fault of ours.
const mostIdle = 1000

func newLedger(oracle Oracle, hosts int) *ledger {
	return &ledger{oracle: oracle, hosts: hosts, busy: make([]int32, hosts)}
}

// open begins a round.
func (l *ledger) open() { l.pairs = l.pairs[:0] }

func (l *ledger) free(h int32) bool { return l.busy[h] != int32(l.rounds+1) }

// add puts two free hosts into the round, and returns the place of their reading.
func (l *ledger) add(a, b int32) int {
	l.busy[a], l.busy[b] = int32(l.rounds+1), int32(l.rounds+1)
	l.pairs = append(l.pairs, Pair{a, b})
	return len(l.pairs) - 1
}

// read measures the round: ln of the latency in s by the places of add, NaN where there is none.
func (l *ledger) read() ([]float64, error) {
	if len(l.pairs) == 0 { // all who ask wait for someone, which they do for a round or two
		if l.idle++; l.idle > mostIdle {
			return nil, fmt.Errorf("adaptive: after %d rounds no pair is left to read, and hosts without a place are", l.rounds)
		}
		return nil, nil
	}
	l.idle = 0
	if cap(l.values) < len(l.pairs) {
		l.values = make([]float64, 2*len(l.pairs))
	}
	values := l.values[:len(l.pairs)]
	if err := l.oracle.Read(values, l.pairs); err != nil {
		return nil, err
	}
	for k, d := range values {
		p := l.pairs[k]
		switch {
		case math.IsInf(d, 0) || d < 0:
			return nil, fmt.Errorf("adaptive: measurement of hosts %d and %d: %g s: want a latency", p.A, p.B, d)
		case math.IsNaN(d) || d == 0: // nothing, or below what the clock can tell
			values[k] = math.NaN()
		default:
			l.log = append(l.log, Reading{p, int32(l.rounds), float32(d)})
			values[k] = math.Log(d)
		}
	}
	l.rounds++
	return values, nil
}
