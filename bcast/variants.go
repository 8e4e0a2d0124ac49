package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
)

// The names of the variants that are no algorithm.
const (
	Ours   = "ours"   // what the broadcaster has chosen
	Native = "native" // MPI_Bcast
)

// A Variant is one way to broadcast that can be compared with others.
type Variant struct {
	Name string       // Ours, Native, or that of an algorithm
	Plan predict.Plan // that it follows

	// Bcast is collective: it broadcasts messages of the length and from the root that the variant was asked for.
	Bcast func(buf []byte) error
}

// Variants are the names of all that can be compared: Ours, Native if the communicator has a native broadcast, and the
// algorithms, with the name of the groups in brackets where these are not the network's own.
func (b *Broadcaster) Variants() []string {
	names := []string{Ours}
	if b.native != nil {
		names = append(names, Native)
	}
	for _, a := range b.choices {
		if !slices.Contains(names, a.Name()) {
			names = append(names, a.Name())
		}
	}
	return names
}

// VariantsFor is collective: it prepares variants for messages of the given bytes from the root, the same on all ranks.
// Each algorithm comes with its best plan by prediction.
func (b *Broadcaster) VariantsFor(bytes, root int) ([]Variant, error) {
	if err := b.checkMessage(bytes, root); err != nil {
		return nil, fmt.Errorf("bcast: variants: %w", err)
	}
	plans, err := b.toldPlans(func() []predict.Plan { // how ours is, and each algorithm in the order of the catalogue
		all := b.candidates(bytes, root)
		ours := all[0]
		if d := b.decisions[b.key(bytes, root)]; d != nil {
			ours = d.Plan
		}
		slices.SortFunc(all, func(a, b predict.Plan) int { return a.Index - b.Index })
		return append([]predict.Plan{ours}, all...)
	})
	if err != nil {
		return nil, err
	}
	all := []Variant{{Ours, plans[0], func(buf []byte) error { return b.Bcast(buf, root) }}}
	plans = plans[1:]
	if b.native != nil {
		plans = slices.Insert(plans, 0, nativePlan())
	}
	for _, p := range plans {
		c := b.compile(p, bytes, root)
		all = append(all, Variant{p.Name(), p, func(buf []byte) error { return b.failed(b.perform(c, buf, root)) }})
	}
	return all, nil
}
