// Package queue is the priority queue of the searches and simulations: numbered
// items, the one with the least key first.
package queue

// An Item waits in a queue.
type Item struct {
	Key float64 // not NaN
	ID  int64
}

func (a Item) before(b Item) bool {
	return a.Key < b.Key || a.Key == b.Key && a.ID < b.ID
}

// Min is a queue that gives the item with the least key first, of equal keys
// the one with the lowest id; so the order in which items are put in does not show.
// It is a heap of four children per node, flatter than one of two, as taking out
// is what costs; and not container/heap's, because boxing the items would
// cost more than most searches do. The least item is q[0]. The zero value is empty.
type Min []Item

// Push puts an item in. O(log n).
func (q *Min) Push(x Item) {
	h := append(*q, x)
	*q = h
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
}

// Pop takes out the least item. O(log n).
func (q *Min) Pop() Item {
	h := *q
	top, last := h[0], len(h)-1
	x := h[last]
	h = h[:last]
	*q = h
	if last > 0 {
		h.sink(x)
	}
	return top
}

// sink puts x at the top or, with what is less moving up, below. Four children are
// compared in a row: a loop over them takes a tenth of a whole search.
func (q Min) sink(x Item) {
	i := 0
	for {
		c := 4*i + 1
		if c >= len(q) {
			break
		}
		least, item := c, q[c]
		if c+3 < len(q) {
			if q[c+1].before(item) {
				least, item = c+1, q[c+1]
			}
			if q[c+2].before(item) {
				least, item = c+2, q[c+2]
			}
			if q[c+3].before(item) {
				least, item = c+3, q[c+3]
			}
		} else {
			for k := c + 1; k < len(q); k++ {
				if q[k].before(item) {
					least, item = k, q[k]
				}
			}
		}
		if !item.before(x) {
			break
		}
		q[i] = item
		i = least
	}
	q[i] = x
}
