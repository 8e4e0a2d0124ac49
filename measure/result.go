package measure

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
)

// A Result is what Run has measured, and under which conditions.
type Result struct {
	record.Header       // of the job
	Sizes         []int // B

	Repetitions  int             // asked for, or done if they are more
	Samples      int             // per pair, direction, size and repetition
	Seed         uint64          // of relabellings and shuffles
	WithinGroups bool            // pairs between groups were left out
	OneByOne     bool            // chosen pairs were measured, with nothing else under way
	Rounds       int             // done, of all repetitions
	TotalRounds  int             // asked for, or planned in their place where a budget is too small for them
	Stopped      harness.Stopped // why it ended early, or ""

	Notes    []string // what was decided while measuring, each one sentence; in Warnings, too
	Warnings []string // what is uncertain, each one sentence

	Runs int // that were merged; 0: this is one

	schedule     string        // which pairs of which groups were asked for, "" for all
	measurements []Measurement // sorted by repetition, size, from, to
}

// A Measurement is the summary of the samples of one pair in one direction: half
// the round trip of messages that From sends first. Times are in s; quartiles
// are samples themselves (the lowest that is not below the given share). Of
// samples that something has disturbed further lots are taken; the measurement is
// then that of the lowest lot.
type Measurement struct {
	From, To   int
	Repetition int
	Size       int // index into Result.Sizes
	Round      int // number within the repetition

	pingpong.Summary
}

// pair is that of the measurement, the lower rank first.
func (r *Measurement) pair() [2]int { return [2]int{min(r.From, r.To), max(r.From, r.To)} }

// of yields the measurements of one size.
func (r *Result) of(size int) iter.Seq[*Measurement] {
	return func(yield func(*Measurement) bool) {
		for i := range r.measurements {
			if x := &r.measurements[i]; x.Size == size && !yield(x) {
				return
			}
		}
	}
}

func compareMeasurements(a, b Measurement) int {
	return cmp.Or(
		cmp.Compare(a.Repetition, b.Repetition), cmp.Compare(a.Size, b.Size),
		cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
	)
}

// Measurements returns all measurements, sorted by repetition, size, From and To. The
// slice is the result's own and must not be changed.
func (r *Result) Measurements() []Measurement { return r.measurements }

// block returns the measurements of one repetition and size.
func (r *Result) block(repetition, size int) []Measurement {
	find := func(repetition, size int) int {
		i, _ := slices.BinarySearchFunc(r.measurements, Measurement{Repetition: repetition, Size: size, From: -1}, compareMeasurements)
		return i
	}
	return r.measurements[find(repetition, size):find(repetition, size+1)]
}

// Matrix returns one number, such as its Median, of each measurement of one repetition and size (an index into
// Sizes) as a Ranks x Ranks matrix: cell (i, j) is of the one in which i
// sent first. It is NaN where nothing was measured and on the diagonal.
// O(n^2).
func (r *Result) Matrix(number func(x *Measurement) float64, repetition, size int) (*mat.Dense, error) {
	switch {
	case repetition < 0 || repetition >= r.Repetitions:
		return nil, fmt.Errorf("measure: matrix: repetition %d: want in [0, %d)", repetition, r.Repetitions)
	case size < 0 || size >= len(r.Sizes):
		return nil, fmt.Errorf("measure: matrix: size number %d: want in [0, %d)", size, len(r.Sizes))
	}
	return r.matrix(number, repetition, size), nil
}

func (r *Result) matrix(number func(x *Measurement) float64, repetition, size int) *mat.Dense {
	m := measured.Unmeasured(r.Ranks)
	block := r.block(repetition, size)
	for i := range block {
		m.Set(block[i].From, block[i].To, number(&block[i]))
	}
	return m
}

// Matrices returns what a topology.Reconstructor takes: for each
// repetition in which anything was measured, the matrix of lower quartiles of
// the smallest size. The lower quartile lies among the undisturbed samples as
// long as a quarter of them is undisturbed. Unlike the minimum it does not
// believe a single clock fault. A single rank, of which there is nothing to
// measure, gives one matrix of one cell.
func (r *Result) Matrices() []mat.Matrix {
	smallest := slices.Index(r.Sizes, slices.Min(r.Sizes))
	var all []mat.Matrix
	for k := range r.Repetitions {
		if len(r.block(k, smallest)) > 0 || r.Ranks == 1 && k == 0 {
			all = append(all, r.matrix(func(x *Measurement) float64 { return x.Q1 }, k, smallest))
		}
	}
	return all
}

// Observations are the measurements as fit.Network takes them: one per pair,
// direction and size. Its time is made of the lower quartiles of the repetitions by measured.Combine.
// Measurements of 0 are left out. O(measurements).
func (r *Result) Observations() []fit.Observation {
	type key struct{ from, to, size int }
	times := make(map[key][]float64)
	var keys []key
	for _, x := range r.measurements {
		if x.Q1 == 0 {
			continue // below what the clock can tell
		}
		k := key{x.From, x.To, x.Size}
		if times[k] == nil {
			keys = append(keys, k)
		}
		times[k] = append(times[k], x.Q1)
	}
	all := make([]fit.Observation, 0, len(keys))
	for _, k := range keys {
		all = append(all, fit.Observation{
			Transfers: []model.Transfer{{Src: k.from, Dst: k.to, Bytes: int64(r.Sizes[k.size])}},
			Seconds:   []float64{measured.Combine(times[k])},
		})
	}
	return all
}
