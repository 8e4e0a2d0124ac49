package share

// Collect hands buf from the leaves to the root: each rank takes the bufs of its
// children, one after the other, into its own by merge, and hands that on. The buf and
// scratch of all ranks are equally long; 0 bytes are a sign that all have come so far.
func (t *Tree) Collect(buf, scratch []byte, merge func(child []byte)) error {
	const errand = "collect"
	for _, b := range t.branches { // the smallest is the first to be ready
		if err := t.receiveLong(errand, scratch, b.child); err != nil {
			return err
		}
		merge(scratch)
	}
	if t.IsRoot() {
		return nil
	}
	return t.sendLong(errand, buf, t.parent)
}

// Gather hands the root the data of each rank, as long as each likes: take gets them, and may
// keep them, in the order of ranks from the root round to it. Ranks on the way hold one piece
// at a time. If take fails, the root still receives what the others send, so that none of them
// waits, and returns the first error of take, which is not called again.
func (t *Tree) Gather(data []byte, take func(rank int, data []byte) error) error {
	const errand = "gather"
	if !t.IsRoot() {
		return t.handOn(errand, data)
	}
	refused := take(t.root, data)
	for _, b := range t.branches {
		for i := range b.ranks {
			rank := (b.child + i) % t.comm.Size()
			data, err := t.receiveAny(errand, b.child)
			if err != nil {
				return err
			}
			if refused == nil {
				refused = take(rank, data)
			}
		}
	}
	return refused
}

// handOn sends the parent the data of this rank, and then of those below it.
func (t *Tree) handOn(errand string, data []byte) error {
	if err := t.send(errand, header(len(data)), t.parent); err != nil {
		return err
	}
	if len(data) > 0 {
		if err := t.sendLong(errand, data, t.parent); err != nil {
			return err
		}
	}
	var scratch []byte
	for _, b := range t.branches {
		for range b.ranks {
			var err error
			if scratch, err = t.relay(errand, b.child, scratch); err != nil {
				return err
			}
		}
	}
	return nil
}

// relay passes the data of one rank from a child to the parent, piece by piece. It returns
// scratch, which may have grown.
func (t *Tree) relay(errand string, child int, scratch []byte) ([]byte, error) {
	head := header(0)
	left, err := t.receiveLength(errand, head, child)
	if err != nil {
		return scratch, err
	}
	if err := t.send(errand, head, t.parent); err != nil {
		return scratch, err
	}
	for left > 0 {
		size := min(left, t.piece)
		if cap(scratch) < size {
			scratch = make([]byte, size)
		}
		if err := t.receive(errand, scratch[:size], child); err != nil {
			return scratch, err
		}
		if err := t.send(errand, scratch[:size], t.parent); err != nil {
			return scratch, err
		}
		left -= size
	}
	return scratch, nil
}
