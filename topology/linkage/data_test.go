package linkage_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A verdict compares found groups with known ones.
type verdict struct {
	missing   []string // clear groups that are not reported
	invented  []string // groups with confidence reported that are not known
	uncertain []string // groups with little confidence reported that are not known
	found     map[string]float64
}

func (v verdict) right() bool { return len(v.missing)+len(v.invented) == 0 }

func key(hosts []int) string { return fmt.Sprint(hosts) }

func compare(s dataSet, h *topology.Hierarchy) verdict {
	v := verdict{found: map[string]float64{}}
	known := map[string]bool{}
	for _, g := range h.Groups()[1:] {
		v.found[key(g.Hosts)] = g.Confidence
	}
	for _, l := range s.levels {
		for _, g := range l.groups {
			hosts := slices.Clone(g)
			slices.Sort(hosts)
			known[key(hosts)] = true
			if _, ok := v.found[key(hosts)]; !ok && l.visible {
				v.missing = append(v.missing, fmt.Sprintf("%s %v", l.name, hosts))
			}
		}
	}
	for _, g := range h.Groups()[1:] {
		if !known[key(g.Hosts)] {
			text := fmt.Sprintf("%v confidence %.2f", g.Hosts, g.Confidence)
			if g.Confidence > 0.9 {
				v.invented = append(v.invented, text)
			} else {
				v.uncertain = append(v.uncertain, text)
			}
		}
	}
	return v
}

// Every level that a matrix shows clearly is found, and nothing is invented
// with confidence, in all sets but one: in table 3.8 the measurements inside the two dies and
// between them overlap, and the source itself expects one socket. Where all data lie beside the
// repository these are the 54 of 55 and the 42 of README; in it alone 13 of 14.
func TestLinkageOnPublishedData(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	sets := dataSets(t, "cores", "machines", "fabrics", "papers", "simgrid")
	want := 14
	if _, more := published.Beside(); more {
		want = 55 + 42
	}
	if len(sets) != want {
		t.Errorf("%d sets, want %d", len(sets), want)
	}
	for _, s := range sets {
		n, _ := s.d.Dims()
		s = s.permuted(rand.New(rand.NewPCG(11, uint64(n))))
		v := compare(s, reconstruct(t, s.d).Hierarchy)
		if want := s.name != "papers/bufe_t3_8_magny_socket0_cores"; v.right() != want {
			t.Errorf("%s: right: %v, want %v: missing %v, invented %v", s.name, v.right(), want, v.missing, v.invented)
		}
	}
}

// What is no tree of groups gives none: one switch, the mesh of a die, a torus.
func TestLinkageGivesNoGroupsWhereThereAreNone(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	sets := dataSets(t, "cores", "papers", "simgrid")
	for _, spec := range []string{"star:16 latency=1us", "torus:4x4x4 latency=1us"} {
		for _, noise := range []gen.Noise{{}, {Sigma: 0.05}, {Sigma: 0.03, Outliers: 0.02}} {
			_, reps := measured(t, rand.New(rand.NewPCG(1, 12)), spec, 0, noise, 1)
			sets = append(sets, dataSet{name: fmt.Sprintf("generated/%s noise %v", spec, noise), d: mat.DenseCopyOf(reps[0])})
		}
	}
	for _, s := range sets {
		switch filepath.Dir(s.name) {
		case "cores":
			if s.name != "cores/graviton2" {
				continue
			}
		case "papers":
			if s.name != "papers/bufe_t3_5_westmere_inter" && s.name != "papers/bufe_t3_7_magny_sockets" {
				continue
			}
		case "generated", "simgrid/star16", "simgrid/torus3d_64":
		default:
			continue
		}
		// On the die uncertain groups come and go with the numbering, as its measurements are
		// whole nanoseconds and ties abound.
		h := reconstruct(t, s.d).Hierarchy
		if s.name == "cores/graviton2" {
			h = h.Confident(0.9)
		}
		if groups := h.Groups()[1:]; len(groups) > 0 {
			t.Errorf("%s: groups %v, want none", s.name, groups)
		}
	}
}

// noisier returns the set with every pair multiplied by 1 + sigma N(0,1).
func (s dataSet) noisier(rng *rand.Rand, sigma float64) dataSet {
	n, _ := s.d.Dims()
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i {
			f := 1 + sigma*rng.NormFloat64()
			d.Set(i, j, f*s.d.At(i, j))
			d.Set(j, i, f*s.d.At(j, i))
		}
	}
	s.d = d
	return s
}

// perturbed counts the sets that stay right under a perturbation.
func perturbed(t testing.TB, sets []dataSet, seeds int, change func(s dataSet, rng *rand.Rand) dataSet) (right, runs int, failed []string) {
	for _, s := range sets {
		n, _ := s.d.Dims()
		for seed := range seeds {
			c := change(s, rand.New(rand.NewPCG(uint64(seed), uint64(n))))
			runs++
			if v := compare(c, reconstruct(t, c.d).Hierarchy); v.right() {
				right++
			} else {
				failed = append(failed, fmt.Sprintf("%s seed %d: missing %v, invented %v", s.name, seed, v.missing, v.invented))
			}
		}
	}
	return right, runs, failed
}

func half(s dataSet, rng *rand.Rand) dataSet {
	n, _ := s.d.Dims()
	return s.take(rng.Perm(n)[:(n+1)/2])
}

func noise3(s dataSet, rng *rand.Rand) dataSet { return s.permuted(rng).noisier(rng, 0.03) }

// Half of the hosts, or 3 % more noise, leave 97 % of the runs right. What
// fails is information lost: pairs left of a block under 5 % of noise, arcs of a ring from
// which whole switches went. Table 3.8, which is not right as it is, is not counted.
func TestLinkageOnPerturbedData(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long")
	}
	sets := slices.DeleteFunc(dataSets(t, "cores", "machines", "fabrics", "papers", "simgrid"),
		func(s dataSet) bool { return s.name == "papers/bufe_t3_8_magny_socket0_cores" })
	const seeds = 2
	right, runs, failed := perturbed(t, sets, seeds, half)
	r, n, f := perturbed(t, sets, seeds, noise3)
	if right, runs, failed = right+r, runs+n, append(failed, f...); 100*right < 97*runs {
		t.Errorf("%d of %d runs right:\n%s", right, runs, strings.Join(failed, "\n"))
	}
}

// Half of the hosts of a torus lie in clumps and gaps. A clump is set off from its
// surroundings, but its hosts are not equally far from what is outside.
func TestLinkageTakesNoClumpsForGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	_, d := topotest.Generate(t, "torus:4x4x4 latency=1us")
	for seed := range 20 {
		c := half(dataSet{d: d}, rand.New(rand.NewPCG(uint64(seed), 64)))
		if groups := reconstruct(t, c.d).Hierarchy.Confident(0.9).Groups()[1:]; len(groups) > 0 {
			t.Errorf("seed %d: confident groups %v, want none", seed, groups)
		}
	}
}

// BenchmarkLinkagePerturbed reports the share of right runs over 20 seeds per
// set; run it with -benchtime=1x, and -v for the failures.
func BenchmarkLinkagePerturbed(b *testing.B) {
	for _, kinds := range [][]string{{"cores", "machines", "fabrics", "papers"}, {"simgrid"}} {
		sets := dataSets(b, kinds...)
		for _, tt := range []struct {
			name   string
			change func(dataSet, *rand.Rand) dataSet
		}{{"half", half}, {"noise", noise3}} {
			b.Run(kinds[0]+"/"+tt.name, func(b *testing.B) {
				var right, runs int
				var failed []string
				for b.Loop() {
					right, runs, failed = perturbed(b, sets, 20, tt.change)
				}
				b.ReportMetric(100*float64(right)/float64(runs), "%right")
				b.ReportMetric(float64(runs), "runs")
				for _, f := range failed {
					b.Logf("%.200s", f)
				}
			})
		}
	}
}
