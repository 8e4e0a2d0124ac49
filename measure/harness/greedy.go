package harness

import "slices"

// Greedy puts measurements in steps, given what each of them needs, as numbers from 0 on: ranks, or also links and
// switches. In a step, no two need the same. Each measurement joins the first step that has room for it (Bufe 2014, section
// 2.3.3). Of pairs of ranks of which each is in at most d, that takes fewer than 2d steps.
// O(measurements * steps * needs of one).
func Greedy[T any](measurements []T, needs func(T) []int) [][]T {
	var steps [][]T
	taken := make(map[int][]bool) // by need: in which steps
	for _, m := range measurements {
		need := needs(m)
		var busy [][]bool // of each of them
		for _, x := range need {
			busy = append(busy, taken[x])
		}
		at := 0
		for slices.ContainsFunc(busy, func(in []bool) bool { return at < len(in) && in[at] }) {
			at++
		}
		if at == len(steps) {
			steps = append(steps, nil)
		}
		steps[at] = append(steps[at], m)
		for i, x := range need {
			if more := at + 1 - len(busy[i]); more > 0 {
				busy[i] = append(busy[i], make([]bool, more)...)
			}
			busy[i][at] = true
			taken[x] = busy[i]
		}
	}
	return steps
}
