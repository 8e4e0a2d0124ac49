package linkage_test

// gaps are trees of which not all pairs were measured.
func gaps() []family {
	of := func(name string, leave func(d *draw, n int, share float64) func(i, j int) bool) family {
		return family{name, "H", true, func(d *draw) (*layout, *measurement) {
			m := usual(d)
			share := d.between(0.05, 0.4)
			m.gap = func(d *draw, n int) []bool {
				out := leave(d, n, share)
				missing := make([]bool, n*n)
				for i := range n {
					for j := range i {
						missing[i*n+j] = out(i, j)
						missing[j*n+i] = missing[i*n+j]
					}
				}
				return missing
			}
			return steep(d, d.medium()), m
		}}
	}
	return []family{
		// A measurement that ran out of time before its last rounds.
		of("holes-rounds", func(d *draw, n int, share float64) func(i, j int) bool {
			seat := d.Perm(n)
			lost := make([]bool, n-1+n%2)
			for _, r := range d.Perm(len(lost))[:int(share*float64(len(lost)))] {
				lost[r] = true
			}
			return func(i, j int) bool { return lost[meeting(seat[i], seat[j], n)] }
		}),
		of("holes-pairs", func(d *draw, _ int, share float64) func(i, j int) bool {
			return func(int, int) bool { return d.chance(share) }
		}),
		// A tenth of the hosts lack pairs, and some of them most.
		of("holes-hosts", func(d *draw, n int, share float64) func(i, j int) bool {
			lost := make([]float64, n)
			for _, h := range d.Perm(n)[:max(1, n/10)] {
				lost[h] = min(0.8, share*d.between(1, 2))
			}
			return func(i, j int) bool { return d.chance(max(lost[i], lost[j])) }
		}),
	}
}
