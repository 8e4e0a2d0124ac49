package linkage_test

import "math"

// hosts are machines where something is wrong with single hosts, or where members of a group
// see the others differently.
func hosts() []family {
	return []family{
		{"slow-hosts-added", "D", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			for _, h := range d.Perm(l.n)[:d.whole(1, max(1, l.n/16))] {
				l.offsets()[h] = l.smallest() * d.between(0.2, 3)
			}
			return l, usual(d)
		}},
		{"slow-hosts-factor", "D", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			for _, h := range d.Perm(l.n)[:d.whole(1, max(1, l.n/16))] {
				l.factors()[h] = d.between(1.2, 2)
			}
			return l, usual(d)
		}},
		{"slow-block", "D", true, func(d *draw) (*layout, *measurement) {
			t := &node{level: topLevel(d)}
			step := d.between(1.3, 2)
			for range d.whole(3, 8) {
				t.kids = append(t.kids, &node{level: t.level / step, hosts: d.whole(6, 20)})
			}
			l := t.layout()
			for _, h := range pick(d, l.groups...)[:d.whole(2, 3)] {
				l.offsets()[h] = l.smallest() * d.between(0.2, 2)
			}
			return l, usual(d)
		}},
		{"endpoint-tails", "D", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			endpoints(d, l, l.smallest()*d.between(0.02, 0.1))
			return l, usual(d)
		}},
		{"first-ranks", "O", true, func(d *draw) (*layout, *measurement) {
			nodes, ranks := d.whole(2, 16), pick(d, 8, 16)
			top, inside := d.between(1.2e-6, 2.5e-6), d.between(0.3e-6, 0.7e-6)
			fan, level := []int{nodes, ranks}, []float64{top, inside}
			if d.chance(0.5) {
				fan, level = []int{nodes, 2, ranks / 2}, []float64{top, inside, inside / d.between(1.25, 2)}
			}
			l := even(fan, level).layout()
			late := d.between(0.5e-6, 1.5e-6)
			for h := 0; h < l.n; h += ranks {
				l.offsets()[h] = late * d.between(0.9, 1.1)
			}
			return l, usual(d)
		}},
		{"remote-homed", "A", true, func(d *draw) (*layout, *measurement) {
			nodes, cores := d.whole(1, 8), d.whole(4, 16)
			cross := d.between(0.12e-6, 0.3e-6)
			l := even([]int{nodes, 2, cores}, []float64{d.between(1e-6, 2e-6), cross, cross / d.between(1.4, 3)}).layout()
			// The lines of each second socket live on the first one.
			for node := range nodes {
				first := (2*node + 1) * cores
				for i := first; i < first+cores; i++ {
					for j := first; j < i; j++ {
						l.set(i, j, cross*d.between(0.98, 1.02))
					}
				}
			}
			return l, usual(d)
		}},
		{"uneven-l3", "A", true, func(d *draw) (*layout, *measurement) {
			groups, cores := d.whole(2, 8), d.whole(3, 10)
			l := newLayout(groups * cores)
			near := d.between(20e-9, 30e-9)
			far := near * d.between(1.7, 3.5)
			// How deep a core sits in its L3, which all outside see; or some lie behind the others.
			deep := make([]float64, l.n)
			most := d.between(0.1, 0.4) * far
			behind := d.chance(0.5)
			for h := range deep {
				switch {
				case !behind:
					deep[h] = d.between(0, most)
				case d.chance(0.5):
					deep[h] = most
				}
				for j := range h {
					if h/cores == j/cores {
						// Stops of a ring bus: the farther the slower.
						l.set(h, j, near*(0.8+0.4*float64(h-j)/float64(cores-1)))
					} else {
						l.set(h, j, far+deep[h]+deep[j])
					}
				}
			}
			for k := range groups {
				l.groups = append(l.groups, span(k*cores, (k+1)*cores))
			}
			return l, usual(d)
		}},
		{"remote-cores", "A", true, func(d *draw) (*layout, *measurement) {
			// The lines of some cores of each socket live on other sockets: far for all
			// outside, not for their own socket.
			sockets, cores := d.whole(2, 6), d.whole(4, 16)
			near := d.between(40e-9, 80e-9)
			far := near * d.between(1.3, 3)
			l := even([]int{sockets, cores}, []float64{far, near}).layout()
			more := far * d.between(0.15, 0.4)
			remote := make([]bool, l.n)
			for h := range remote {
				remote[h] = d.chance(0.4)
			}
			for i := range l.n {
				for j := range i {
					if i/cores != j/cores && (remote[i] || remote[j]) {
						l.set(i, j, far+more)
					}
				}
			}
			return l, usual(d)
		}},
		{"chain-members", "A", true, func(d *draw) (*layout, *measurement) {
			// Groups that are chains of switches, hung up by their first one.
			f := &fabric{switches: 1, own: d.between(0.4e-6, 1e-6)}
			hop := f.own * d.between(0.2, 1)
			groups := d.whole(3, 8)
			length := d.whole(2, 4)
			up := hop*float64(length-1)*d.between(1, 2) + f.own*d.between(0.5, 2)
			per := d.whole(1, 5)
			for range groups {
				first := f.switches
				f.link(0, first, up)
				for k := range length {
					if k > 0 {
						f.link(first+k-1, first+k, hop)
					}
					f.host(first+k, per)
				}
				f.switches += length
				f.sets = append(f.sets, span(first, first+length))
			}
			return f.layout(), usual(d)
		}},
	}
}

// endpoints gives each host an overhead of its own, of a heavy tail: Pareto of index 1.5, at most
// a hundred times the scale.
func endpoints(d *draw, l *layout, scale float64) {
	for h := range l.offsets() {
		l.offset[h] += scale * min(100, math.Pow(1-d.Float64(), -1/1.5)-1)
	}
}
