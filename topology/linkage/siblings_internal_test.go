package linkage

import (
	"math"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestBesideSiblings(t *testing.T) {
	host := sibling{}
	confident := func(depth int) sibling { return sibling{group: true, confident: true, depth: depth} }
	uncertain := func(below int) sibling { return sibling{group: true, depth: below} }
	const unseen = -1 // less than what is reported
	for _, tt := range []struct {
		name       string
		confidence float64
		own        sibling
		siblings   []sibling
		want       float64
	}{
		{"no siblings", 0.97, confident(1), nil, 0.97},
		{"no siblings of an uncertain group", 0.7, uncertain(0), nil, 0.7},
		{"a lone group among hosts", 0.97, confident(1), []sibling{host, host}, uncertainCeiling},
		{"a lone uncertain group among hosts", 0.7, uncertain(0), []sibling{host, host}, unseen},
		{"a lone group that was nearly confident", topology.ConfidentFrom - 1e-9, uncertain(0), []sibling{host}, unseen},
		{"one of two groups", 0.97, confident(1), []sibling{host, confident(1)}, 0.97},
		{"one of two, beside a deeper one", 0.97, confident(1), []sibling{confident(3)}, 0.97},
		{"deeper than its siblings", 0.97, confident(2), []sibling{confident(1), host, confident(1)}, uncertainCeiling},
		{"as deep as one of them", 0.97, confident(2), []sibling{confident(1), confident(2)}, 0.97},
		// For a confident group an uncertain sibling counts as a group, but no level of groups more.
		{"confident beside an uncertain group", 0.97, confident(1), []sibling{uncertain(0)}, 0.97},
		{"two levels beside an uncertain group", 0.97, confident(2), []sibling{uncertain(0)}, uncertainCeiling},
		{"two levels beside an uncertain group around a confident one", 0.97, confident(2), []sibling{uncertain(1)}, uncertainCeiling},
		{"two levels beside an uncertain group around two levels", 0.97, confident(2), []sibling{uncertain(2)}, 0.97},
		// Among uncertain ones an uncertain group is a level like any other.
		{"uncertain among uncertain", 0.7, uncertain(0), []sibling{uncertain(0), host}, 0.7},
		{"uncertain beside confident", 0.7, uncertain(0), []sibling{confident(1), host}, 0.7},
		{"uncertain around confident, beside confident", 0.7, uncertain(1), []sibling{confident(1)}, unseen},
		{"uncertain around confident, beside the same", 0.7, uncertain(1), []sibling{uncertain(1)}, 0.7},
		{"uncertain around confident, beside two confident levels", 0.7, uncertain(1), []sibling{confident(2)}, 0.7},
	} {
		got := besideSiblings(tt.confidence, tt.own, tt.siblings)
		if tt.want == unseen && (got < 0 || got >= reported) || tt.want != unseen && got != tt.want {
			t.Errorf("%s: besideSiblings(%g) = %g, want %g", tt.name, tt.confidence, got, tt.want)
		}
		if got > tt.confidence {
			t.Errorf("%s: support grew from %g to %g", tt.name, tt.confidence, got)
		}
	}
}

// A group that is not reported leaves its place to its children. Pairs 0 1 and 2 3 are 1 apart, all else 2.
func TestSiblingsOfGroupsThatAreNotReported(t *testing.T) {
	for _, tt := range []struct {
		name               string
		first, inner, pair float64    // confidence of (0 1), of (2 3 4 5) and of (2 3) in it
		want               [3]float64 // 0: anything that is not reported
	}{
		{"two pairs", 0.97, 0.3, 0.95, [3]float64{0.97, 0, 0.95}},
		// Inside the group around it the pair is alone, and that group is deeper than the pair beside it.
		{"a pair in a group", 0.97, 0.96, 0.95, [3]float64{0.97, uncertainCeiling, uncertainCeiling}},
		// The uncertain group and the pair in it are seen by none; so the first pair is alone among hosts.
		{"a lone pair", 0.97, 0.3, 0.3, [3]float64{uncertainCeiling, 0, 0}},
		// Reported, though uncertain: a group beside which the first is not alone.
		{"a pair beside an uncertain group", 0.97, 0.6, 0.3, [3]float64{0.97, 0.6, 0}},
	} {
		g := judgeOf("((0 1) ((2 3) 4 5) 6)", func(i, j int) float64 {
			if i/2 == j/2 && j <= 3 {
				return 1
			}
			return 2
		})
		remeasure(g.t, g.r.At)
		first, inner, pair := int(groupOf(g.t, 0, 1))-g.t.N, int(groupOf(g.t, 2, 3, 4, 5))-g.t.N, int(groupOf(g.t, 2, 3))-g.t.N
		// The levels of the outer group and of the root are as noise would have them.
		g.t.Level[inner] = math.Log(1.5)
		for k := range g.confidence {
			g.confidence[k] = 1
		}
		g.confidence[first], g.confidence[inner], g.confidence[pair] = tt.first, tt.inner, tt.pair
		g.siblings()
		for k, at := range []int{first, inner, pair} {
			if got, want := g.confidence[at], tt.want[k]; got != want && (got >= reported || want >= reported) {
				t.Errorf("%s: confidence %g of %v, want %g", tt.name, got, g.t.Leaves(int32(g.t.N+at)), want)
			}
		}
		if g.confidence[int(g.t.Root)-g.t.N] != 1 {
			t.Errorf("%s: confidence of the root %g, want 1", tt.name, g.confidence[int(g.t.Root)-g.t.N])
		}
	}
}
