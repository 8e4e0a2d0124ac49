package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// rounds are all pairs of an even number of ranks: the first stays at its place while the
// others move round the table.
func rounds(table []int) [][][2]int {
	var all [][][2]int
	for range len(table) - 1 {
		var round [][2]int
		for i := range len(table) / 2 {
			a, b := table[i], table[len(table)-1-i]
			round = append(round, [2]int{min(a, b), max(a, b)})
		}
		all = append(all, round)
		table = slices.Concat(table[:1], table[len(table)-1:], table[1:len(table)-1])
	}
	return all
}

// synthetic is a full measurement of an even number n of ranks, with
// latencies of 1 to 2 us, noise of 1 % and the given factor on one round of one
// repetition.
func synthetic(t *testing.T, n, repeats int, seed uint64, repetition, round int, factor float64) *Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	r := &Result{Header: record.Header{Ranks: n}, Sizes: []int{0}, Repetitions: repeats, Samples: 20}
	base := make(map[[2]int]float64)
	for i := range n {
		for j := range i {
			base[[2]int{j, i}] = 1e-6 * (1 + rng.Float64())
		}
	}
	for k := range repeats {
		for i, pairs := range rounds(rng.Perm(n)) {
			for _, p := range pairs {
				x := base[p] * math.Exp(0.01*rng.NormFloat64())
				if k == repetition && i == round {
					x *= factor
				}
				for _, d := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
					r.measurements = append(r.measurements, Measurement{From: d[0], To: d[1], Repetition: k, Round: i, Summary: pingpong.Summary{Count: 20, Batch: 1, Min: x, Q1: x, Median: x, Q3: x, Max: x}})
				}
			}
		}
	}
	slices.SortFunc(r.measurements, compareMeasurements)
	return r
}

func TestDisturbedRoundIsFound(t *testing.T) {
	// As in table 3.5 of Bufe 2014, where one round is 2 % slow.
	for seed := range uint64(20) {
		r := synthetic(t, 12, 5, seed, 2, 4, 1.05)
		effects := roundEffects(r.byPair(0))
		if len(effects) != 5*11 {
			t.Fatalf("%d rounds, want 55", len(effects))
		}
		worst := roundEffect{}
		for _, e := range effects {
			if math.Abs(e.Sigmas) > math.Abs(worst.Sigmas) {
				worst = e
			}
		}
		if worst.Repetition != 2 || worst.Round != 4 || worst.Pairs != 6 {
			t.Errorf("seed %d: worst round is %+v, want round 4 of repetition 2 with 6 pairs", seed, worst)
		}
		// Noise of 1 % in 6 pairs: the effect is known to half a per cent.
		if got := math.Exp(worst.Effect) - 1; math.Abs(got-0.05) > 0.02 {
			t.Errorf("seed %d: effect %+.3f, want +0.05", seed, got)
		}
		if text := slowRoundsSign(r.byPair(0)); !strings.Contains(text, "round 4 of repetition 2") {
			t.Errorf("seed %d: warning %q, want one of round 4 of repetition 2", seed, text)
		}
	}
}

func TestQuietRoundsAreNotBlamed(t *testing.T) {
	blamed := 0
	for seed := range uint64(40) {
		r := synthetic(t, 12, 3, seed, 0, 0, 1)
		if slowRoundsSign(r.byPair(0)) != "" {
			blamed++
		}
	}
	// 33 rounds of pure noise: the limit is one beyond 3 sigma by chance.
	if blamed > 2 {
		t.Errorf("%d of 40 quiet measurements carry a warning, want at most 2", blamed)
	}
}

func TestRoundEffectsWantThreeRepetitions(t *testing.T) {
	r := synthetic(t, 12, 2, 1, 0, 0, 2)
	if effects := roundEffects(r.byPair(0)); len(effects) != 0 {
		t.Errorf("effects of two repetitions = %v, want none", effects)
	}
	nothing := &Result{Header: record.Header{Ranks: 3}, Sizes: []int{0}, Repetitions: 3}
	if effects := roundEffects(nothing.byPair(0)); len(effects) != 0 {
		t.Errorf("effects of nothing = %v, want none", effects)
	}
}

func TestWarnings(t *testing.T) {
	good := func() *Result {
		r := &Result{
			Header: record.Header{Ranks: 2, Hosts: []string{"a", "a"}, Cores: []int{0, 1}, CPUs: []int{1, 1}},
			Sizes:  []int{8}, Repetitions: 1, Samples: 20, Rounds: 1, TotalRounds: 1,
		}
		for rank := range 2 {
			r.measurements = append(r.measurements, Measurement{From: rank, To: 1 - rank, Summary: pingpong.Summary{Count: 20, Batch: 1, Min: 1e-6, Q1: 1e-6, Median: 1.1e-6, Q3: 1.2e-6, Max: 2e-6}})
		}
		return r
	}
	tests := []struct {
		name   string
		change func(r *Result)
		want   []string
	}{
		{"a good result", func(*Result) {}, nil},
		{"the budget", func(r *Result) { r.Stopped, r.TotalRounds = harness.StoppedByBudget, 3 }, []string{"budget ended the measurement after 1 of 3 rounds"}},
		{"pairs left out", func(r *Result) { r.measurements = nil }, []string{"0 of 1 pairs were measured"}},
		{"pairs left out on purpose", func(r *Result) { r.measurements, r.WithinGroups = nil, true }, nil},
		{"few samples", func(r *Result) { r.Samples = 3 }, []string{"3 samples per pair are too few"}},
		{"oversubscribed hosts", func(r *Result) { r.OversubscribedHosts = []string{"a", "b"} }, []string{"outnumber the cores on a, b: "}},
		{"many oversubscribed hosts", func(r *Result) { r.OversubscribedHosts = []string{"a", "b", "c", "d", "e", "f", "g"} }, []string{"outnumber the cores on a, b, c, d, e and 2 more hosts: "}},
		{"another environment", func(r *Result) { r.OtherEnvironment = []int{1} }, []string{"1 rank of 2 ran with other environment variables of the message-passing library than rank 0, the first is rank 1"}},
		{"a note", func(r *Result) { r.Notes = []string{"a note"} }, []string{"a note"}},
		{"a journal", func(r *Result) { r.Stopped, r.TotalRounds = harness.StoppedUnfinished, 3 }, []string{"the journal holds 1 of 3 rounds"}},
		{"directions that differ", func(r *Result) {
			x := &r.measurements[1]
			x.Min, x.Q1, x.Median, x.Q3, x.Max = 1.26e-6, 1.26e-6, 1.3e-6, 1.4e-6, 2e-6
		}, []string{"while 8 B were measured (the best two measurements differ by more than 25 % on 1 of 1 pairs, most between ranks 0 and 1: 1 us and 1.26 us): measure again while"}},
		{"directions that nearly agree", func(r *Result) {
			x := &r.measurements[1]
			x.Min, x.Q1, x.Median, x.Q3, x.Max = 1.24e-6, 1.24e-6, 1.3e-6, 1.4e-6, 2e-6
		}, nil},
		{"lots that never agreed", func(r *Result) { r.measurements[0].Unsure = true }, []string{"50 % were disturbed in all of 6 lots"}},
		{"a coarse clock", func(r *Result) { r.measurements[0].Min, r.measurements[0].Q1 = 0, 0 }, []string{"50 % of the measurements of 8 B are 0"}},
		{"wide spread", func(r *Result) {
			for i := range r.measurements {
				r.measurements[i].Q3 = 2.1e-6
			}
		}, []string{"covers 100 % of their median"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := good()
			tt.change(r)
			got := warnings(r)
			if len(got) != len(tt.want) {
				t.Fatalf("warnings = %q, want %q", got, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("warning = %q, want one with %q", got[i], want)
				}
			}
		})
	}
}

func TestMatrixRefusesWhatIsNotThere(t *testing.T) {
	r := example()
	upper := func(x *Measurement) float64 { return x.Q3 }
	for _, args := range [][2]int{{-1, 0}, {2, 0}, {0, -1}, {0, 2}} {
		if m, err := r.Matrix(upper, args[0], args[1]); err == nil {
			t.Errorf("Matrix%v = %v, want an error", args, m)
		}
	}
	m, err := r.Matrix(upper, 0, 1)
	if err != nil || m.At(0, 1) != 4e-6 || !math.IsNaN(m.At(1, 0)) {
		t.Errorf("Matrix = %v, %v; want 4e-06 from 0 to 1 and NaN back", m, err)
	}
	// Of the two repetitions one was not begun; the smallest size counts.
	all := r.Matrices()
	if len(all) != 1 || all[0].At(1, 0) != 1.75e-6 {
		t.Errorf("Repetitions = %v, want one with 1.75e-06 from 1 to 0", all)
	}
}

// A measurement of one way has the cost of two calls in it, and is to be ten times as long.
func TestCallsFromGoAreTold(t *testing.T) {
	r := &Result{Header: record.Header{Ranks: 2}, Sizes: []int{8}, Repetitions: 2, Samples: 20}
	for k, median := range []float64{1.59e-6, 1.61e-6} {
		r.measurements = append(r.measurements, Measurement{From: 0, To: 1, Repetition: k, Summary: pingpong.Summary{Median: median}})
	}
	for cost, want := range map[float64]string{0: "", 80e-9: "1 of 2 measurements of 8 B are below 1.6 us", 1e-9: ""} {
		r.CallCost = cost
		if got := r.callWarning(0); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("calls of %g s: %q, want %q", cost, got, want)
		}
	}
}

// Rounds of all pairs by hand: of a median of 2 ms, 100 ranks need 99 and 101 ranks 101.
func TestAllPairsTake(t *testing.T) {
	at := []float64{0, 0.5, 0.501, 0.503}
	for ranks, want := range map[int]float64{100: 0.198, 101: 0.202} {
		if got := allPairsTake(at, ranks); math.Abs(got-want) > 1e-9 {
			t.Errorf("allPairsTake(%d ranks) = %g s, want %g", ranks, got, want)
		}
	}
}
