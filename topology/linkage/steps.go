package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
)

// A step is a part of the method. A correction repairs what the other steps get wrong on some machines. Each
// correction has a machine in the tests that comes out wrong without it.
type step struct {
	correction string // its name; "": the step is no correction
	do         func(*reconstruction)
}

// steps are the method, in order.
func steps() []step {
	return []step{
		{"slow hosts", (*reconstruction).findSlow},
		{"hosts set aside", (*reconstruction).setAside},
		{"", (*reconstruction).propose},
		{"hosts moved", (*reconstruction).moveHosts},
		{"unequal links", (*reconstruction).equalise},
		{"", (*reconstruction).judgeGroups},
		{"elimination", func(w *reconstruction) { w.judge.eliminate() }},
		{"missing pairs", (*reconstruction).holdAgainstGaps},
		{"siblings", func(w *reconstruction) { w.judge.siblings() }},
		{"", (*reconstruction).settle},
		{"lone hosts", func(w *reconstruction) { w.judge.placeLone(w.original, w.kept) }},
		{"", (*reconstruction).placeAside},
	}
}

// A reconstruction is what the steps work on. Of the measurements there are three states: part, as they
// were combined; raw, without what slow hosts add; r, without unequal links, too. States that do not differ are one.
type reconstruction struct {
	note     *combination
	original *measured.Symmetric // of all hosts
	part     *measured.Symmetric // of the hosts that take part
	raw, r   *measured.Symmetric
	kept     []int      // the hosts that take part
	aside    []slowHost // the hosts that do not take part
	slow     []slowHost // of the hosts that take part
	scratch  *nnchain.Square
	tree     *nested.Tree
	sigma    float64                    // the noise by which groups were proposed
	capRow   func(row []float32, i int) // cuts outliers, see propose
	judge    *judge
	ceiling  []float64 // the most confidence in groups for which pairs are missing; nil: no pairs are missing

	mostConfident bool // most hosts are in confident groups
}

// findSlow finds the hosts that are slow on every message.
func (w *reconstruction) findSlow() {
	w.slow = slowHosts(w.part)
	w.note.slow = w.slow
}

// setAside takes out the slow hosts whose noise would hide groups.
func (w *reconstruction) setAside() {
	w.aside, w.kept = setAside(w.part.N(), w.slow)
	if len(w.aside) > 0 {
		w.part = only(w.original, w.kept)
		w.slow = slowHosts(w.part)
	}
}

// propose builds a first tree of groups.
func (w *reconstruction) propose() {
	w.raw = subtractHostDelay(w.part, w.slow)
	w.r = w.raw
	w.scratch = nnchain.NewSquare(w.part.N())
	w.tree, w.sigma, w.capRow = propose(w.raw.At, w.scratch)
}

// equalise takes out by how much links of hosts differ, proposes groups again, and moves hosts again.
func (w *reconstruction) equalise() {
	offset := unequalLinks(w.tree, w.raw, w.scratch.Scratch())
	if offset == nil {
		w.scratch = nil
		return
	}
	equal := func(i, j int) float32 {
		x := float64(w.raw.At(i, j))
		size := math.Abs(x)
		return float32(math.Copysign(max(leastLeft*size, size-offset[i]-offset[j]), x))
	}
	w.tree, w.sigma, w.capRow = propose(equal, w.scratch)
	w.scratch = nil // before the copy
	w.r = measured.NewSymmetric(w.part.N(), equal)
	w.moveHosts()
}

// leastLeft is the share of a measurement that no correction takes away.
const leastLeft = 0.05

// moveHosts moves single hosts to groups that they fit.
func (w *reconstruction) moveHosts() {
	for range refineRounds {
		if !refine(w.tree, w.r, w.r != w.raw, w.capRow) {
			break
		}
	}
}

// judgeGroups judges every group that was proposed.
func (w *reconstruction) judgeGroups() {
	w.tree.Arrange(w.raw.Means())
	w.judge = &judge{
		t: w.tree, r: w.r, raw: w.raw, gapped: w.note.Holes > 0, quantum: w.note.Tick,
		residualNoise: w.sigma,
	}
	w.judge.judgeAll()
}

// holdAgainstGaps asks whether the pairs that were measured could have refuted a group. It comes before siblings, where
// confident groups count.
func (w *reconstruction) holdAgainstGaps() {
	if w.judge.gapped {
		w.ceiling = w.judge.gaps()
	}
}

// settle gives groups their final confidence. Hosts are placed afterwards.
func (w *reconstruction) settle() {
	w.note.confident, w.note.doubtful = w.judge.lower(w.ceiling)
	w.mostConfident = w.judge.mostConfident()
}

// placeAside puts the hosts that were set aside into the tree.
func (w *reconstruction) placeAside() {
	w.judge = w.judge.place(w.original, w.kept, w.aside)
}
