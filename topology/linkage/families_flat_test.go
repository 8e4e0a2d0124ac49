package linkage_test

// flat is one switch.
func flat(n int, s float64) *layout {
	return (&node{level: s, hosts: n}).layout()
}

// flats are single switches: whatever is found on them is false.
func flats() []family {
	of := func(name, class string, spoil func(d *draw, l *layout, m *measurement)) family {
		return family{name, class, false, func(d *draw) (*layout, *measurement) {
			l := flat(d.size(), d.between(1e-6, 30e-6))
			m := noisy(pick(d, 0.005, 0.01, 0.02, 0.03, 0.05), d.whole(1, 3))
			spoil(d, l, m)
			return l, m
		}}
	}
	return []family{
		of("flat-noise", "flat", func(d *draw, _ *layout, m *measurement) {
			m.sigma = d.between(0, 0.1)
			m.mirrored = d.chance(0.3)
			m.outliers = pick(d, 0, 0.02, 0.05)
		}),
		of("flat-spread", "flat", func(d *draw, l *layout, _ *measurement) { spread(d, l, d.between(0.02, 0.1)) }),
		of("flat-tails", "flat", func(d *draw, _ *layout, m *measurement) {
			scale := d.between(0.02, 0.3)
			m.tail = func(d *draw) float64 { return scale * d.ExpFloat64() }
		}),
		of("flat-coarse-clock", "B", func(d *draw, l *layout, m *measurement) {
			m.sigma = d.between(0, 0.05)
			m.tick = l.smallest() * d.between(0.02, 0.3)
		}),
		of("flat-endpoints", "D", func(d *draw, l *layout, _ *measurement) {
			endpoints(d, l, l.smallest()*d.between(0.02, 0.1))
		}),
		of("flat-slow-hosts", "D", func(d *draw, l *layout, _ *measurement) {
			for _, h := range d.Perm(l.n)[:d.whole(1, max(1, l.n/8))] {
				l.factors()[h] = d.between(1.2, 2)
			}
		}),
		of("flat-drift", "G", func(d *draw, _ *layout, m *measurement) {
			m.drift = drift(d, d.between(0.1, 0.3))
			if d.chance(0.5) {
				m.seats, m.mixed = relabelled, d.chance(0.5)
			}
			if d.chance(0.5) {
				m.slowRounds = d.between(0.02, 0.2)
			}
		}),
	}
}

// spread gives each pair a lasting factor of its own, the same in both directions, of lognormal
// distribution and median 1.
func spread(d *draw, l *layout, sigma float64) {
	l.spread = sigma
	p := l.pairs()
	for i := range l.n {
		for j := range i {
			f := lognormal(d, sigma)
			p[i*l.n+j] *= f
			p[j*l.n+i] *= f
		}
	}
}
