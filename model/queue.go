package model

// push adds an entry to the sweep's queue, a binary heap by key and then id.
func (s *filling) push(key float64, id int32) {
	s.queue = append(s.queue, queueEntry{key, id})
	q := s.queue
	for i := len(q) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q[i].before(q[parent]) {
			break
		}
		q[i], q[parent] = q[parent], q[i]
		i = parent
	}
}

// pop takes the least entry.
func (s *filling) pop() queueEntry {
	q := s.queue
	top := q[0]
	q[0] = q[len(q)-1]
	q = q[:len(q)-1]
	s.queue = q
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(q[i]) {
			break
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
	return top
}

func (a queueEntry) before(b queueEntry) bool {
	return a.key < b.key || a.key == b.key && a.id < b.id
}

// heapifyCaps orders the caps of a channel as a binary heap by level. O(n).
func heapifyCaps(h []capEntry) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDownCaps(h, i)
	}
}

func siftDownCaps(h []capEntry, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].level < h[child].level {
			child++
		}
		if h[i].level <= h[child].level {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
