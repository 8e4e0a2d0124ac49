package throughput

import "slices"

// onePerSwitch keeps one link of each switch, where all links of a switch are taken to be
// alike: the one whose smaller side is largest, so that the most pairs can load it
// (Bufe 2014, section 2.3.3). Of equal ones it is the first. A link may be that of both
// its switches. The order stays.
func onePerSwitch(crossings []crossing) []crossing {
	best := make(map[int]int) // switch -> index of its link
	for i, c := range crossings {
		for _, s := range []int{c.U, c.V} {
			if b, ok := best[s]; !ok || len(c.Pairs) > len(crossings[b].Pairs) {
				best[s] = i
			}
		}
	}
	chosen := make([]bool, len(crossings))
	for _, i := range best {
		chosen[i] = len(crossings[i].Pairs) > 0
	}
	var kept []crossing
	for i, c := range crossings {
		if chosen[i] {
			kept = append(kept, c)
		}
	}
	return slices.Clip(kept)
}
