package bcast

import "github.com/topocast/topocast/bcast/predict"

// Chosen tells how messages of the class of the given bytes are broadcast from the root, if that is
// decided: by a contest, or by the network's table. Its Algorithm is nil where that is the library's
// own broadcast. It decides nothing, and is not collective; the answer is the same on all ranks.
func (b *Broadcaster) Chosen(bytes, root int) (plan predict.Plan, decided bool) {
	if bytes < 1 || uint(root) >= uint(b.ranks) {
		return predict.Plan{}, false
	}
	c := b.cells[b.key(bytes, root)]
	if c == nil {
		return predict.Plan{}, false
	}
	return c.Plan, true
}
