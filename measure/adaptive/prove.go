package adaptive

import (
	"github.com/topocast/topocast/topology"
)

const (
	// Groups that are not firm are read further, inside and to their nearest siblings: an outlier or two among few
	// readings are no evidence. What looks like an outlier is read again: a pair counts by the lower half of its
	// readings. Passes, and readings of each per group and way.
	provePasses   = 4
	proveReadings = 4
)

// A question is two vertices of whose hosts some pair is to be read.
type question struct{ a, b int32 }

// prove takes further readings of the groups that are not firm.
func (f *finding) prove() error {
	t := f.tree
	list := t.all()
	for range provePasses {
		var open []question
		proofs := f.proofs()
		for _, v := range list[min(1, len(list)):] {
			p := proofs[v]
			if f.support(v, p) >= topology.FirmSupport {
				continue
			}
			open = append(open, p.slow...)
			kids := t.kids(v)
			for range proveReadings {
				a := f.rng.IntN(len(kids))
				b := (a + 1 + f.rng.IntN(len(kids)-1)) % len(kids)
				open = append(open, question{kids[a], kids[b]})
			}
			_, siblings := p.around()
			for k, s := range siblings {
				if k == nearSiblings {
					break
				}
				for range proveReadings {
					open = append(open, question{v, s.vertex})
				}
			}
		}
		if len(open) == 0 {
			return nil
		}
		if err := f.answer(open); err != nil {
			return err
		}
	}
	return nil
}

// answer reads a pair of each question.
func (in *inserter) answer(open []question) error {
	for len(open) > 0 {
		in.ledger.open()
		left := open[:0]
		for _, q := range open {
			if !in.pose(q) {
				left = append(left, q)
			}
		}
		open = left
		if _, err := in.ledger.read(); err != nil {
			return err
		}
	}
	return nil
}

// pose puts a pair of free hosts into the round.
func (in *inserter) pose(q question) bool {
	for range tries {
		a, b := in.tree.some(q.a, in.rng), in.tree.some(q.b, in.rng)
		if in.ledger.free(a) && in.ledger.free(b) {
			in.ledger.add(a, b)
			return true
		}
	}
	return false
}
