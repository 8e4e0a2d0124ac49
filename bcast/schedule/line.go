package schedule

// Line returns the ranks in the order in which algorithms take them that only
// know places in a row: the root first, then, with a hierarchy, depth first
// (each group stands together), and without one in ascending order.
func Line(p Problem) []int {
	if p.Tree != nil {
		return depthFirst(p.Tree, p.Root)
	}
	return rotated(p.Ranks, p.Root)
}

// Places returns the place of each rank in the line.
func Places(line []int) []int {
	places := make([]int, len(line))
	for place, rank := range line {
		places[rank] = place
	}
	return places
}
