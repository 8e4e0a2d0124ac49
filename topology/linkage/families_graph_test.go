package linkage_test

import "math"

// A fabric is a graph of switches with hosts on them. Two hosts are as far apart as
// their switches by the shortest way, and two times the latency of a host's link.
type fabric struct {
	switches int
	links    []link
	seat     []int   // switch of each host
	own      float64 // s, of a host's link
	sets     [][]int // sets of switches whose hosts are groups
}

type link struct {
	a, b    int
	latency float64 // s
}

func (f *fabric) link(a, b int, latency float64) { f.links = append(f.links, link{a, b, latency}) }

// host puts hosts on a switch.
func (f *fabric) host(on, count int) {
	for range count {
		f.seat = append(f.seat, on)
	}
}

// distances of all pairs of switches (Floyd 1962).
func (f *fabric) distances() [][]float64 {
	d := make([][]float64, f.switches)
	for a := range d {
		d[a] = make([]float64, f.switches)
		for b := range d[a] {
			if a != b {
				d[a][b] = math.Inf(1)
			}
		}
	}
	for _, l := range f.links {
		d[l.a][l.b] = min(d[l.a][l.b], l.latency)
		d[l.b][l.a] = d[l.a][l.b]
	}
	for k := range d {
		for _, row := range d {
			for b, s := range d[k] {
				row[b] = min(row[b], row[k]+s)
			}
		}
	}
	return d
}

// layout lays the fabric out: the hosts of each switch are a group, and those of the
// sets.
func (f *fabric) layout() *layout {
	l := newLayout(len(f.seat))
	d := f.distances()
	on := make([][]int, f.switches)
	for i, a := range f.seat {
		on[a] = append(on[a], i)
		for j, b := range f.seat[:i] {
			// The smaller of two sums that differ by rounding, so that equal ways are equal.
			l.set(i, j, 2*f.own+min(d[a][b], d[b][a]))
		}
	}
	l.groups = append(l.groups, on...)
	for _, set := range f.sets {
		var hosts []int
		for _, s := range set {
			hosts = append(hosts, on[s]...)
		}
		l.groups = append(l.groups, hosts)
	}
	return l
}

// lattice is a grid of switches of given extents with as many hosts on each.
func lattice(extents []int, wrapped bool, hosts int, own, hop float64) *fabric {
	f := &fabric{switches: 1, own: own}
	for _, e := range extents {
		f.switches *= e
	}
	for s := range f.switches {
		f.host(s, hosts)
		stride := 1
		for _, e := range extents {
			if at := s / stride % e; at+1 < e {
				f.link(s, s+stride, hop)
			} else if wrapped {
				f.link(s, s-at*stride, hop)
			}
			stride *= e
		}
	}
	return f
}
