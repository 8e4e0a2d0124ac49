package main

import (
	"slices"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// A zhuSweep is a number of transfers through one NIC, or between two racks: sections 5.1 and 5.2 of the paper.
type zhuSweep struct {
	backbone  bool // between racks; else through the NIC of one host
	in, out   int  // transfers into the host or the first rack, and out of it
	transfers []model.Transfer

	measured         [2]float64   // mean bandwidth of those in and of those out, in B/s; NaN: there are none
	predicted        [][2]float64 // by each law
	slowest, fastest float64      // bandwidth of those out, relative to their mean
}

// sweeps makes those that the machine has ranks for: no two ranks have more than one transfer.
func (z *zhuExperiment) sweeps() []zhuSweep {
	numbers := []int{1, 2, 4, 8, 12, 15}
	if z.o.cluster == nil {
		numbers = numbers[:3] // each takes a real machine some seconds
	}
	var all []zhuSweep
	racks, near := z.racks(), z.ranksOf
	if racks != nil {
		near = racks[0] // "in the same rack", section 5.1
	}
	for _, backbone := range []bool{false, true} {
		if backbone && racks == nil {
			break
		}
		for _, in := range append([]int{0}, numbers...) {
			for _, out := range numbers {
				if in > out {
					continue // the other way round is the same
				}
				s := zhuSweep{backbone: backbone, in: in, out: out}
				if backbone {
					s.transfers = across(racks, in, out, z.o.bytes)
				} else {
					s.transfers = through(near, in, out, z.o.bytes, z.o.cluster != nil)
				}
				if s.transfers != nil {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// racks are the hosts of two groups of hosts of the same level, the largest ones; nil if there are no two.
func (z *zhuExperiment) racks() [][][]int {
	groups := z.found.Topology.Hierarchy.Firm(topology.FirmSupport).Groups()
	var racks [][][]int
	for _, child := range groups[0].Children {
		var hosts [][]int
		for _, own := range z.ranksOf {
			if slices.Contains(groups[child].Hosts, own[0]) {
				hosts = append(hosts, own)
			}
		}
		if len(hosts) > 1 {
			racks = append(racks, hosts)
		}
	}
	slices.SortStableFunc(racks, func(a, b [][]int) int { return len(b) - len(a) })
	if len(racks) < 2 {
		return nil
	}
	return racks[:2]
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

// rates are the mean bandwidths of the transfers in and out that take the given times.
func (s *zhuSweep) rates(times []float64) [2]float64 {
	mean := func(ts []float64) float64 {
		sum := 0.0
		for _, t := range ts {
			sum += float64(s.transfers[0].Bytes) / t
		}
		return sum / float64(len(ts)) // of none NaN
	}
	return [2]float64{mean(times[:s.in]), mean(times[s.in:])}
}

// add takes up what was measured, and predicts it.
func (s *zhuSweep) add(p *concurrent.Pattern, laws []zhuLaw) error {
	times := make([]float64, len(p.Times))
	for i, t := range p.Times {
		times[i] = t.Median
	}
	s.measured = s.rates(times)
	own := float64(s.transfers[0].Bytes) / s.measured[1]
	s.slowest, s.fastest = own/slices.Max(times[s.in:]), own/slices.Min(times[s.in:])
	for _, l := range laws {
		predicted, err := l.times(s.transfers)
		if err != nil {
			return err
		}
		s.predicted = append(s.predicted, s.rates(predicted))
	}
	return nil
}
