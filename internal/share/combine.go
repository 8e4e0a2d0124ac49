package share

import "math/bits"

// Concatenate hands the root what all ranks have, one behind the other in no particular order: each rank
// appends what its children send to its own data, and sends its parent all in one. Data are as long as each
// rank likes. Before a rank waits for a child it calls wait with the logarithm of how many ranks the branch
// of the child has. The result is that of all ranks on the root, and of the rank's branches elsewhere.
func (t *Tree) Concatenate(data []byte, wait func(child, depth int)) ([]byte, error) {
	const errand = "concatenate"
	for _, b := range t.branches { // the smallest is the first to be ready
		wait(b.child, bits.Len(uint(b.ranks-1)))
		more, err := t.receiveAny(errand, b.child)
		if err != nil {
			return nil, err
		}
		data = append(data, more...)
	}
	if t.IsRoot() {
		return data, nil
	}
	return data, t.sendAny(errand, data, t.parent)
}
