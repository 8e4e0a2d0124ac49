package contention

// push adds an entry to the sweep's queue, a heap of four children per node by
// key and then id: flatter than a binary one, and pop is what costs.
func (s *filling) push(key float64, id int32) {
	e := queueEntry{key, id}
	q := append(s.queue, e)
	s.queue = q
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
}

// pop takes the least entry.
func (s *filling) pop() queueEntry {
	q := s.queue
	top, last := q[0], len(q)-1
	q[0] = q[last]
	s.queue = q[:last]
	if last > 1 {
		s.siftDown(0)
	}
	return top
}

// siftDown moves the entry at i down to where it belongs.
func (s *filling) siftDown(i int) {
	q := s.queue
	e := q[i]
	for {
		child := 4*i + 1
		if child >= len(q) {
			break
		}
		least, key := child, q[child]
		for k, other := range q[child+1 : min(child+4, len(q))] {
			if other.before(key) {
				least, key = child+1+k, other
			}
		}
		if !key.before(e) {
			break
		}
		q[i] = key
		i = least
	}
	q[i] = e
}

func (a queueEntry) before(b queueEntry) bool {
	return a.key < b.key || a.key == b.key && a.id < b.id
}
