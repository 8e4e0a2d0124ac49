package main

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
)

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
