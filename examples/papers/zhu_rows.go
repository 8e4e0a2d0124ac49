package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	zhuMargin   = 0.10 // within which the paper counts transfers
	zhuCoverage = 0.90 // of the intervals
)

// A zhuRow is one experiment: patterns of a number of hosts and of draws per host.
type zhuRow struct {
	Hosts     int           `json:"hosts"`
	Degree    int           `json:"d,omitempty"`
	Exchange  bool          `json:"alltoallv,omitempty"`
	Patterns  int           `json:"patterns"`
	Trials    int           `json:"transfers"`
	Steps     float64       `json:"steps"`    // of a pattern in the mean
	Precision float64       `json:"-"`        // of the asymmetric model's error; NaN of one
	Mixed     []float64     `json:"-"`        // mean errors of each law in patterns that use a link both ways; NaN: there are none
	Errors    []zhuErrors   `json:"errors"`   // of each law
	Coverage  float64       `json:"coverage"` // of the fitted network's intervals of 90 %
	Last      []float64     `json:"last_s"`   // of the exchange: end of the last transfer, measured and by each law
	Transfers []zhuTransfer `json:"measured,omitempty"`
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
	Mixed     bool        `json:"mixed"` // the pattern uses a link both ways
	Measured  float64     `json:"measured_s"`
	Width     *float64    `json:"interval_s"`  // of the mean; null: not known
	Predicted []float64   `json:"predicted_s"` // by each law
	Interval  *[2]float64 `json:"predicted_interval_s,omitempty"`
}

// off is the relative error of a law.
func (x *zhuTransfer) off(law int) float64 { return (x.Predicted[law] - x.Measured) / x.Measured }

// add adds the transfers of a pattern.
func (row *zhuRow) add(held []zhuTransfer, steps int) {
	row.Patterns++
	row.Trials += len(held)
	row.Steps += float64(steps)
	row.Transfers = append(row.Transfers, held...)
}

// sum works out the row of its transfers.
func (row *zhuRow) sum(laws int) {
	row.Steps /= float64(row.Patterns)
	row.Precision = math.NaN()
	n := float64(len(row.Transfers))
	for law := range laws {
		var errors, mixed []float64
		within := 0
		for i := range row.Transfers {
			x := &row.Transfers[i]
			e := math.Abs(x.off(law))
			errors = append(errors, e)
			if x.Mixed {
				mixed = append(mixed, e)
			}
			if e <= zhuMargin {
				within++
			}
		}
		mean, deviation := stat.MeanStdDev(errors, nil)
		row.Errors = append(row.Errors, zhuErrors{mean, slices.Max(errors), float64(within) / n})
		row.Mixed = append(row.Mixed, stat.Mean(mixed, nil))
		if law == lawAsymmetric && n > 1 {
			t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
			row.Precision = t * deviation / math.Sqrt(n) / mean
		}
	}
	if row.Exchange {
		row.Last = make([]float64, 1+laws)
	}
	covered := 0
	for _, x := range row.Transfers {
		if x.Interval != nil && x.Interval[0] <= x.Measured && x.Measured <= x.Interval[1] {
			covered++
		}
		if !row.Exchange {
			continue
		}
		row.Last[0] = max(row.Last[0], x.Measured)
		for law, t := range x.Predicted {
			row.Last[1+law] = max(row.Last[1+law], t)
		}
	}
	row.Coverage = float64(covered) / n
}
