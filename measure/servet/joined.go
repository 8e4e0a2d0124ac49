package servet

import "slices"

// pairsOf lists all pairs of ranks, those that are near by core first: they share most.
func pairsOf(ranks []int) [][2]int {
	var pairs [][2]int
	for apart := 1; apart < len(ranks); apart++ {
		for i := range len(ranks) - apart {
			pairs = append(pairs, [2]int{ranks[i], ranks[i+apart]})
		}
	}
	return pairs
}

// joined are the groups of ranks of a host that pairs join, of two ranks and more. It asks once for each pair whether it
// shares, and whether that was measured. Missing pairs were not, and those against a group are in it and do not share.
func joined(ranks []int, shared func(a, b int) (shares, measured bool)) (groups [][]int, missing, against int) {
	group := make(map[int]int) // rank -> the first rank of its group
	for _, rank := range ranks {
		group[rank] = rank
	}
	var apart [][2]int
	for _, p := range pairsOf(ranks) {
		switch shares, measured := shared(p[0], p[1]); {
		case !measured:
			missing++
		case !shares:
			apart = append(apart, p)
		default:
			a, b := group[p[0]], group[p[1]]
			for _, rank := range ranks {
				if group[rank] == b {
					group[rank] = a
				}
			}
		}
	}
	members := make(map[int][]int)
	for _, rank := range ranks {
		members[group[rank]] = append(members[group[rank]], rank)
	}
	for _, rank := range ranks {
		if g := members[rank]; len(g) >= 2 {
			groups = append(groups, slices.Sorted(slices.Values(g)))
		}
	}
	for _, p := range apart {
		if group[p[0]] == group[p[1]] {
			against++
		}
	}
	return groups, missing, against
}
