package adaptive

import (
	"errors"
	"fmt"
	"math"
)

// read measures pairs of hosts at once, see Find.
type read func(dst []float64, pairs [][2]int32) error

// ErrStop says that there is no time to measure more.
var ErrStop = errors.New("no time left")

// A pair is two different hosts.
type pair = [2]int32

// nobody is no pair.
var nobody = pair{none, none}

// A measurement is the latency of two hosts.
type measurement struct {
	A, B    int32
	Latency float32 // s, to seven digits
}

// A ledger measures pairs in rounds, and keeps what was read.
type ledger struct {
	read   read
	hosts  int
	log    []measurement
	rounds int
	idle   int     // rounds without a pair, in a row
	busy   []int32 // round in which a host was last taken, from 1
	pairs  []pair  // of the round
	values []float64
}

// mostIdle is how many rounds without a pair in a row are a fault of ours.
const mostIdle = 1000

func newLedger(read read, hosts int) *ledger {
	return &ledger{read: read, hosts: hosts, busy: make([]int32, hosts)}
}

func (l *ledger) free(h int32) bool { return l.busy[h] != int32(l.rounds+1) }

// round asks a pair of each open question at once. Pair names two free hosts that may answer, or nobody. Take gets the pair
// and ln of its latency in s: NaN if nothing was read. It tells whether the question is settled. Round returns those that are
// not.
func round[Q any](l *ledger, open []Q, choose func(Q) pair, take func(Q, pair, float64) bool) ([]Q, error) {
	l.pairs = l.pairs[:0]
	slots := make([]int, len(open))
	for k, q := range open {
		slots[k] = -1
		if p := choose(q); p != nobody {
			slots[k] = len(l.pairs)
			l.busy[p[0]], l.busy[p[1]] = int32(l.rounds+1), int32(l.rounds+1)
			l.pairs = append(l.pairs, p)
		}
	}
	values, err := l.measure()
	if err != nil {
		return nil, err
	}
	left := open[:0]
	for k, q := range open {
		p, z := nobody, math.NaN()
		if slot := slots[k]; slot >= 0 {
			p, z = l.pairs[slot], values[slot]
		}
		if !take(q, p, z) {
			left = append(left, q)
		}
	}
	return left, nil
}

// measure reads the pairs of the round: ln of the latencies in s, NaN where there is none.
func (l *ledger) measure() ([]float64, error) {
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
	if err := l.read(values, l.pairs); err != nil {
		return nil, err
	}
	for k, d := range values {
		p := l.pairs[k]
		switch {
		case math.IsInf(d, 0) || d < 0:
			return nil, fmt.Errorf("adaptive: measurement of hosts %d and %d: %g s: want a latency", p[0], p[1], d)
		case math.IsNaN(d) || d == 0: // nothing, or below what the clock can tell
			values[k] = math.NaN()
		default:
			l.log = append(l.log, measurement{p[0], p[1], float32(d)})
			values[k] = math.Log(d)
		}
	}
	l.rounds++
	return values, nil
}
