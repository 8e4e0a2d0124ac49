package bcast

import "fmt"

// first is collective: it is the first broadcast of a class of sizes from a root, and decides how further ones are
// done, the same on all ranks. budget is how long the decision may take, in s.
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
		plan, err := b.predicted(len(buf), root)
		if err != nil {
			return err
		}
		d = &decision{Plan: plan, decided: true}
		b.decisions[key] = d
	}
	if d != nil && !d.stored {
		return b.perform(b.use(d.Plan, len(buf), root), buf, root)
	}
	if err := b.perform(b.compile(nativePlan(), len(buf), root), buf, root); err != nil {
		return err
	}
	d, err := b.contest(d, buf, root, budget)
	if err != nil {
		return b.exec.note(err)
	}
	b.decisions[key] = d
	b.use(d.Plan, len(buf), root)
	return nil
}

// agree is collective: it returns an error on all ranks if they disagree about the length or the root of a broadcast.
func (b *Broadcaster) agree(bytes, root int) error {
	n, r := float64(bytes), float64(root)
	most, err := b.reduceMax(n, -n, r, -r)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name        string
		own         float64
		least, most float64
	}{{"root", r, -most[3], most[2]}, {"length in bytes", n, -most[1], most[0]}} {
		if x.least != x.most {
			return fmt.Errorf("bcast: rank %d: the ranks disagree about the %s: this rank says %.0f, and the ranks say %.0f to %.0f", b.comm.Rank(), x.name, x.own, x.least, x.most)
		}
	}
	return nil
}
