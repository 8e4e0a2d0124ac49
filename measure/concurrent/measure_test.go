package concurrent

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// simulated measures on a simulated cluster, where long messages take their
// time but carry nothing.
func simulated(t *testing.T, spec string, noise simnet.Noise, change func(mpi.Communicator) mpi.Communicator, settings *Settings) *Result {
	t.Helper()
	cluster, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var r *Result
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: megabyte - 1, Noise: noise, Seed: 3}, func(c mpi.Communicator) error {
		own := c
		if change != nil {
			own = change(c)
		}
		given := settings
		if c.Rank() > 0 {
			given = nil // the settings of rank 0 count
		}
		got, err := Measure(context.Background(), own, given)
		if got != nil {
			r = got
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The worked cases of Zhu 2014, section 5: two in and one out of a host. Links
// of 100 MB/s; fair sharing: the two in share one direction, the one out has the
// other for itself. 1 MB: 20 ms and 10 ms, and three latencies of 10 us for the
// request, the consent and the message.
const (
	star     = "star:4 latency=5us rate=100MBps"
	megabyte = 1_000_000
	latency  = 10e-6
)

func twoInOneOut() []model.Transfer {
	return []model.Transfer{{Src: 0, Dst: 1, Bytes: megabyte}, {Src: 2, Dst: 1, Bytes: megabyte}, {Src: 1, Dst: 3, Bytes: megabyte}}
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within*b }

func TestTimesAreThoseOfTheSimulation(t *testing.T) {
	pair := []model.Transfer{{Src: 3, Dst: 2, Bytes: megabyte}} // rank 0 is not in it
	r := simulated(t, star, simnet.Noise{}, nil, &Settings{Patterns: [][]model.Transfer{twoInOneOut(), pair}})
	if len(r.Patterns) != 2 || r.Stopped != "" || len(r.Warnings) > 0 {
		t.Fatalf("%d patterns, stopped %q, warnings %q; want 2 and nothing else", len(r.Patterns), r.Stopped, r.Warnings)
	}
	want := [][]float64{{20e-3 + 3*latency, 20e-3 + 3*latency, 10e-3 + 3*latency}, {10e-3 + 3*latency}}
	for i, p := range r.Patterns {
		for k, x := range p.Times {
			// The clock is read at both ends, and starts are a latency apart.
			if !near(x.Median, want[i][k], 2e-3) || !near(x.Mean, want[i][k], 2e-3) {
				t.Errorf("pattern %d, %v: mean %g s, median %g s, want %g", i, p.Transfers[k], x.Mean, x.Median, want[i][k])
			}
			if x.Count < defaultMinIterations || x.Count != p.Iterations || x.Count > defaultMinIterations+1 {
				t.Errorf("pattern %d, %v: %d measurements of %d iterations, want %d or one more", i, p.Transfers[k], x.Count, p.Iterations, defaultMinIterations)
			}
		}
		// Half a round trip is a latency, of each rank but 0.
		if !p.Converged || p.Serial || p.Skew > 4*latency || !near(p.ClockError, 2*latency, 0.01) {
			t.Errorf("pattern %d: %+v", i, p)
		}
	}
	observations := r.Observations()
	if len(observations) != 2 || observations[0].Seconds[2] != r.Patterns[0].Times[2].Median {
		t.Errorf("observations %v", observations)
	}
}

// A wrongClock is some hours off and drifts by 100 ppm or more.
type wrongClock struct {
	mpi.Communicator
	mpi.NonBlocking
	clock mpi.Clock
}

func (w *wrongClock) Now() float64 {
	rank := float64(w.Rank())
	return 3600*rank*rank + w.clock.Now()*(1+1e-4*rank)
}

func TestClocksNeedNotAgree(t *testing.T) {
	wrong := func(c mpi.Communicator) mpi.Communicator {
		s := c.(*simnet.Comm)
		return &wrongClock{s, s, s}
	}
	s := &Settings{Patterns: [][]model.Transfer{twoInOneOut()}, MinIterations: 50}
	r := simulated(t, star, simnet.Noise{}, wrong, s)
	right := simulated(t, star, simnet.Noise{}, nil, s)
	for k, x := range r.Patterns[0].Times {
		// By drift alone the measurements of rank 3 would move by 0.3 us per ms of the
		// pattern's 1.2 s, and those between it and rank 0 by half a round trip, 10 us, if
		// stamps were not taken to lie in the middle.
		if want := right.Patterns[0].Times[k]; !near(x.Mean, want.Mean, 2e-4) || !near(x.Max, want.Max, 3e-4) {
			t.Errorf("transfer %d: %+v, with equal clocks %+v", k, x, want)
		}
	}
	if got := r.Patterns[0].Skew; got > 4*latency {
		t.Errorf("skew %g s, want at most four latencies", got)
	}
}

// A busy rank answers whoever reads its clock when another process has had its core for 3 ms.
type busy struct {
	mpi.Communicator
	mpi.NonBlocking
	mpi.Clock
}

func (b busy) Send(buf []byte, dst, tag int) error {
	if tag == tagClock && b.Rank() > 0 {
		b.Communicator.(*simnet.Comm).Sleep(3e-3)
	}
	return b.Communicator.Send(buf, dst, tag)
}

// Where ranks have one clock, and share cores, times are as right as on idle ones: the ways of the round trips that read it
// tell nothing. A message of 1 KB, which takes 0.02 ms, would end before it starts.
func TestBusyRanksOfOneClock(t *testing.T) {
	s := &Settings{Patterns: [][]model.Transfer{twoInOneOut(), {{Src: 2, Dst: 0, Bytes: 1000}, {Src: 0, Dst: 1, Bytes: 1000}}}, MaxIterations: 3}
	r := simulated(t, star, simnet.Noise{}, func(c mpi.Communicator) mpi.Communicator {
		own := c.(*simnet.Comm)
		return busy{own, own, own}
	}, s)
	right := simulated(t, star, simnet.Noise{}, nil, s)
	for i, p := range r.Patterns {
		for k, x := range p.Times {
			if want := right.Patterns[i].Times[k]; !near(x.Min, want.Min, 1e-3) || !near(x.Max, want.Max, 1e-3) {
				t.Errorf("pattern %d, transfer %d: %+v, on idle ranks %+v", i, k, x, want)
			}
		}
	}
}

// Two of eight iterations, in which one transfer starts half a second after the other,
// do not count; nor do more than half, if most are so.
func TestLateStartsDoNotCount(t *testing.T) {
	starts := []float64{0, 0, 0.5, 0, 0, 0.5, 0, 0}
	ends := []float64{1, 1, 9, 1.1, 1, 9, 0.9, 1}
	zero := make([]float64, len(starts))
	of := func(all ...stamps) Pattern {
		var t tally
		t.add(twoInOneOut()[1:], all, drift{})
		return t.pattern
	}
	p := of(stamps{starts, ends}, stamps{zero, []float64{2, 2, 9, 2, 2, 9, 2, 2}})
	for k, want := range []float64{1, 2} {
		if x := p.Times[k]; x.Count != 6 || !near(x.Mean, want, 1e-9) || x.Max > want*1.2 {
			t.Errorf("transfer %d: %+v, want 6 measurements of about %g", k, x, want)
		}
	}
	if p.Iterations != 8 || p.Skew != 0 {
		t.Errorf("%d iterations, skew %g; want 8, 0", p.Iterations, p.Skew)
	}
	starts = []float64{0, 0.5, 0.6, 0.7, 0.5, 0.5, 0.8, 0.9}
	if p = of(stamps{starts, ends}, stamps{zero, ends}); p.Times[0].Count != 4 || !near(p.Skew, 0.55, 1e-9) {
		t.Errorf("%d measurements, skew %g; want 4, 0.55", p.Times[0].Count, p.Skew)
	}
	// A start that is 15 ms late is more than 1 % of one second, and less of two.
	p = of(stamps{[]float64{0, 0, 0, 0.015}, ends[:4]}, stamps{zero[:4], []float64{2, 2, 2, 2}})
	if p.Times[0].Count != 3 || p.Times[1].Count != 4 {
		t.Errorf("%d and %d measurements of transfers of 1 and 2 s, want 3 and 4", p.Times[0].Count, p.Times[1].Count)
	}
}

// bare hides all optional abilities.
type bare struct{ mpi.Communicator }

// Blocking calls take the transfers of a rank one after the other, whatever
// cycles they make, and say so; a pattern without a rank in common is as it should be.
func TestBlockingCalls(t *testing.T) {
	ring := []model.Transfer{{Src: 0, Dst: 1, Bytes: 99}, {Src: 1, Dst: 2, Bytes: 99}, {Src: 2, Dst: 3, Bytes: 99}, {Src: 3, Dst: 0, Bytes: 99}, {Src: 1, Dst: 0, Bytes: 7}}
	pairs := []model.Transfer{{Src: 3, Dst: 1, Bytes: megabyte}, {Src: 0, Dst: 2, Bytes: megabyte}}
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		err := local.Run(4, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			r, err := Measure(context.Background(), bare{c}, &Settings{Patterns: [][]model.Transfer{ring, pairs}, MaxIterations: 20})
			if err != nil || r == nil {
				return err
			}
			if len(r.Patterns) != 2 || !r.Patterns[0].Serial || r.Patterns[1].Serial {
				t.Errorf("patterns %+v, want the first serial", r.Patterns)
			}
			if o := r.Observations(); len(o) > 1 {
				t.Errorf("%d observations, want that of the pairs at most", len(o))
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "one after the other") {
				t.Errorf("warnings %q", r.Warnings)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Real time, in all modes of local ranks: everything ends, in its order and
// count, whatever the clock says.
func TestLocalRanks(t *testing.T) {
	patterns := [][]model.Transfer{
		{{Src: 1, Dst: 2, Bytes: 300_000}},
		{{Src: 0, Dst: 1, Bytes: 100_000}, {Src: 0, Dst: 1, Bytes: 1}, {Src: 1, Dst: 0, Bytes: 50_000}, {Src: 2, Dst: 1, Bytes: 70_000}, {Src: 2, Dst: 0, Bytes: 1}},
	}
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous, local.Pinned} {
		err := local.Run(4, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			r, err := Measure(context.Background(), c, &Settings{Patterns: patterns, MinIterations: 4, MaxIterations: 12})
			if err != nil || r == nil {
				return err
			}
			for i, p := range r.Patterns {
				for k, x := range p.Times {
					if !(x.Min <= x.Median && x.Median <= x.Max && x.Min <= x.Mean && x.Mean <= x.Max && x.Count > 0 && x.Max > 0) {
						t.Errorf("mode %v, pattern %d, transfer %d: %+v", mode, i, k, x)
					}
				}
			}
			if len(r.Patterns) != 2 {
				t.Errorf("mode %v: %d patterns, want 2", mode, len(r.Patterns))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Iterations end when the interval is narrow, and not before. Noise of 10 % on a message alone makes it longer half of the
// time, and never shorter, as links have one rate: its mean is 1 + 0.1 / sqrt(2 pi) of that, its deviation
// 0.1 sqrt(1/2 - 1/(2 pi)), and 2 t s / sqrt n <= 0.02 wants 124 iterations or so. 0.1 % is not reached in 50.
func TestIterationsEndWithTheInterval(t *testing.T) {
	noisy := simnet.Noise{Sigma: 0.1}
	one := [][]model.Transfer{{{Src: 1, Dst: 2, Bytes: megabyte}}}
	p := simulated(t, star, noisy, nil, &Settings{Patterns: one}).Patterns[0]
	if !p.Converged || p.Iterations < 90 || p.Iterations > 170 {
		t.Errorf("%d iterations, converged %t; want about 124 and true", p.Iterations, p.Converged)
	}
	if w := 2 * p.Times[0].HalfWidth / p.Times[0].Mean; !(w > 0.017 && w <= 0.02) {
		t.Errorf("interval of %g of the mean, want just below 0.02", w)
	}
	r := simulated(t, star, noisy, nil, &Settings{Patterns: one, Width: 0.001, MaxIterations: 50})
	if p := r.Patterns[0]; p.Converged || p.Iterations != 50 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "after 50 iterations") {
		t.Errorf("%d iterations, converged %t, warnings %q; want 50, false, one", p.Iterations, p.Converged, r.Warnings)
	}
}

// A budget is shared by the patterns: each of ten gets something, though one
// alone would use it up. Warm-ups take little of it.
func TestBudgetIsShared(t *testing.T) {
	noisy := simnet.Noise{Sigma: 0.03}
	patterns := make([][]model.Transfer, 10)
	for i := range patterns {
		patterns[i] = twoInOneOut()
	}
	var shown []int
	progress := func(p harness.Progress) { shown = append(shown, p.Done) }
	r := simulated(t, star, noisy, nil, &Settings{Patterns: patterns, Width: 1e-6, Control: harness.Control{Budget: 2 * time.Second, Progress: progress}})
	if len(r.Patterns) != 10 || r.Stopped != "" {
		t.Fatalf("%d patterns, stopped %q, want 10", len(r.Patterns), r.Stopped)
	}
	for i, p := range r.Patterns {
		// 0.2 s each, and 20 ms or so for an iteration, of which 8 are in three passes and a bit, with a quarter of one before each.
		if p.Iterations < 7 || p.Iterations > 9 {
			t.Errorf("pattern %d: %d iterations, want 8 or so", i, p.Iterations)
		}
	}
	if !slices.IsSorted(shown) || shown[0] != 0 || shown[len(shown)-1] != 10 || !slices.Contains(shown, 5) {
		t.Errorf("progress %v, want 0 to 10", shown)
	}
	r = simulated(t, star, noisy, nil, &Settings{Patterns: patterns, Control: harness.Control{Budget: 50 * time.Millisecond}})
	if n := len(r.Patterns); n == 0 || n == 10 || r.Stopped != harness.StoppedByBudget || len(r.Warnings) == 0 {
		t.Errorf("%d patterns in 50 ms, stopped %q, warnings %q", n, r.Stopped, r.Warnings)
	}
}

// noting writes down the lengths of messages of a rank to each of the others.
type noting struct {
	mpi.Communicator
	mpi.NonBlocking
	mpi.Clock
	note func(dst, bytes int)
}

type notingRequests struct {
	mpi.Requests
	note func(dst, bytes int)
}

func (n *noting) NewRequests() mpi.Requests {
	set := n.NonBlocking.NewRequests()
	return &notingRequests{set, n.note}
}

func (n *notingRequests) Isend(buf []byte, dst, tag int) error {
	if tag == tagTransfer {
		n.note(dst, len(buf))
	}
	return n.Requests.Isend(buf, dst, tag)
}

// Measurements of a pattern are spread over the time that all take: three patterns in passes of 1, 2, 4 and 3 iterations make ten of each.
// Before each visit the connections are used once, with short messages; a pattern that comes again at once is warm. Under a budget no
// pattern is repeated before all are measured, and what is left is spread evenly.
func TestPassesGoRound(t *testing.T) {
	one := func(dst int) []model.Transfer { return []model.Transfer{{Src: 0, Dst: dst, Bytes: megabyte}} }
	var visits [][2]int // rank that was sent to, long messages
	wasShort := false
	note := func(dst, bytes int) {
		switch {
		case bytes != megabyte:
			if wasShort || bytes > 300_000 {
				t.Errorf("%d bytes to rank %d, want one short message before each visit", bytes, dst)
			}
			wasShort = true
		case wasShort:
			visits, wasShort = append(visits, [2]int{dst, 1}), false
		default:
			visits[len(visits)-1][1]++
		}
	}
	listen := func(c mpi.Communicator) mpi.Communicator {
		s := c.(*simnet.Comm)
		return &noting{s, s, s, note} // rank 0 alone sends
	}
	for _, x := range []struct {
		patterns [][]model.Transfer
		budget   time.Duration
		want     [][2]int
	}{
		{[][]model.Transfer{one(1), one(2), one(3)}, 0, [][2]int{
			{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {1, 4}, {2, 4}, {3, 4}, {1, 3}, {2, 3}, {3, 3},
		}},
		{[][]model.Transfer{one(2)}, 0, [][2]int{{2, 10}}},
		// An iteration takes 10 ms, a short message 2.6, clocks 0.4: of 190 ms 39 and 69 are for the first passes. The third has 27, 29.5
		// and 36 for four iterations of each, of which two take 23 and three 33.
		{[][]model.Transfer{one(1), one(2), one(3)}, 190 * time.Millisecond, [][2]int{
			{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {1, 2}, {2, 2}, {3, 3},
		}},
		// After 134 ms there is no time for a third visit of the third.
		{[][]model.Transfer{one(1), one(2), one(3)}, 140 * time.Millisecond, [][2]int{
			{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {1, 1}, {2, 1},
		}},
		{[][]model.Transfer{one(1), one(2), one(3)}, 25 * time.Millisecond, [][2]int{{1, 1}, {2, 1}}},
	} {
		visits = nil
		r := simulated(t, star, simnet.Noise{}, listen, &Settings{Patterns: x.patterns, Control: harness.Control{Budget: x.budget}})
		if !slices.Equal(visits, x.want) {
			t.Errorf("budget of %v: visits %v, want %v", x.budget, visits, x.want)
		}
		for k, p := range r.Patterns {
			sum := 0
			for _, v := range visits {
				if v[0] == p.Transfers[0].Dst {
					sum += v[1]
				}
			}
			if p.Iterations != sum || p.Transfers[0] != x.patterns[k][0] {
				t.Errorf("budget of %v: pattern %d, %v: %d iterations, want %d", x.budget, k, p.Transfers, p.Iterations, sum)
			}
		}
	}
}

// endsSoon is a context that is cancelled after it was asked so many times.
type endsSoon struct {
	context.Context
	left int
}

func (c *endsSoon) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The context of any rank stops all of them, also in the middle of a visit: the
// iteration is finished.
func TestContextStopsAllRanks(t *testing.T) {
	// Asked before each visit and each iteration: the first pass takes two patterns of one iteration
	// each, the second begins with two iterations.
	for asked, want := range map[int][]int{0: nil, 2: {1}, 4: {1, 1}, 5: {2, 1}, 6: {3, 1}, 7: {3, 1}, 8: {3, 2}} {
		err := local.Run(4, nil, func(c mpi.Communicator) error {
			ctx := &endsSoon{context.Background(), maxIterations}
			if c.Rank() == 2 {
				ctx.left = asked
			}
			s := &Settings{Patterns: [][]model.Transfer{twoInOneOut(), twoInOneOut()}, Width: 1e-9, MaxIterations: 10_000}
			r, err := Measure(ctx, c, s)
			if r == nil {
				return err
			}
			var got []int
			for _, p := range r.Patterns {
				got = append(got, p.Iterations)
			}
			if r.Stopped != harness.StoppedByContext || !slices.Equal(got, want) || len(r.Warnings) == 0 {
				t.Errorf("asked %d times: stopped %q after %v iterations, want the context after %v", asked, r.Stopped, got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWrongSettingsAreOnesOfAllRanks(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Patterns: [][]model.Transfer{{}}}, "Patterns[0]: no transfers"},
		{Settings{Patterns: [][]model.Transfer{{{Src: 0, Dst: 4, Bytes: 1}}}}, "Patterns[0][0]"},
		{Settings{Patterns: [][]model.Transfer{{{Src: 1, Dst: 1, Bytes: 1}}}}, "two different ranks"},
		{Settings{Patterns: [][]model.Transfer{{{Src: 1, Dst: 0}}}}, "bytes"},
		{Settings{Patterns: [][]model.Transfer{{{Src: 1, Dst: 0, Bytes: 1, Start: 1}}}}, "start together"},
		{Settings{Width: 1}, "Width"},
		{Settings{Width: math.NaN()}, "Width"},
		{Settings{MinIterations: -1}, "MinIterations"},
		{Settings{MaxIterations: maxIterations + 1}, "MaxIterations"},
		{Settings{Control: harness.Control{Budget: -1}}, "Budget"},
	} {
		refused := make([]bool, 3)
		err := local.Run(3, nil, func(comm mpi.Communicator) error {
			_, err := Measure(context.Background(), comm, &c.s)
			refused[comm.Rank()] = err != nil
			if comm.Rank() == 0 && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
			return nil
		})
		if err != nil || !refused[0] || !refused[1] || !refused[2] {
			t.Errorf("%s: refused by %v, %v", c.want, refused, err)
		}
	}
}

// Buffers that stay untouched and hollow messages take no memory to speak of.
func TestHollowMessages(t *testing.T) {
	big := []model.Transfer{{Src: 1, Dst: 2, Bytes: 1 << 27}, {Src: 3, Dst: 2, Bytes: 1 << 27}}
	r := simulated(t, star, simnet.Noise{}, nil, &Settings{Patterns: [][]model.Transfer{big}, MaxIterations: 3})
	if got, want := r.Patterns[0].Times[0].Median, 2*float64(1<<27)/100e6; !near(got, want, 1e-4) {
		t.Errorf("128 MiB twice into a host: %g s, want %g", got, want)
	}
}

// By hand: 1, 2, 3, 4 have a deviation of sqrt(5/3); t(0.975, 3) is 3.18245.
func TestHalfWidth(t *testing.T) {
	got, want := newTime([]float64{4, 1, 3, 2}), 3.18245*math.Sqrt(5.0/3)/2
	if !near(got.HalfWidth, want, 1e-5) || got.Mean != 2.5 {
		t.Errorf("mean %g, half width %g; want 2.5, %g", got.Mean, got.HalfWidth, want)
	}
	if got := newTime([]float64{7}); got.Mean != 7 || got.Median != 7 || !math.IsNaN(got.HalfWidth) {
		t.Errorf("one measurement: %+v", got)
	}
}

// Buffers of messages with content are written to before each iteration, on every rank; hollow ones stay as they are.
func TestOnlyContentIsWritten(t *testing.T) {
	cluster, err := gen.Parse(star)
	if err != nil {
		t.Fatal(err)
	}
	for _, hollow := range []bool{true, false} {
		const size = 1 << 14
		machine := &simnet.Settings{}
		if hollow {
			machine.HollowAbove = size - 1
		}
		err := simnet.Run(cluster.Graph, nil, machine, func(comm mpi.Communicator) error {
			_, err := harness.Conduct(context.Background(), comm, 0, func(conductor *harness.Conductor) (none struct{}, err error) {
				c := &campaign{Conductor: conductor, set: mpi.NewRequests(conductor.Comm)}
				own := c.newPart([]model.Transfer{{Src: 0, Dst: 1, Bytes: size}, {Src: 2, Dst: 3, Bytes: size}, {Src: 3, Dst: 2, Bytes: size}})
				for i := range own.in {
					own.in[i] = 7 // of a message before
				}
				if err := own.post(c); err != nil {
					return none, err
				}
				written := slices.Contains(own.out, 1) || len(own.in) > 0 && !slices.Contains(own.in, 7)
				if len(own.in)+len(own.out) < size || written == hollow {
					t.Errorf("rank %d, hollow %t: buffers of %d and %d bytes were written to: %t", comm.Rank(), hollow, len(own.in), len(own.out), written)
				}
				return none, own.run(c)
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
