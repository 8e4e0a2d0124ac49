package measure

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestSlowRoundsAreMeasuredAgain: a round that is 5 % slow where the noise is 1 %, once; a fast
// one, and rounds as chance has them, are not.
func TestSlowRoundsAreMeasuredAgain(t *testing.T) {
	for seed := range uint64(10) {
		r := synthetic(t, 12, 5, seed, 2, 4, 1.05)
		c := newCollector(&Settings{extra: 9}, r)
		rounds, more := c.again(5)
		if !more || len(rounds) == 0 || len(rounds) > 3 {
			t.Fatalf("seed %d: %d rounds again, %t; want that of the slow one", seed, len(rounds), more)
		}
		want := r.pairsOf(2, 4)
		if len(want) != 6 || !slices.ContainsFunc(rounds, func(round [][2]int) bool { return slices.Equal(round, want) }) {
			t.Errorf("seed %d: rounds %v again, want %v", seed, rounds, want)
		}
		if rounds, more := c.again(6); more {
			t.Errorf("seed %d: rounds %v are measured a third time", seed, rounds)
		}
		if rounds, more := newCollector(&Settings{}, r).again(5); more {
			t.Errorf("seed %d: rounds %v again, but no extra repetitions are allowed", seed, rounds)
		}
	}
	again := 0
	for seed := range uint64(20) {
		if _, more := newCollector(&Settings{extra: 9}, synthetic(t, 12, 5, seed, 2, 4, 0.95)).again(5); more {
			again++
		}
		if _, more := newCollector(&Settings{extra: 9}, synthetic(t, 12, 5, seed, 2, 4, 1)).again(5); more {
			again++
		}
	}
	if again > 4 {
		t.Errorf("%d of 40 measurements without a slow round are repeated", again)
	}
}

// wavering is a world whose pair of ranks 0 and 1 differs by 5 % from measurement to measurement.
type wavering struct {
	timedComm
	rng *rand.Rand
}

func (c *wavering) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	if err := c.timedComm.PingPong(samples, peer, tag, size, iters, first); err != nil {
		return err
	}
	if c.Rank()+peer == 1 && first {
		f := 1 + 0.05*c.rng.NormFloat64()
		for i := range samples {
			samples[i] *= f
		}
	}
	return nil
}

// TestPrecision: the pair that wavers is measured until its median is known to 2 %, and no other.
// 1.96*1.25*5%/sqrt(k) = 2 % for k = 38 measurements, two per repetition.
func TestPrecision(t *testing.T) {
	r := results(t, 4, nil, &Settings{Sampling: Sampling{Precision: 0.02, Samples: 5}}, func(c mpi.Communicator) mpi.Communicator {
		return &wavering{timedComm{bare: bare{c}}, rand.New(rand.NewPCG(5, uint64(c.Rank())))}
	})[0]
	for _, p := range r.byPair(0) {
		wavers := p.a == 0 && p.b == 1
		if n := len(p.all); !p.precise(0.02) || n != 6 && !wavers || wavers && (n < 16 || n > 80) {
			t.Errorf("pair %d, %d: %d measurements", p.a, p.b, n)
		}
	}
	few := results(t, 4, nil, &Settings{Sampling: Sampling{Precision: 0.002, Samples: 5}, extra: 4}, func(c mpi.Communicator) mpi.Communicator {
		return &wavering{timedComm{bare: bare{c}}, rand.New(rand.NewPCG(5, uint64(c.Rank())))}
	})[0]
	if few.Repetitions != 7 {
		t.Errorf("%d repetitions, want 3 and 4 more", few.Repetitions)
	}
}

// TestDisjoint: every pair is in one round, no rank twice, and few rounds are taken.
func TestDisjoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		n := 2 + rng.IntN(20)
		var pairs [][2]int
		degree := make([]int, n)
		for a := range n {
			for b := range a {
				if rng.IntN(3) == 0 {
					pairs = append(pairs, [2]int{b, a})
					degree[a]++
					degree[b]++
				}
			}
		}
		rounds := harness.Greedy(pairs, func(p [2]int) []int { return p[:] })
		if most := 2 * slices.Max(degree); len(rounds) > max(most-1, 0) {
			t.Errorf("%d rounds, want fewer than %d", len(rounds), most)
		}
		seen := make(map[[2]int]bool)
		for _, round := range rounds {
			busy := make([]bool, n)
			for _, p := range round {
				if busy[p[0]] || busy[p[1]] || seen[p] {
					t.Fatalf("rounds %v of pairs %v", rounds, pairs)
				}
				busy[p[0]], busy[p[1]], seen[p] = true, true, true
			}
		}
		if len(seen) != len(pairs) {
			t.Errorf("%d of %d pairs", len(seen), len(pairs))
		}
	}
}

// TestWaysOfMeasuring: one pair at a time, by Bufe's halving, and single round trips, on a
// simulated cluster, read the same latencies; the number of rounds is that of the schedule.
func TestWaysOfMeasuring(t *testing.T) {
	cluster, err := gen.Parse("star:10")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		settings Settings
		rounds   int
		batch    int // of all measurements; 0: any
	}{
		{"in parallel", Settings{}, 9, 0},
		{"one pair at a time", Settings{Pairs: harness.Pairs{Sequential: true}}, 45, 0},
		{"by halving", Settings{Pairs: harness.Pairs{Halving: true}}, 11, 0},
		{"single", Settings{Sampling: Sampling{Batch: 1}}, 9, 1},
		{"in batches of 7", Settings{Sampling: Sampling{Batch: 7}}, 9, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.settings.Repetitions, c.settings.Samples = 1, 5
			err := simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
				r, err := Run(context.Background(), comm, &c.settings)
				if r == nil {
					return err
				}
				if r.Rounds != c.rounds || len(r.Measurements()) != 90 {
					t.Errorf("%d rounds, %d measurements, want %d, 90", r.Rounds, len(r.Measurements()), c.rounds)
				}
				want := r.Measurements()[0].Median
				for _, x := range r.Measurements() {
					// The first of five samples may be later than the others: its peer has yet to come.
					if mean := (4*want + x.Max) / 5; x.Median != want || math.Abs(x.Mean-mean) > 1e-12 || c.batch > 0 && x.Batch != c.batch {
						t.Errorf("measurement %+v, want %g s in batches of %d", x, want, c.batch)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, s := range []Settings{{Sampling: Sampling{Batch: -1}}, {Sampling: Sampling{Batch: 1001}}, {Sampling: Sampling{Precision: -0.1}}, {Sampling: Sampling{Precision: 1}}} {
		if err := s.validate(4); err == nil || !strings.Contains(err.Error(), "measure: Settings.") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}

func (*wavering) CallCosts() (call, loop float64) { return 0, 0 }
