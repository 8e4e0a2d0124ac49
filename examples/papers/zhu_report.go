package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/outcome"
)

const (
	zhuMargin   = 0.10 // within which the paper counts transfers
	zhuCoverage = 0.90 // of the intervals
)

// A zhuReport is what the experiment found out.
type zhuReport struct {
	*zhuOptions
	Library  string
	Fitted   int // patterns
	Laws     []string
	Single   []zhuSweep // one link
	Rows     []zhuRow
	All      zhuRow // of the random patterns
	Warnings []string
}

// lawKind is the kind of a number that follows from the paper's law of sharing. On a machine that is made by that law it is an
// input: the errors of the asymmetric model are those of measuring and fitting alone, and those of fair sharing follow from the law.
func (r *zhuReport) lawKind() outcome.Kind {
	if r.lawful {
		return outcome.Input
	}
	return r.kind()
}

// kind is that of a number that the law does not give: the conditions are the paper's on a machine like its own.
func (r *zhuReport) kind() outcome.Kind { return outcome.MeasuredIf(r.like) }

// A zhuRow is one experiment: patterns of a number of hosts and of draws per host.
type zhuRow struct {
	Hosts     int         `json:"hosts"`
	Degree    int         `json:"d,omitempty"`
	Exchange  bool        `json:"alltoallv,omitempty"`
	Patterns  int         `json:"patterns"`
	Trials    int         `json:"transfers"`
	Steps     float64     `json:"steps"`
	Precision float64     `json:"-"`        // of the asymmetric model's error; NaN of one
	Mixed     []float64   `json:"-"`        // mean errors of each law in patterns that use a link both ways; NaN: there are none
	Errors    []zhuErrors `json:"errors"`   // of each law
	Coverage  float64     `json:"coverage"` // of the fitted network's intervals of 90 %
	Last      []float64   `json:"last_s"`   // of the exchange: end of the last transfer, measured and by each law

	transfers []zhuTransfer
}

// zhuErrors are relative errors of predictions.
type zhuErrors struct {
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	Within float64 `json:"within_margin"` // share of the transfers within 10 %
}

type zhuTransfer struct {
	Pattern   int         `json:"pattern"`
	Src       int         `json:"src"`
	Dst       int         `json:"dst"`
	Bytes     int64       `json:"bytes"`
	Mixed     bool        `json:"mixed"`
	Measured  float64     `json:"measured_s"`
	Width     *float64    `json:"interval_s"` // of the mean; null: not known
	Predicted []float64   `json:"predicted_s"`
	Interval  *[2]float64 `json:"predicted_interval_s,omitempty"`
}

// sum works out the row of its transfers.
func (row *zhuRow) sum(laws int) {
	row.Steps /= float64(row.Patterns)
	row.Errors, row.Mixed, row.Coverage, row.Precision = nil, nil, 0, math.NaN()
	covered := 0
	for law := range laws {
		var errors, mixed []float64
		within := 0
		for i := range row.transfers {
			x := &row.transfers[i]
			e := math.Abs(x.Predicted[law]-x.Measured) / x.Measured
			errors = append(errors, e)
			if x.Mixed {
				mixed = append(mixed, e)
			}
			if e <= zhuMargin {
				within++
			}
			if law == lawFitted && x.Interval != nil && x.Interval[0] <= x.Measured && x.Measured <= x.Interval[1] {
				covered++
			}
		}
		n := float64(len(errors))
		mean, deviation := stat.MeanStdDev(errors, nil)
		row.Errors = append(row.Errors, zhuErrors{mean, slices.Max(errors), float64(within) / n})
		row.Mixed = append(row.Mixed, stat.Mean(mixed, nil))
		if law == lawAsymmetric && n > 1 {
			t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
			row.Precision = t * deviation / math.Sqrt(n) / mean
		}
	}
	row.Coverage = float64(covered) / float64(len(row.transfers))
	if row.Exchange {
		row.Last = make([]float64, 1+laws)
		for _, x := range row.transfers {
			row.Last[0] = max(row.Last[0], x.Measured)
			for law, t := range x.Predicted {
				row.Last[1+law] = max(row.Last[1+law], t)
			}
		}
	}
}

// sum makes a row of all random patterns.
func (r *zhuReport) sum(laws int) {
	for _, row := range r.Rows {
		if row.Exchange {
			continue
		}
		r.All.Patterns += row.Patterns
		r.All.Trials += row.Trials
		r.All.Steps += row.Steps * float64(row.Patterns)
		r.All.transfers = append(r.All.transfers, row.transfers...)
	}
	if r.All.Patterns > 0 {
		r.All.sum(laws)
	}
}
