package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/clique"
)

// repeats is how often pairs are measured in the same way (tables 3.2 and 3.3).
const repeats = 3

// bufeWays are latencies of all pairs, in s, measured in the ways that section 3.2 compares: three times one round trip for a
// sample, three times batches of them, and once each with only one pair under way.
type bufeWays struct {
	single, batched       [repeats]mat.Matrix // in parallel
	oneSingle, oneBatched mat.Matrix          // one pair after the other

	library string           // of messages
	batch   int              // round trips in a batch
	trip    float64          // s, of one
	samples int              // asked for, of a pair
	pair    pingpong.Summary // of ranks 0 and 1
}

// shortLatencies are those of all pairs by short messages, in s: medians. It is collective; others than rank 0 get nil.
func shortLatencies(ctx context.Context, comm mpi.Communicator, s *measure.Settings) (*mat.Dense, error) {
	s.Sizes, s.Repetitions = []int{bufeShort}, 1
	r, err := measure.Run(ctx, comm, s)
	if err != nil || r == nil {
		return nil, err
	}
	return typical(r, func(x *measure.Measurement) float64 { return x.Median }, 0)
}

// bufeParts is how many measurements share the budget.
const bufeParts = 9

// readWays measures all pairs in all ways. It is collective; others than rank 0 get nil. Of the settings
// those of rank 0 count.
func (o *bufeOptions) readWays(ctx context.Context, comm mpi.Communicator, budget *allowance) (*bufeWays, error) {
	w, parts := &bufeWays{samples: o.samples, batch: 2}, budget.split(bufeParts)
	seed := uint64(0)
	read := func(batch int, sequential bool) (*mat.Dense, error) {
		seed++
		samples := o.samples
		if batch > 1 {
			samples = batches(samples, batch)
		}
		return shortLatencies(ctx, comm, &measure.Settings{Sampling: measure.Sampling{Samples: samples, Batch: batch, Seed: seed}, Pairs: harness.Pairs{Sequential: sequential}, Control: harness.Control{Budget: parts.next()}})
	}
	var err error
	for k := range repeats {
		if w.single[k], err = read(1, false); err != nil {
			return nil, err
		}
	}
	if comm.Rank() == 0 {
		if w.trip = 2 * middleOf(w.single[0]); w.trip > 0 { // something was measured in time
			w.batch = max(w.batch, min(int(math.Ceil(bufeBatchTime/w.trip)), pingpong.MaxBatch))
		}
	}
	for k := range repeats {
		if w.batched[k], err = read(w.batch, false); err != nil {
			return nil, err
		}
	}
	if w.oneSingle, err = read(1, true); err != nil {
		return nil, err
	}
	if w.oneBatched, err = read(w.batch, true); err != nil {
		return nil, err
	}
	return w, w.readPair(ctx, comm, max(o.samples, bufeOfPair), parts.next())
}

// readPair measures ranks 0 and 1 alone. It is collective.
func (w *bufeWays) readPair(ctx context.Context, comm mpi.Communicator, samples int, budget time.Duration) error {
	r, err := measure.Run(ctx, comm, &measure.Settings{Sizes: []int{bufeShort}, Pairs: harness.OneByOne([][2]int{{0, 1}}), Sampling: measure.Sampling{Repetitions: 1, Samples: samples, Batch: 1}, Control: harness.Control{Budget: budget}})
	if err != nil || r == nil {
		return err
	}
	w.library = strings.TrimSpace(r.Library)
	if measurements := r.Measurements(); len(measurements) > 0 {
		w.pair = measurements[0].Summary
	}
	return nil
}

// batches are how many hold as many round trips as there are samples of one, and as many as a median wants.
func batches(samples, batch int) int { return max(min(samples, bufeSamples), samples/batch) }

// middleOf is the median of all cells.
func middleOf(m mat.Matrix) float64 {
	return stats.Median(stats.SortedFinite(mat.DenseCopyOf(m).RawMatrix().Data))
}

// table31 is the five-number summary of the measurements of one pair, which a simulated machine is made by.
func (w *bufeWays) table31(s *outcome.Section, asMade bool) {
	x := w.pair
	if x.Count == 0 {
		s.Say("Ranks 0 and 1 were not measured in the time that there was: want a larger --budget.")
		return
	}
	s.Say("%s of ranks 0 and 1, each of one round trip. The longest is %.3g times the third quartile, and the mean %+.2g %% off the median, which is why medians count.",
		words.Count(x.Count, "measurement"), x.Max/x.Q3, 100*(x.Mean/x.Median-1))
	t := s.Table("table-3.1", outcome.Text("measurements"), outcome.Number("Min.", "s"), outcome.Number("1st Qu.", "s"), outcome.Number("Median", "s"),
		outcome.Number("Mean", "s"), outcome.Number("3rd Qu.", "s"), outcome.Number("Max.", "s"))
	t.Row("ours", x.Min, x.Q1, x.Median, x.Mean, x.Q3, x.Max)
	us := [6]float64{0.951, 1.061, 1.071, 1.130, 1.101, 32.820}
	for k, ours := range []float64{x.Min, x.Q1, x.Median, x.Mean, x.Q3, x.Max} {
		kind := outcome.Otherwise // fewer measurements than the source's 50,000
		if asMade && k > 0 && k < 5 {
			kind = outcome.Input // quartiles and mean: scatterOfTable31
		}
		s.Compare(kind, t.Columns[1+k].Name, "s", us[k]*1e-6, ours)
	}
}

// deviations are tables 3.2 to 3.4.
func (w *bufeWays) deviations(s *outcome.Section, kind outcome.Kind) {
	s.Say("Messages of %d B between all pairs; a latency is the median of %d samples of one round trip, or of %d batches of %d round trips, some %s. MD is the mean of A less B over all pairs, MAD that of its amount, QMD the root of the mean of its square, MAXD the largest.",
		bufeShort, w.samples, batches(w.samples, w.batch), w.batch, quantity.Seconds(float64(w.batch)*w.trip))
	type row struct {
		what string
		a, b mat.Matrix
		us   deviation // printed
	}
	tables := []struct {
		name, title, of string
		rows            []row
	}{
		{"table-3.2", "Table 3.2: repetitions of a measurement in parallel", "compared measurements", []row{
			{"1 and 2", w.single[0], w.single[1], deviation{0.0006, 0.0077, 0.0100, 0.0350}},
			{"1 and 3", w.single[0], w.single[2], deviation{-0.0053, 0.0111, 0.0180, -0.0840}},
			{"2 and 3", w.single[1], w.single[2], deviation{-0.0059, 0.0106, 0.0176, -0.0970}},
		}},
		{"table-3.3", "Table 3.3: individual (A) and batched execution (B)", "repetition", []row{
			{"1", w.single[0], w.batched[0], deviation{0.0655, 0.0655, 0.0662, 0.1182}},
			{"2", w.single[1], w.batched[1], deviation{0.0628, 0.0628, 0.0638, 0.0965}},
			{"3", w.single[2], w.batched[2], deviation{0.0685, 0.0686, 0.0712, 0.1694}},
		}},
		{"table-3.4", "Table 3.4: sequential (A) and parallel measurement (B)", "compared measurements", []row{
			{"individual execution", w.oneSingle, w.single[0], deviation{-0.0294, 0.0306, 0.0357, -0.1080}},
			{"batched execution", w.oneBatched, w.batched[0], deviation{-0.0340, 0.0348, 0.0406, -0.1197}},
		}},
	}
	for _, table := range tables {
		t := s.Table(table.name, outcome.Text(table.of), outcome.Number("MD(A,B)", "s"), outcome.Number("MAD(A,B)", "s"), outcome.Number("QMD(A,B)", "s"), outcome.Number("MAXD(A,B)", "s"))
		t.Title = table.title
		for _, r := range table.rows {
			d := deviationOf(r.a, r.b)
			t.Row(r.what, d[md], d[mad], d[qmd], d[maxd])
			for k, name := range deviationNames() {
				s.Compare(kind, fmt.Sprintf("%s, %s: %s", table.name[len("table-"):], r.what, name), "s", r.us[k]*1e-6, d[k])
			}
		}
	}
	s.Say("The source finds single round trips longer by the same 65 ns for all pairs, and takes that for what reading the clock costs: our harness takes what its clock costs by itself out of every sample.")
}

// success is table 3.10, and what ours is.
func (w *bufeWays) success(s *outcome.Section, ranks int) {
	s.Say("The probability that the latencies of all pairs of n processors are within tolerance if each is with the probability p (equation 3.5). The numbers follow from the equation alone, so those that differ are slips of the source: 60.9 %% it prints as 60.1, and 3.8 as 3.4.")
	sizes := []int{12, 32, 128, 256}
	columns := []outcome.Column{outcome.Text("p")}
	for _, n := range sizes {
		columns = append(columns, outcome.Number(fmt.Sprintf("n = %d", n), "%"))
	}
	t := s.Table("table-3.10", columns...)
	for _, row := range []struct {
		p       float64
		printed [4]float64 // %
	}{{0.99, [4]float64{51.5, 0.7, 0, 0}}, {0.999, [4]float64{93.6, 60.1, 0.03, 0}}, {0.9999, [4]float64{99.3, 95.2, 44.4, 3.4}}} {
		cells := []any{fmt.Sprintf("%g %%", 100*row.p)}
		for k, n := range sizes {
			ours := 100 * clique.SuccessProbability(row.p, n)
			cells = append(cells, ours)
			if row.printed[k] > 0 {
				s.Compare(outcome.Computed, fmt.Sprintf("p = %g %%, n = %d", 100*row.p, n), "%", row.printed[k], ours)
			}
		}
		t.Row(cells...)
	}
	const wanted = 0.9                                                                                         // the probability of a right run for which the needed precision is told
	if p, _, err := (&clique.Switches{Epsilon: tolerances()[chosen]}).Precision(w.batched[:]...); err == nil { // else too little was measured
		s.Say("Of our repetitions %.4g %% of the latencies are within the tolerance of their pair's median, so that all pairs of %d ranks are with a probability of %.3g %%; for 90 %% it would take %.4g %%.",
			100*p, ranks, 100*clique.SuccessProbability(p, ranks), 100*clique.NeededPrecision(wanted, ranks))
	}
}

// A deviation says how much two measurements of the same pairs differ, A less B,
// in the unit of their values. It follows Bufe 2014, section 3.2.2, whose sums run
// from i = 0 to n over n values: a slip. |MD| <= MAD <= QMD <= |MAXD|.
type deviation [4]float64

const (
	md   = iota // mean deviation, (3.1)
	mad         // mean absolute deviation, (3.2)
	qmd         // quadratic mean deviation, (3.3)
	maxd        // the first deviation of the greatest amount, (3.4), with its sign
)

// deviationNames are their names, in this order.
func deviationNames() []string { return []string{"MD", "MAD", "QMD", "MAXD"} }

// deviationOf compares two matrices of the same ranks. The diagonal and NaN, which was not measured, are left out; without a
// common cell all is NaN. O(n^2).
func deviationOf(a, b mat.Matrix) deviation {
	n, _ := a.Dims()
	var count, sum, absolute, squares float64
	most := math.NaN()
	for i := range n {
		for j := range n {
			x := a.At(i, j) - b.At(i, j)
			if i == j || math.IsNaN(x) {
				continue
			}
			count++
			sum += x
			absolute += math.Abs(x)
			squares += x * x
			if !(math.Abs(x) <= math.Abs(most)) {
				most = x
			}
		}
	}
	return deviation{md: sum / count, mad: absolute / count, qmd: math.Sqrt(squares / count), maxd: most}
}
