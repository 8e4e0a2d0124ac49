package model

import (
	"fmt"
	"math"
)

// Degradation says how much slower messages get when many are under way: the
// two arrays of Servet 3.0 (Gonzalez-Dominguez et al. 2013, section 4). Index
// 0 of both is not used and NaN; values that were not measured are NaN.
type Degradation struct {
	Distance []float64 // ratDist: bandwidth at distance 1 over that at distance d, all ranks sending
	Access   []float64 // ratNC: bandwidth of one process per host over that of k at once

	// Hosts is how many hosts the ring of Distance had, with one rank each: the first ones of the network, in the
	// order of their first ranks. 0: not known.
	Hosts int
}

// NewDegradation makes ratios of measured bandwidths in B/s: distance[d] that
// of a message from each rank p to p+d, access[k] that of k processes of one host which
// use the network at once. Entry 1 is the reference; entry 0 is not read.
func NewDegradation(distance, access []float64) (*Degradation, error) {
	d := &Degradation{}
	for _, list := range []struct {
		name     string
		measured []float64
		ratios   *[]float64
	}{{"distance", distance, &d.Distance}, {"access", access, &d.Access}} {
		for i, b := range list.measured {
			ratio := math.NaN()
			if i > 0 {
				if b <= 0 || math.IsInf(b, 0) {
					return nil, fmt.Errorf("model: degradation: bandwidth at %s %d is %g B/s: want above 0 and finite, or NaN", list.name, i, b)
				}
				ratio = list.measured[1] / b
			}
			*list.ratios = append(*list.ratios, ratio)
		}
	}
	return d, nil
}

// DistanceRatio is how many times slower messages between ranks at a distance
// are than between neighbours, Servet's get_network_dist_ratio: min(|p-q|,
// ranks-|p-q|) is the distance of p and q. NaN if it was not measured, also of a nil
// Degradation.
func (d *Degradation) DistanceRatio(distance int) float64 {
	if d == nil {
		return math.NaN()
	}
	return ratioAt(d.Distance, distance)
}

// AccessRatio is how many times slower messages are when the given number of
// processes of a host use the network at once, Servet's
// get_network_access_ratio. NaN if it was not measured, also of a nil Degradation.
func (d *Degradation) AccessRatio(processes int) float64 {
	if d == nil {
		return math.NaN()
	}
	return ratioAt(d.Access, processes)
}

func ratioAt(ratios []float64, i int) float64 {
	if i < 1 || i >= len(ratios) {
		return math.NaN()
	}
	return ratios[i]
}

func (d *Degradation) check() error {
	if d == nil {
		return nil
	}
	if d.Hosts < 0 || d.Hosts > 0 && len(d.Distance) > d.Hosts/2+1 {
		return fmt.Errorf("degradation of %d distances in a ring of %d hosts: want at most half as many", len(d.Distance)-1, d.Hosts)
	}
	for _, list := range [...][]float64{d.Distance, d.Access} {
		for i, x := range list {
			if i > 0 && (x <= 0 || math.IsInf(x, 0)) {
				return fmt.Errorf("degradation ratio %d is %g: want above 0 and finite, or NaN", i, x)
			}
		}
	}
	return nil
}

func (d *Degradation) clone() *Degradation {
	if d == nil {
		return nil
	}
	return &Degradation{Distance: append([]float64(nil), d.Distance...), Access: append([]float64(nil), d.Access...), Hosts: d.Hosts}
}

// between is the distance of two hosts of the ring; -1 if one is outside it.
func (d *Degradation) between(a, b int) int {
	if min(a, b) < 0 || max(a, b) >= d.Hosts {
		return -1
	}
	apart := max(a, b) - min(a, b)
	return min(apart, d.Hosts-apart)
}

// cut makes the ratios of a ring of the given hosts, by their numbers in the
// whole, -1 for unknown ones. What costs is the distance of two hosts in the ring that
// was measured. So the bandwidth at a distance in the new one is the mean over its pairs of
// hosts; pairs of unknown distance do not count. Access is a matter of each host and stays.
func (d *Degradation) cut(hosts []int) *Degradation {
	own := d.clone()
	if d == nil || d.Hosts == 0 {
		return own
	}
	own.Hosts, own.Distance = len(hosts), nil
	bandwidths := []float64{math.NaN()} // in units of that of neighbours in the whole
	for apart := 1; apart <= len(hosts)/2; apart++ {
		sum, count := 0.0, 0
		for i, a := range hosts {
			ratio := ratioAt(d.Distance, d.between(a, hosts[(i+apart)%len(hosts)]))
			if !math.IsNaN(ratio) {
				sum += 1 / ratio
				count++
			}
		}
		bandwidths = append(bandwidths, sum/float64(count)) // none: NaN
	}
	if len(bandwidths) > 1 {
		for _, b := range bandwidths {
			own.Distance = append(own.Distance, bandwidths[1]/b)
		}
	}
	return own
}
