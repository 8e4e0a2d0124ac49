package model

// RankGroups are groups of ranks that are near to each other, for algorithms that tell two kinds of messages
// apart: of all levels of Hierarchy the one is taken beyond which messages of the
// given size in bytes take longer by the greatest factor, the coarser one of two that are alike. They are
// nil if no level makes a factor of two; ranks that are in no group are alone. Lists are ascending, and the
// caller's own.
func (n *Network) RankGroups(bytes int64) [][]int {
	levels := n.Levels()
	best, greatest := -1, 2.0
	for i := range len(levels) - 1 {
		inside, beyond := levels[i].Time(bytes), levels[i+1].Time(bytes)
		if factor := beyond / inside; factor >= greatest { // NaN is not
			best, greatest = i, factor
		}
	}
	if best < 0 {
		return nil
	}
	var found [][]int
	groups := n.Hierarchy().Groups()
	for _, g := range groups {
		if g.Level <= best && groups[g.Parent].Level > best {
			found = append(found, append([]int(nil), g.Hosts...))
		}
	}
	return found
}
