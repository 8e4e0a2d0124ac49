package bcast

import (
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/table"
)

// A decision is the plan for a class of sizes and one of roots.
type decision struct {
	predict.Plan
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

// timed reports whether decisions are made by timing. Otherwise each root follows its predictions.
func (b *Broadcaster) timed() bool { return b.native != nil && !b.modelOnly }

// rootClass is the class of a rank as a root.
func (b *Broadcaster) rootClass(rank int) int { return table.RootClass(b.classes(), rank) }

// rootsOfClasses are the first ranks of the classes of roots.
func (b *Broadcaster) rootsOfClasses() (roots []int) {
	seen := make(map[int]bool)
	for rank := range b.ranks {
		if class := b.rootClass(rank); !seen[class] {
			seen[class] = true
			roots = append(roots, rank)
		}
	}
	return roots
}
