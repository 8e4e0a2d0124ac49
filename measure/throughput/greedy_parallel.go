package throughput

import "slices"

// greedySteps puts measurements in steps, given what each of them needs, as numbers from 0 on.
// In a step, no two need the same. The first that is left begins a step, and those
// after it join where they can. In Bufe 2014, section 2.3.3, what is needed are
// hosts and switches. O(measurements * steps * needs of one).
func greedySteps[T any](measurements []T, needs func(T) []int) [][]T {
	var steps [][]T
	var taken []map[int]bool
	for _, m := range measurements {
		need := needs(m)
		at := 0
		for at < len(steps) && slices.ContainsFunc(need, func(x int) bool { return taken[at][x] }) {
			at++
		}
		if at == len(steps) {
			steps = append(steps, nil)
			taken = append(taken, make(map[int]bool))
		}
		steps[at] = append(steps[at], m)
		for _, x := range need {
			taken[at][x] = true
		}
	}
	return steps
}
