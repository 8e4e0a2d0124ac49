package bcast

import (
	"fmt"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
)

// A decision is the plan for a class of sizes and one of roots.
type decision struct {
	plan
	decided bool // false: the time ran out, and so native stays
	stored  bool // it comes from the network's table, and is not confirmed yet
	pairs   int  // of samples that it rests on
}

// A decisionKey names a decision.
type decisionKey struct {
	size int // class of sizes
	root int // class of roots; where nothing is timed, the root
}

// key is that of the decision for a size of at least 1 and a root.
func (b *Broadcaster) key(bytes, root int) decisionKey {
	if b.timed() {
		root = b.rootClass(root)
	}
	return decisionKey{classOf(bytes), root}
}

// timed tells whether decisions are made by timing. Otherwise each root follows its predictions.
func (b *Broadcaster) timed() bool { return b.native != nil && !b.modelOnly }

// rootClass is the class of a rank as a root.
func (b *Broadcaster) rootClass(rank int) int {
	if !b.classified {
		b.classes, b.classified = table.RootClasses(b.groupings[0].tree), true
	}
	if b.classes == nil {
		return 0
	}
	return b.classes[rank]
}

// sampled are the roots from which variants are compared on behalf of the class of a root: that one, and others spread
// over the class.
func (b *Broadcaster) sampled(root int) []int {
	var class []int
	at := 0
	for rank := range b.ranks {
		if b.rootClass(rank) == b.rootClass(root) {
			if rank == root {
				at = len(class)
			}
			class = append(class, rank)
		}
	}
	n := min(tuner.MostRoots, len(class))
	roots := make([]int, n)
	for i := range roots {
		roots[i] = class[(at+i*len(class)/n)%len(class)]
	}
	return roots
}

// first is collective: it is the first broadcast of a class of sizes from a root, and decides how further ones are
// done, the same on all ranks. budget is how long that may take besides, in s; 0: as long as it takes.
//
//  1. The ranks agree on the length and the root.
//  2. If the class of sizes and roots is decided, the plan is compiled for this root, and that is all.
//  3. Where nothing is timed, rank 0 takes the plan that is predicted to be fastest.
//  4. Otherwise native broadcasts buf, so that all ranks have the same bytes from then on.
//  5. A plan from the network's table is confirmed by a short duel with native.
//  6. What is not decided by then is searched: rank 0 predicts, and times the best plans against each other and native.
func (b *Broadcaster) first(buf []byte, root int, budget float64) error {
	if err := b.agree(len(buf), root); err != nil {
		return err
	}
	key := b.key(len(buf), root)
	d := b.decisions[key]
	if d == nil && !b.timed() {
		plans, err := b.toldPlans(func() []plan { return b.candidates(len(buf), root)[:1] })
		if err != nil {
			return b.failed(err)
		}
		d = &decision{plan: plans[0], decided: true}
		b.decisions[key] = d
	}
	if d != nil && !d.stored {
		return b.failed(b.perform(b.use(d.plan, len(buf), root), buf, root))
	}
	if err := b.perform(b.compile(nativePlan(), len(buf), root), buf, root); err != nil {
		return b.failed(err)
	}
	d, err := b.contest(d, buf, root, budget)
	if err != nil {
		return b.failed(err)
	}
	b.decisions[key] = d
	b.use(d.plan, len(buf), root)
	return nil
}

// agree is collective: it returns an error on all ranks if they disagree about the length or the root of a broadcast.
func (b *Broadcaster) agree(bytes, root int) error {
	n, r := int64(bytes), int64(root)
	most, err := newControl(b.exec).max(n, -n, r, -r)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name        string
		own         int64
		least, most int64
	}{{"root", r, -most[3], most[2]}, {"length in bytes", n, -most[1], most[0]}} {
		if x.least != x.most {
			return fmt.Errorf("bcast: rank %d: the ranks disagree about the %s: this rank says %d, and the ranks say %d to %d", b.comm.Rank(), x.name, x.own, x.least, x.most)
		}
	}
	return nil
}
