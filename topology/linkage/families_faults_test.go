package linkage_test

import "math"

// drift is how times change during a measurement, by the given share: up, down, or a bump.
func drift(d *draw, share float64) func(t float64) float64 {
	switch d.IntN(3) {
	case 0:
		return func(t float64) float64 { return 1 + share*t }
	case 1:
		return func(t float64) float64 { return 1 + share*(1-t) }
	}
	center, width := d.between(0.2, 0.8), d.between(0.1, 0.25)
	return func(t float64) float64 { return 1 + share*math.Exp(-(t-center)*(t-center)/(2*width*width)) }
}

// medium is a number of hosts for families where large machines are no harder.
func (d *draw) medium() int { return d.scale(24, 220) }

// faults are trees whose measurements something disturbs.
func faults() []family {
	tails := func(name string, tail func(d *draw, scale float64) func(*draw) float64) family {
		return family{name, "noise", true, func(d *draw) (*layout, *measurement) {
			m := noisy(pick(d, 0, 0.01), d.whole(1, 5))
			m.tail = tail(d, d.between(0.02, 0.12))
			return steep(d, d.medium()), m
		}}
	}
	return []family{
		{"slow-rounds", "rounds", true, func(d *draw) (*layout, *measurement) {
			m := noisy(pick(d, 0, 0.01, 0.02), d.whole(1, 4))
			m.seats, m.slowRounds = relabelled, d.between(0.02, 0.2)
			switch m.repetitions {
			case 1: // a slow measurement has no better one beside it: no small leaves
				t := &node{level: topLevel(d)}
				step := d.between(1.22, 2)
				for range d.whole(3, 10) {
					t.kids = append(t.kids, &node{level: t.level / step, hosts: d.whole(8, 24)})
				}
				return t.layout(), m
			case 2:
				m.slowRounds = min(m.slowRounds, 0.1)
			}
			return steep(d, d.medium()), m
		}},
		{"drift", "G", true, func(d *draw) (*layout, *measurement) {
			m := noisy(pick(d, 0, 0.01, 0.02), d.whole(1, 3))
			m.drift = drift(d, d.between(0.15, 0.3))
			g := growth{depth: d.whole(1, 2), ratio: ratios(d, 1.22, 1.5)}
			l := g.grow(d, d.medium(), topLevel(d)).layout()
			l.order = pick(d, blockwise, blockwise, cyclic, shuffled) // rounds follow the ranks' numbers
			return l, m
		}},
		{"drift-relabelled", "G", true, func(d *draw) (*layout, *measurement) {
			m := noisy(pick(d, 0, 0.01, 0.02), d.whole(1, 3))
			m.seats, m.mixed = relabelled, d.chance(0.5)
			share := d.between(0.1, 0.3)
			m.drift, m.blur = drift(d, share), share/math.Sqrt(12) // as if even between 1 and 1+share
			return steep(d, d.medium()), m
		}},
		{"coarse-clock-tree", "B", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			m := noisy(pick(d, 0, 0.01, 0.03), d.whole(1, 3))
			m.tick = l.smallest() * d.between(0.02, 0.3)
			return l, m
		}},
		tails("exponential-tails", func(_ *draw, scale float64) func(*draw) float64 {
			return func(d *draw) float64 { return scale * d.ExpFloat64() }
		}),
		tails("gamma-tails", func(d *draw, scale float64) func(*draw) float64 {
			shape := d.whole(2, 4)
			return func(d *draw) float64 { // the sum of exponential ones, of mean scale
				s := 0.0
				for range shape {
					s += d.ExpFloat64()
				}
				return s * scale / float64(shape)
			}
		}),
		{"all-at-once", "mixed", true, func(d *draw) (*layout, *measurement) {
			l := unequal(d, steep(d, d.medium()))
			for _, h := range d.Perm(l.n)[:d.whole(0, 2)] {
				l.offsets()[h] += l.smallest() * d.between(0.2, 1)
			}
			spread(d, l, d.between(0.01, 0.04))
			scale := d.between(0.01, 0.05)
			return l, &measurement{
				repetitions: d.whole(2, 5),
				sigma:       d.between(0.01, 0.03),
				outliers:    0.01,
				tail:        func(d *draw) float64 { return scale * d.ExpFloat64() },
				seats:       relabelled,
				mixed:       true,
				slowRounds:  0.03,
				drift:       drift(d, d.between(0, 0.1)),
			}
		}},
		{"asymmetric", "directions", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			most := d.between(0.05, 0.3)
			byHost := d.chance(0.5)
			up := make([]float64, l.n)
			for h := range up {
				up[h] = d.between(0, most)
			}
			p := l.pairs()
			for i := range l.n {
				for j := range i {
					switch {
					case !byHost && d.chance(0.5):
						p[i*l.n+j] += d.between(0, most)
					case !byHost:
						p[j*l.n+i] += d.between(0, most)
					case up[i] > up[j]:
						p[i*l.n+j] += up[i] - up[j]
					default:
						p[j*l.n+i] += up[j] - up[i]
					}
				}
			}
			return l, usual(d)
		}},
		{"detours", "triangles", true, func(d *draw) (*layout, *measurement) {
			l := steep(d, d.medium())
			leaf := make([]int, l.n)
			for k, g := range l.leaves() {
				for _, h := range g {
					leaf[h] = k + 1
				}
			}
			share, p := d.between(0.02, 0.1), l.pairs()
			bySwitch := d.chance(0.5) // all pairs between two switches, or single ones
			way := map[[2]int]float64{}
			for i := range l.n {
				for j := range i {
					between := [2]int{min(leaf[i], leaf[j]), max(leaf[i], leaf[j])}
					if between[0] == between[1] && between[0] > 0 {
						continue
					}
					if !bySwitch {
						between = [2]int{i, j}
					}
					factor, known := way[between]
					if !known {
						factor = 1
						if d.chance(share) {
							factor = d.between(1.2, 2.5)
						}
						way[between] = factor
					}
					p[i*l.n+j], p[j*l.n+i] = factor, factor
				}
			}
			return l, usual(d)
		}},
	}
}
