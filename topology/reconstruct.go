package topology

import (
	"github.com/topocast/topocast/internal/measured"
	"gonum.org/v1/gonum/mat"
)

// ErrDisconnected says that the measurements leave the hosts in parts between which
// nothing was measured, so that nothing can be said of how they are joined.
// Reconstructors return it, wrapped with a host of each part.
var ErrDisconnected = measured.ErrDisconnected

// A Reconstructor works out the wiring of a machine from measured latencies.
type Reconstructor interface {
	// Reconstruct takes square matrices of one-way latencies in s between the
	// same hosts, one per repetition: cell (i, j) is the latency from i to j,
	// NaN where it was not measured. The diagonal is not read. Bad data are an
	// error; a usable but uncertain result carries Warnings.
	Reconstruct(repetitions ...mat.Matrix) (*Result, error)
}

// A Family is the kind of wiring that a reconstruction has found.
type Family string

// The families.
const (
	FamilyFlat     Family = "flat"     // no groups: one switch, or nothing that can be told from one
	FamilyTree     Family = "tree"     // nested groups
	FamilyQuotient Family = "quotient" // groups of hosts on switches that are wired as a ring, torus or mesh
	FamilyMesh     Family = "mesh"     // hosts wired to each other directly, without switches
)

// A Result is a reconstructed machine.
type Result struct {
	Graph     *Graph     // hosts and the switches found
	Hierarchy *Hierarchy // nested groups; of FamilyMesh the root alone
	Fit       Fit
	Warnings  []string // what is uncertain, and what latencies cannot tell apart, each one sentence

	Local []LocalTopology // that Graph was merged of, short messages first; nil: it was not
}

// Fit says how well a result explains the latencies that it was made from.
// Values are finite, or NaN where a method does not compute them or the measurements do not
// tell.
type Fit struct {
	Family       Family
	R2           float64   // share of the variance of the measurements that the graph explains; without variance 1 if it says the same
	Residual     float64   // median of |measurement - fit| / fit
	TreeLikeness float64   // share of sampled quadruples that satisfy the four-point condition within noise
	Noise        float64   // relative spread of measurements, sigma, as estimated
	Overhead     float64   // s, what every message pays at its ends, on top of the graph's latencies
	Levels       []float64 // the Residual of the pairs that each level joins, fine to coarse, and of those that the root joins
}
