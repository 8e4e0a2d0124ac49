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

// joined are the groups of ranks that pairs join, of two ranks and more, and how many pairs
// within them are measured and do not share.
func joined(ranks []int, pairs [][2]int, shared func(pair int) (shares, measured bool)) (groups [][]int, against int) {
	group := make(map[int]int) // rank -> the first rank of its group
	for _, rank := range ranks {
		group[rank] = rank
	}
	for i, p := range pairs {
		if yes, known := shared(i); yes && known {
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
	for i, p := range pairs {
		if yes, known := shared(i); known && !yes && group[p[0]] == group[p[1]] {
			against++
		}
	}
	return groups, against
}
