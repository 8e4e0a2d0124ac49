package cluster

// sets is a union-find structure.
type sets struct{ parent []int }

func newSets(n int) sets {
	s := sets{parent: make([]int, max(0, n))}
	for i := range s.parent {
		s.parent[i] = i
	}
	return s
}

func (s sets) find(x int) int {
	for s.parent[x] != x {
		s.parent[x] = s.parent[s.parent[x]]
		x = s.parent[x]
	}
	return x
}
