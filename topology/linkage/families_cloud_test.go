package linkage_test

import "math"

func lognormal(d *draw, sigma float64) float64 { return math.Exp(sigma * d.NormFloat64()) }

// enough is a ratio: what the mean over the members tells of a host, to
// its error, (ln step) sqrt(members) / spread. From it on all hosts of some hundred are told.
const enough = 6

// zone is the least number of hosts at which a group of the given step can be told
// against the spread of pairs.
func zone(step, sigma float64) int {
	root := enough * sigma / math.Log(step)
	return max(6, int(math.Ceil(root*root)))
}

// clouds have virtual machines whose pairs differ lastingly and widely.
func clouds() []family {
	return []family{
		{"cloud-zones", "C", true, func(d *draw) (*layout, *measurement) {
			sigma, step := d.between(0.1, 0.3), d.between(1.3, 3)
			least := zone(step, sigma)
			t := &node{level: d.between(100e-6, 500e-6)}
			zones := d.whole(2, 5)
			for _, size := range split(d, zones*least+d.whole(0, 60), zones, least) {
				t.kids = append(t.kids, &node{level: t.level / step, hosts: size})
			}
			l := t.layout()
			spread(d, l, sigma)
			return l, usual(d)
		}},
		{"cloud-placement", "C", true, func(d *draw) (*layout, *measurement) {
			sigma, outer, inner := d.between(0.1, 0.25), d.between(1.4, 3), d.between(1.4, 2.5)
			least := zone(min(outer, inner), sigma)
			t := &node{level: d.between(100e-6, 500e-6)}
			for range d.whole(2, 3) {
				z := &node{level: t.level / outer}
				if d.chance(0.5) {
					z.hosts = d.whole(1, 8)
				}
				for range d.whole(2, 3) {
					z.kids = append(z.kids, &node{level: z.level / inner, hosts: d.whole(least, least+10)})
				}
				t.kids = append(t.kids, z)
			}
			l := t.layout()
			spread(d, l, sigma)
			return l, usual(d)
		}},
		{"cloud-flat", "C", false, func(d *draw) (*layout, *measurement) {
			l := flat(d.scale(16, 256), d.between(50e-6, 300e-6))
			spread(d, l, d.between(0.1, 0.3))
			if d.chance(0.3) {
				endpoints(d, l, l.smallest()*0.05)
			}
			return l, usual(d)
		}},
	}
}
