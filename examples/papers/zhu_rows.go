package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
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

// A zhuSweep is a number of transfers through one NIC, or between two racks: sections 5.1 and 5.2 of the paper.
type zhuSweep struct {
	backbone bool // between racks; else through the NIC of one host
	in, out  int  // transfers into the host or the first rack, and out of it

	measured         [2]float64   // mean bandwidth of those in and of those out, in B/s; NaN: there are none
	predicted        [][2]float64 // by each law
	slowest, fastest float64      // bandwidth of those out, relative to their mean
}

// allSweeps makes those that the machine has ranks for: no two ranks have more than one transfer.
func (z *zhuRun) allSweeps() []zhuPattern {
	numbers := []int{1, 2, 4, 8, 12, 15}
	if z.machine == nil {
		numbers = numbers[:3] // each takes a real machine some seconds
	}
	near := z.ranksOf
	if len(z.racks) > 1 {
		near = z.racks[0] // "in the same rack", section 5.1
	}
	var all []zhuPattern
	for _, backbone := range []bool{false, true} {
		if backbone && len(z.racks) < 2 {
			break
		}
		for _, in := range append([]int{0}, numbers...) {
			for _, out := range numbers {
				if in > out {
					continue // the other way round is the same
				}
				transfers := through(near, in, out, z.bytes, z.machine != nil)
				if backbone {
					transfers = across(z.racks, in, out, z.bytes)
				}
				if transfers != nil {
					all = append(all, zhuPattern{transfers: transfers, sweep: &zhuSweep{backbone: backbone, in: in, out: out}})
				}
			}
		}
	}
	return all
}

// through are transfers into and out of the first host, from and to the others in turn; nil if there
// are too few pairs of ranks. In simulations a pair may have one each way: real libraries may serve those one after the other.
func through(hosts [][]int, in, out int, bytes int64, eachWay bool) []model.Transfer {
	own := hosts[0]
	var partners [][2]int // a rank of the host, one of another
	for k := range len(own) {
		for j := range hosts[1] { // hosts may have fewer
			for i, other := range hosts[1:] {
				if j < len(other) {
					partners = append(partners, [2]int{own[(i+j+k)%len(own)], other[j]})
				}
			}
		}
	}
	needed := in + out
	if eachWay {
		needed = max(in, out)
	}
	if needed > len(partners) {
		return nil
	}
	var all []model.Transfer
	for _, p := range partners[:in] {
		all = append(all, model.Transfer{Src: p[1], Dst: p[0], Bytes: bytes})
	}
	for _, p := range partners[len(partners)-out:] {
		all = append(all, model.Transfer{Src: p[0], Dst: p[1], Bytes: bytes})
	}
	return all
}

// across are transfers between different hosts of two racks, into and out of the first one; nil if there are too few hosts.
func across(racks [][][]int, in, out int, bytes int64) []model.Transfer {
	n := min(len(racks[0]), len(racks[1]))
	if in > n || out > n {
		return nil
	}
	var all []model.Transfer
	for k := range in {
		all = append(all, model.Transfer{Src: racks[1][k][0], Dst: racks[0][k][0], Bytes: bytes})
	}
	for k := range out { // to other hosts than those that send to them
		all = append(all, model.Transfer{Src: racks[0][n-1-k][0], Dst: racks[1][(2*n-2-k)%n][0], Bytes: bytes})
	}
	return all
}

// add takes up what was measured, and predicts it.
func (s *zhuSweep) add(p *concurrent.Pattern, laws []zhuLaw) error {
	bytes := float64(p.Transfers[0].Bytes)
	rates := func(times []float64) [2]float64 { // mean bandwidths in and out
		all := make([]float64, len(times))
		for i, t := range times {
			all[i] = bytes / t
		}
		return [2]float64{stat.Mean(all[:s.in], nil), stat.Mean(all[s.in:], nil)}
	}
	times := make([]float64, len(p.Times))
	for i, t := range p.Times {
		times[i] = t.Median
	}
	s.measured = rates(times)
	own := bytes / s.measured[1]
	s.slowest, s.fastest = own/slices.Max(times[s.in:]), own/slices.Min(times[s.in:])
	for _, l := range laws {
		predicted, _, err := l.predict(p.Transfers)
		if err != nil {
			return err
		}
		s.predicted = append(s.predicted, rates(predicted))
	}
	return nil
}
