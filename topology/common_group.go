package topology

// Smallest is the index into Groups of the smallest group that holds the host; 0, the root, if
// none but it does.
func (h *Hierarchy) Smallest(host int) int { return h.smallest[host] }

// Join is the index into Groups of the smallest group that holds both hosts.
// O(number of levels), no allocation.
func (h *Hierarchy) Join(a, b int) int {
	x, y := h.smallest[a], h.smallest[b]
	for x != y {
		// Parents come before children: the later one is not an ancestor.
		if x > y {
			x = h.groups[x].Parent
		} else {
			y = h.groups[y].Parent
		}
	}
	return x
}

// Latency is the typical latency in s between two different hosts: that of
// the smallest group that joins them. It is 0 for a = b. O(number of levels).
func (h *Hierarchy) Latency(a, b int) float64 {
	if a == b {
		return 0
	}
	return h.groups[h.Join(a, b)].Latency
}
