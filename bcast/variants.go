package bcast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/words"
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
// Each algorithm comes with its best plan by prediction. only names those that are wanted, equal on all ranks: an
// algorithm stands for itself along all groups; nil: all.
func (b *Broadcaster) VariantsFor(bytes, root int, only []string) ([]Variant, error) {
	for _, name := range only {
		if all := b.Variants(); !slices.ContainsFunc(all, func(v string) bool { return isAskedFor(name, v) }) {
			return nil, fmt.Errorf("bcast: variant %q: want %s", name, words.Or(all))
		}
	}
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
	var all []Variant
	add := func(name string, plan predict.Plan, run func(buf []byte) error) {
		if only == nil || slices.ContainsFunc(only, func(asked string) bool { return isAskedFor(asked, name) }) {
			all = append(all, Variant{name, plan, run})
		}
	}
	follow := func(p predict.Plan) {
		c := b.compile(p, bytes, root)
		add(p.Name(), p, func(buf []byte) error { return b.failed(b.perform(c, buf, root)) })
	}
	add(Ours, plans[0], func(buf []byte) error { return b.Bcast(buf, root) })
	if b.native != nil {
		follow(nativePlan())
	}
	for _, p := range plans[1:] {
		follow(p)
	}
	return all, nil
}

// isAskedFor tells whether a name asks for a variant.
func isAskedFor(asked, variant string) bool {
	algorithm, _, _ := strings.Cut(variant, " (")
	return asked == variant || asked == algorithm
}
