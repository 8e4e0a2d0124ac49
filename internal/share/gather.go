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

// Gather hands the root the data of each rank, as long as each likes, straight from the rank: each byte travels once, and no
// rank on the way holds what is not its own. take gets them, and may keep them, in the order of ranks from the root round
// to it. If take fails, the root still receives what the others send, so that none of them waits, and returns the first
// error of take, which is not called again.
func (t *Tree) Gather(data []byte, take func(rank int, data []byte) error) error {
	const errand = "gather"
	if !t.IsRoot() {
		return t.sendAny(errand, data, t.root)
	}
	refused := take(t.root, data)
	for i := 1; i < t.comm.Size(); i++ {
		rank := (t.root + i) % t.comm.Size()
		data, err := t.receiveAny(errand, rank)
		if err != nil {
			return err
		}
		if refused == nil {
			refused = take(rank, data)
		}
	}
	return refused
}
