package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// linkNames returns the links of a graph by name: hosts by number, switches by
// the hosts on them, so that graphs with switches numbered differently compare.
func linkNames(g *topology.Graph) []string {
	name := make([]string, g.Vertices())
	for v := range name {
		if !g.IsSwitch(v) {
			name[v] = fmt.Sprint(v)
			continue
		}
		var hosts []int
		for _, a := range g.Out(v) {
			if !g.IsSwitch(a.To) {
				hosts = append(hosts, a.To)
			}
		}
		name[v] = fmt.Sprint(hosts)
	}
	var list []string
	for _, a := range g.Arcs() {
		list = append(list, name[a.From]+" "+name[a.To])
	}
	slices.Sort(list)
	return list
}

// difference counts what only one of two sorted lists has.
func difference(got, want []string) (missing, wrong int) {
	for _, l := range want {
		if _, ok := slices.BinarySearch(got, l); !ok {
			missing++
		}
	}
	for _, l := range got {
		if _, ok := slices.BinarySearch(want, l); !ok {
			wrong++
		}
	}
	return missing, wrong
}

// A wiredCase is a machine that is no tree, and how well it must be found with
// 1 % of noise, 2 % of outliers and two repetitions.
type wiredCase struct {
	spec   string
	family topology.Family
	wrong  float64 // share of false links allowed
	groups int     // of the hierarchy
}

func wiredCases() []wiredCase {
	return []wiredCase{
		{"ring:4 hosts=8 latency=1us", topology.FamilyQuotient, 0, 4},
		{"ring:6 hosts=8 latency=1us", topology.FamilyQuotient, 0, 6},
		{"ring:12 hosts=8 latency=1us", topology.FamilyQuotient, 0, 12},
		{"torus:4x4 hosts=8 latency=1us", topology.FamilyQuotient, 0, 16},
		{"torus:5x6 hosts=8 latency=1us", topology.FamilyQuotient, 0, 30},
		{"torus:4x4x4 hosts=8 latency=1us", topology.FamilyQuotient, 0, 64},
		{"ring:32 latency=1us", topology.FamilyMesh, 0.01, 0},
		{"torus:8x8 latency=1us", topology.FamilyMesh, 0.01, 0},
		{"torus:6x6x6 latency=1us", topology.FamilyMesh, 0.01, 0},
		{"mesh:8x8 latency=1us", topology.FamilyMesh, 0.01, 0},
	}
}

// find returns whether the family and groups are right, the true links
// missing, the false ones, and the number of true links.
func (c wiredCase) find(t testing.TB, seed uint64) (right bool, missing, wrong, all int) {
	rng := rand.New(rand.NewPCG(seed, 8))
	cluster, reps := measured(t, rng, fmt.Sprintf("%s shuffle seed=%d", c.spec, seed), 0, gen.Noise{Sigma: 0.01, Outliers: 0.02}, 2)
	result := reconstruct(t, reps...)
	want := linkNames(cluster.Graph)
	missing, wrong = difference(linkNames(result.Graph), want)
	return result.Fit.Family == c.family && len(result.Hierarchy.Groups())-1 == c.groups, missing, wrong, len(want)
}

func TestLinkageFindsWhatIsNoTree(t *testing.T) {
	for _, c := range wiredCases() {
		seeds := 3
		if testing.Short() {
			seeds = 1
		}
		for seed := range seeds {
			right, missing, wrong, all := c.find(t, uint64(seed))
			if !right || missing > 0 || float64(wrong) > c.wrong*float64(all) {
				t.Errorf("%s, seed %d: family and groups right: %v; of %d links %d missing, %d false", c.spec, seed, right, all, missing, wrong)
			}
		}
	}
}

// BenchmarkLinkageFamily reports in how many of 20 seeds rings and tori are
// found; run it with -benchtime=1x.
func BenchmarkLinkageFamily(b *testing.B) {
	cases := append(wiredCases(),
		wiredCase{"torus:8x8x16 latency=1us", topology.FamilyMesh, 0.01, 0},
		wiredCase{"dragonfly:4,8,4 latency=2us,1us,1us", topology.FamilyQuotient, 0.01, -1})
	for _, c := range cases {
		b.Run(c.spec, func(b *testing.B) {
			var exact, missing, wrong, all int
			const seeds = 20
			for b.Loop() {
				exact, missing, wrong = 0, 0, 0
				for seed := range seeds {
					right, m, w, n := c.find(b, uint64(seed))
					if (right || c.groups < 0) && m == 0 && float64(w) <= c.wrong*float64(n) {
						exact++
					}
					missing, wrong, all = missing+m, wrong+w, n
				}
			}
			b.ReportMetric(float64(exact), "exact")
			b.ReportMetric(float64(missing)/seeds, "missing")
			b.ReportMetric(float64(wrong)/seeds, "false")
			b.ReportMetric(float64(all), "links")
		})
	}
}
