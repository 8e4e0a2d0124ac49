package spanner

import (
	"fmt"
	"math"

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
// It follows Prim, O(n^2). NaN is not measured.
func gaveUp(n int, m []float64) (arcs []witness.Pair, warning string) {
	const none = -1
	least, nearest := make([]float64, n), make([]int, n)
	for v := range n {
		least[v], nearest[v] = math.Inf(1), none
	}
	reached := make([]bool, n)
	for range n {
		u := none
		for v := range n {
			if !reached[v] && (u == none || least[v] < least[u]) {
				u = v
			}
		}
		reached[u] = true
		if from := nearest[u]; from != none {
			arcs = append(arcs, witness.Pair{From: from, To: u}, witness.Pair{From: u, To: from})
		}
		for v := range n {
			if w := max(m[u*n+v], m[v*n+u]); !reached[v] && w < least[v] {
				least[v], nearest[v] = w, u
			}
		}
	}
	return arcs, fmt.Sprintf("gave up: the measurements show more than %d links, so hosts are behind switches or measurements are too noisy; "+
		"the links found are the shortest ones that connect the hosts", mostArcs(n)/2)
}
