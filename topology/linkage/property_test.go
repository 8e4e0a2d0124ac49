package linkage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// describe is all that a result says of groups: hosts, level, latency and
// confidence to ten digits, in an order that does not depend on labels.
func describe(r *topology.Result, scale float64, label []int) []string {
	var list []string
	for _, g := range r.Hierarchy.Groups() {
		hosts := make([]int, len(g.Hosts))
		for k, h := range g.Hosts {
			hosts[k] = h
			if label != nil {
				hosts[k] = label[h]
			}
		}
		slices.Sort(hosts)
		list = append(list, fmt.Sprintf("%v level %d latency %.5g confidence %.4f", hosts, g.Level, g.Latency*scale, g.Confidence))
	}
	slices.Sort(list)
	return list
}

func noisyTrees(t testing.TB, seeds int, f func(seed uint64, reps []mat.Matrix)) {
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 77))
		unequal := 0.0
		if seed%3 == 2 {
			unequal = 0.2
		}
		_, reps := measured(t, rng, randomTree(rng, 20+int(seed)*7, 1.25), unequal, gen.Noise{Sigma: 0.03, Outliers: 0.02}, 2)
		f(seed, reps)
	}
}

func TestRelabellingHostsRelabelsTheResult(t *testing.T) {
	check := func(name string, seed uint64, reps []mat.Matrix) {
		n, _ := reps[0].Dims()
		label := rand.New(rand.NewPCG(seed, 5)).Perm(n)
		moved := make([]mat.Matrix, len(reps))
		for k, m := range reps {
			moved[k] = gen.RelabelMatrix(m, label)
		}
		want, got := describe(reconstruct(t, reps...), 1, label), describe(reconstruct(t, moved...), 1, nil)
		if !slices.Equal(got, want) {
			t.Errorf("%s: relabelled\n%q\nwant\n%q", name, got, want)
		}
	}
	noisyTrees(t, 12, func(seed uint64, reps []mat.Matrix) { check(fmt.Sprintf("tree %d", seed), seed, reps) })
	for _, spec := range []string{"torus:4x4 hosts=4", "torus:5x5", "core:4 socket:2 host:3"} {
		rng := rand.New(rand.NewPCG(9, 9))
		_, reps := measured(t, rng, spec, 0, gen.Noise{Sigma: 0.01}, 2)
		check(spec, 3, reps)
	}
}

func TestScalingTimesScalesLatencies(t *testing.T) {
	noisyTrees(t, 9, func(seed uint64, reps []mat.Matrix) {
		want := reconstruct(t, reps...).Hierarchy
		for _, factor := range []float64{1e-3, 1e6, 1024} {
			scaled := make([]mat.Matrix, len(reps))
			for k, m := range reps {
				var s mat.Dense
				s.Scale(factor, m)
				scaled[k] = &s
			}
			got := reconstruct(t, scaled...).Hierarchy
			if !slices.EqualFunc(got.Groups(), want.Groups(), func(a, b topology.Group) bool {
				// Measurements are kept as float32.
				return slices.Equal(a.Hosts, b.Hosts) && a.Level == b.Level &&
					math.Abs(a.Latency-factor*b.Latency) < 1e-6*a.Latency && math.Abs(a.Confidence-b.Confidence) < 1e-3
			}) {
				t.Errorf("seed %d, times %g: groups %v, want %v", seed, factor, got.Groups(), want.Groups())
			}
		}
	})
}

func TestMoreRepetitionsWithoutNoiseChangeNothing(t *testing.T) {
	seeds := uint64(3)
	if tooltest.Long() {
		seeds = 10
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 31))
		c, reps := measured(t, rng, randomTree(rng, 64, 1.25), 0, gen.Noise{}, 6)
		for k := 1; k <= len(reps); k++ {
			r := reconstruct(t, reps[:k]...)
			if !sameGroups(r.Hierarchy, c.Hierarchy) {
				t.Errorf("seed %d: not exact with %d repetitions", seed, k)
			}
			// Reconstruct(topotest.Generate(x)) = x, latencies included.
			for _, g := range r.Hierarchy.Groups() {
				a, b := g.Hosts[0], g.Hosts[len(g.Hosts)-1]
				if want := c.Hierarchy.Latency(a, b); math.Abs(r.Hierarchy.Latency(a, b)-want) > 1e-6*want {
					t.Errorf("seed %d: latency of hosts %d and %d is %g, want %g", seed, a, b, r.Hierarchy.Latency(a, b), want)
				}
			}
		}
	}
}

// Pairs missing at random, up to 30 %, on trees with noise: what is found with
// all pairs is found without, as far as the measurements tell. A host of which not one measurement to
// its own group is left could as well hang beside the group: such draws do not count.
func TestLinkageOfTreesWithHoles(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	exact, told := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 41))
		c, reps := measured(t, rng, randomTree(rng, 128, 1.25), 0, gen.Noise{Sigma: 0.01, Outliers: 0.02}, 2)
		share := 0.1 * float64(1+seed%3)
		for i := range 128 {
			for j := range i {
				if rng.Float64() < share {
					for _, m := range reps {
						m.(*mat.Dense).Set(i, j, nan)
						m.(*mat.Dense).Set(j, i, nan)
					}
				}
			}
		}
		tells := func(h int) bool {
			return slices.ContainsFunc(c.Hierarchy.Groups()[c.Hierarchy.Smallest(h)].Hosts, func(x int) bool {
				return x != h && !math.IsNaN(reps[0].At(h, x))
			})
		}
		ok := true
		for h := range 128 {
			ok = ok && tells(h)
		}
		if !ok {
			continue
		}
		told++
		if sameGroups(reconstruct(t, reps...).Hierarchy, c.Hierarchy) {
			exact++
		}
	}
	if told < 20 || 100*exact < 95*told {
		t.Errorf("%d of %d exact, want 95 %%", exact, told)
	}
}

// An Internet matrix with holes, asymmetry and broken triangles, and one row of
// a matrix: no crash, and what is uncertain is said. Of the row, table 3.9 of Bufe 2014, the source
// states the block {0, 1, 2, 3}; more must not be claimed.
func TestLinkageSaysWhatIsUncertain(t *testing.T) {
	r := reconstruct(t, published.Read("wan/wan_seattle_99").Measurements[0])
	if r.Fit.TreeLikeness > 0.5 {
		t.Errorf("the Internet has tree-likeness %.2f, want little", r.Fit.TreeLikeness)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "fits the measurements badly") }) {
		t.Errorf("warnings %q do not say that the tree fits badly", r.Warnings)
	}
	r = reconstruct(t, published.Table("3.9"))
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "not measured: too many") }) {
		t.Errorf("warnings %q do not tell of the holes", r.Warnings)
	}
	for _, g := range r.Hierarchy.Groups()[1:] {
		if !slices.Equal(g.Hosts, []int{0, 1, 2, 3}) {
			t.Errorf("one row of measurements gives the group %v", g.Hosts)
		}
	}
}
