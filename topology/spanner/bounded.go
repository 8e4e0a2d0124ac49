package spanner

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/witness"
)

// Both methods give up when they find more arcs than a sparse graph has: the hosts are behind switches then, or the
// measurements are too noisy, and a nearly full mesh says hardly less than its matrix. A full mesh of fewHosts is still found.
const (
	fewHosts = 256
	fewArcs  = fewHosts * fewHosts
)

// mostArcs is how many arcs are found between n hosts before a method gives up: twice what the densest regular mesh
// in two dimensions has (see witness.NewBound).
func mostArcs(n int) int {
	return max(fewArcs, int(4*witness.NewBound(n).Links))
}

// bound limits the arcs and the work of a search, in which both directions are looked at; nil for few hosts.
func bound(n int) *witness.Bound {
	if n <= fewHosts {
		return nil
	}
	b := witness.NewBound(n)
	b.Links = int64(mostArcs(n))
	b.Legs *= 2
	return b
}

// gaveUp is what a method that gives up finds: the shortest arcs that connect the hosts, both ways, and a warning.
// NaN is not measured. O(n^2).
func gaveUp(n int, m []float64) (arcs []witness.Pair, warning string) {
	slower := make([]float64, n) // of both directions
	row := func(u int) []float64 {
		for v := range slower {
			slower[v] = max(m[u*n+v], m[v*n+u])
		}
		return slower
	}
	nnchain.Prim(n, row, func(from, to int, latency float64) {
		if !math.IsInf(latency, 1) {
			arcs = append(arcs, witness.Pair{From: from, To: to}, witness.Pair{From: to, To: from})
		}
	})
	return arcs, fmt.Sprintf("gave up: the measurements show more than %d links, so hosts are behind switches or measurements are too noisy; "+
		"the links found are the shortest ones that connect the hosts", mostArcs(n)/2)
}
