package linkage

import (
	"math"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestBesideSiblings(t *testing.T) {
	host := standing{}
	firm := func(depth int) standing { return standing{group: true, firm: true, depth: depth} }
	weak := func(below int) standing { return standing{group: true, depth: below} }
	const unseen = -1 // less than what is reported
	for _, tt := range []struct {
		name     string
		support  float64
		own      standing
		siblings []standing
		want     float64
	}{
		{"no siblings", 0.97, firm(1), nil, 0.97},
		{"no siblings of a uncertain group", 0.7, weak(0), nil, 0.7},
		{"a lone group among hosts", 0.97, firm(1), []standing{host, host}, weakCeiling},
		{"a lone uncertain group among hosts", 0.7, weak(0), []standing{host, host}, unseen},
		{"a lone group that was nearly firm", topology.FirmSupport - 1e-9, weak(0), []standing{host}, unseen},
		{"one of two groups", 0.97, firm(1), []standing{host, firm(1)}, 0.97},
		{"one of two, beside a deeper one", 0.97, firm(1), []standing{firm(3)}, 0.97},
		{"deeper than its siblings", 0.97, firm(2), []standing{firm(1), host, firm(1)}, weakCeiling},
		{"as deep as one of them", 0.97, firm(2), []standing{firm(1), firm(2)}, 0.97},
		// For a firm group a weak sibling counts as a group, but no level of groups more.
		{"firm beside a uncertain group", 0.97, firm(1), []standing{weak(0)}, 0.97},
		{"two levels beside a uncertain group", 0.97, firm(2), []standing{weak(0)}, weakCeiling},
		{"two levels beside a uncertain group around a firm one", 0.97, firm(2), []standing{weak(1)}, weakCeiling},
		{"two levels beside a uncertain group around two levels", 0.97, firm(2), []standing{weak(2)}, 0.97},
		// Among weak ones a weak group is a level like any other.
		{"uncertain among uncertain", 0.7, weak(0), []standing{weak(0), host}, 0.7},
		{"uncertain beside firm", 0.7, weak(0), []standing{firm(1), host}, 0.7},
		{"uncertain around confident, beside firm", 0.7, weak(1), []standing{firm(1)}, unseen},
		{"uncertain around confident, beside the same", 0.7, weak(1), []standing{weak(1)}, 0.7},
		{"uncertain around confident, beside two firm levels", 0.7, weak(1), []standing{firm(2)}, 0.7},
	} {
		got := besideSiblings(tt.support, tt.own, tt.siblings)
		if tt.want == unseen && (got < 0 || got >= reported) || tt.want != unseen && got != tt.want {
			t.Errorf("%s: besideSiblings(%g) = %g, want %g", tt.name, tt.support, got, tt.want)
		}
		if got > tt.support {
			t.Errorf("%s: support grew from %g to %g", tt.name, tt.support, got)
		}
	}
}

// A group that is not reported leaves its place to its children. Pairs 0 1 and 2 3 are 1 apart, all else 2.
func TestSiblingsOfGroupsThatAreNotReported(t *testing.T) {
	for _, tt := range []struct {
		name               string
		first, inner, pair float64    // support of (0 1), of (2 3 4 5) and of (2 3) in it
		want               [3]float64 // 0: anything that is not reported
	}{
		{"two pairs", 0.97, 0.3, 0.95, [3]float64{0.97, 0, 0.95}},
		// Inside the group around it the pair is alone, and that group is deeper than the pair beside it.
		{"a pair in a group", 0.97, 0.96, 0.95, [3]float64{0.97, weakCeiling, weakCeiling}},
		// The weak group and the pair in it are seen by none; so the first pair is alone among hosts.
		{"a lone pair", 0.97, 0.3, 0.3, [3]float64{weakCeiling, 0, 0}},
		// Reported, though weak: a group beside which the first is not alone.
		{"a pair beside a uncertain group", 0.97, 0.6, 0.3, [3]float64{0.97, 0.6, 0}},
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
		for k := range g.support {
			g.support[k] = 1
		}
		g.support[first], g.support[inner], g.support[pair] = tt.first, tt.inner, tt.pair
		g.siblings()
		for k, at := range []int{first, inner, pair} {
			if got, want := g.support[at], tt.want[k]; got != want && (got >= reported || want >= reported) {
				t.Errorf("%s: confidence %g of %v, want %g", tt.name, got, g.t.Leaves(int32(g.t.N+at)), want)
			}
		}
		if g.support[int(g.t.Root)-g.t.N] != 1 {
			t.Errorf("%s: confidence of the root %g, want 1", tt.name, g.support[int(g.t.Root)-g.t.N])
		}
	}
}
