package throughput

// greedySteps puts measurements in steps, given what each of them needs: in a
// step, no two need the same. The first that is left begins a step, and those
// after it join where they can (Bufe 2014, section 2.3.3, where what is needed are
// hosts and switches). It returns the indices of each step. Needs are numbers from 0 on. O(measurements *
// steps * needs of one).
func greedySteps(needs [][]int) [][]int {
	var steps [][]int
	var taken []map[int]bool
	for i, need := range needs {
		at := 0
		for at < len(steps) && meets(taken[at], need) {
			at++
		}
		if at == len(steps) {
			steps = append(steps, nil)
			taken = append(taken, make(map[int]bool))
		}
		steps[at] = append(steps[at], i)
		for _, x := range need {
			taken[at][x] = true
		}
	}
	return steps
}

func meets(taken map[int]bool, need []int) bool {
	for _, x := range need {
		if taken[x] {
			return true
		}
	}
	return false
}
