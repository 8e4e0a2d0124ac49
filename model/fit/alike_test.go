package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// hostsOfTwo are two racks of four hosts of two ranks, and what a reconstruction sees of them, without bandwidths.
func hostsOfTwo(t testing.TB) (truth *model.Network, seen *topology.Result) {
	c, err := gen.Parse("tree:2x4x2 latency=200us,100us,1us rate=100Mbps,200Mbps,40Gbps")
	if err != nil {
		t.Fatal(err)
	}
	fit := topology.Fit{Family: topology.FamilyTree}
	if truth, err = model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: fit}, nil); err != nil {
		t.Fatal(err)
	}
	bare := slices.Clone(c.Graph.Arcs())
	for i := range bare {
		bare[i].Bandwidth = math.NaN()
	}
	g, err := c.Graph.WithArcs(bare)
	if err != nil {
		t.Fatal(err)
	}
	return truth, &topology.Result{Graph: g, Hierarchy: c.Hierarchy, Fit: fit}
}

// unseenError fits the links of hostsOfTwo to that many patterns of the ranks, with 2 % of
// noise and no transfer alone, and returns the mean error of predictions of others, between hosts, and the link that is most too
// slow. Of the links of ranks only bounds are seen: those of the hosts are slower.
func unseenError(t testing.TB, seed uint64, patterns int) (mean float64, slow string) {
	truth, seen := hostsOfTwo(t)
	r := rand.New(rand.NewPCG(seed, 41))
	random := func(n int) [][]model.Transfer {
		var all [][]model.Transfer
		for k := range n {
			all = append(all, model.RandomPattern(r, 16, 1+k%3, 500e3))
		}
		return all
	}
	fit, err := Network(seen, observe(t, truth, r, 0.02, random(patterns)), nil)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, a := range fit.Network.Graph().Arcs() {
		if x := truth.Graph().Arcs()[i].Bandwidth / a.Bandwidth; a.Bandwidth < 20e6 && x > max(1.1, worst) {
			worst, slow = x, fmt.Sprintf("%s-%s has %.3g B/s, truth %.3g", seen.Graph.Name(a.From), seen.Graph.Name(a.To), a.Bandwidth, truth.Graph().Arcs()[i].Bandwidth)
		}
	}
	n := 0.0
	for _, o := range observe(t, truth, r, 0, random(10)) {
		got, err := fit.Network.Predict(nil, o.Transfers)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range o.Seconds {
			if o.Transfers[i].Src/2 != o.Transfers[i].Dst/2 { // hardly one of the patterns is within a host
				mean += math.Abs(got[i]-x) / x
				n++
			}
		}
	}
	return mean / n, slow
}

// A few patterns leave open which of the links on a way held a transfer up. The fit is not to take the link of a single rank,
// which carried little, for a slow one: the mean error is to be 5 %, as issue 12 has it of Zhu's patterns.
func TestFewPatternsDoNotSlowLinksDown(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		if mean, slow := unseenError(t, seed, 3); mean > 0.05 {
			t.Errorf("seed %d: mean error %.1f %%, want at most 5; %s", seed, 100*mean, slow)
		}
	}
}

// BenchmarkFewPatterns reports the mean error and the share of machines with more than 5 % over 40 machines, by the number of patterns.
func BenchmarkFewPatterns(b *testing.B) {
	for _, patterns := range []int{3, 6, 12} {
		b.Run(fmt.Sprint(patterns), func(b *testing.B) {
			for b.Loop() {
				const seeds = 40
				sum, off := 0.0, 0.0
				for seed := range uint64(seeds) {
					mean, _ := unseenError(b, seed, patterns)
					if sum += mean; mean > 0.05 {
						off++
					}
				}
				b.ReportMetric(100*sum/seeds, "mean-%")
				b.ReportMetric(off/seeds, "above-5%")
			}
		})
	}
}
