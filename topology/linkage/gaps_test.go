package linkage_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// A gapPattern leaves measurements out: it tells of each direction of each pair of the
// cluster's hosts whether it was measured.
type gapPattern struct {
	name string
	draw func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool
}

func both(f func(i, j int) bool) func(i, j int) bool {
	return func(i, j int) bool { return f(min(i, j), max(i, j)) }
}

// rounds keeps a share of the rounds of the circle method over hosts in random
// order, rounds in random order: what a measurement that ran out of time leaves.
func rounds(share float64) gapPattern {
	return gapPattern{fmt.Sprintf("rounds %g", share), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		n := c.Graph.Hosts()
		seat := rng.Perm(n)
		m := n - 1 + n%2
		keep := make([]bool, m)
		for _, r := range rng.Perm(m)[:max(1, int(share*float64(m)))] {
			keep[r] = true
		}
		return both(func(i, j int) bool {
			a, b := seat[i], seat[j]
			switch {
			case n%2 == 0 && a == m:
				return keep[2*b%m]
			case n%2 == 0 && b == m:
				return keep[2*a%m]
			}
			return keep[(a+b)%m]
		})
	}}
}

// drawn decides of every pair once.
func drawn(n int, f func(i, j int) bool) func(i, j int) bool {
	kept := make([]bool, n*n)
	for i := range n {
		for j := range i {
			kept[j*n+i] = f(j, i)
		}
	}
	return both(func(i, j int) bool { return kept[i*n+j] })
}

func randomPairs(missing float64) gapPattern {
	return gapPattern{fmt.Sprintf("pairs %g missing", missing), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		return drawn(c.Graph.Hosts(), func(int, int) bool { return rng.Float64() >= missing })
	}}
}

// eachDirection draws the two directions of a pair apart.
func eachDirection(missing float64) gapPattern {
	return gapPattern{fmt.Sprintf("each direction %g missing", missing), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		forth := randomPairs(missing).draw(rng, c)
		back := randomPairs(missing).draw(rng, c)
		return func(i, j int) bool { return i < j && forth(i, j) || i > j && back(i, j) }
	}}
}

// poorHosts leaves a tenth of the hosts only a few pairs each.
func poorHosts(missing float64) gapPattern {
	return gapPattern{fmt.Sprintf("hosts %g missing", missing), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		n := c.Graph.Hosts()
		poor := make([]bool, n)
		for _, h := range rng.Perm(n)[:max(1, n/10)] {
			poor[h] = true
		}
		return drawn(n, func(i, j int) bool { return !poor[i] && !poor[j] || rng.Float64() >= missing })
	}}
}

// rectangle leaves out all pairs between two sets of hosts, of the given sizes
// relative to all: sets drawn at random, or neighbours in the machine.
func rectangle(name string, a, b float64, neighbours bool) gapPattern {
	return gapPattern{name, func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		n := c.Graph.Hosts()
		order := rng.Perm(n)
		if neighbours {
			order = depthFirst(c.Hierarchy, 0)
			turn := rng.IntN(n)
			order = slices.Concat(order[turn:], order[:turn])
		}
		side := make([]int, n)
		na := max(1, int(a*float64(n)))
		nb := max(1, int(b*float64(n)))
		for k, h := range order {
			if k < na {
				side[h] = 1
			} else if k < na+nb {
				side[h] = 2
			}
		}
		return both(func(i, j int) bool { return side[i]*side[j] != 2 })
	}}
}

func depthFirst(h *topology.Hierarchy, at int) []int {
	inner := map[int]bool{}
	var hosts []int
	for _, c := range h.Groups()[at].Children {
		for _, x := range depthFirst(h, c) {
			hosts = append(hosts, x)
			inner[x] = true
		}
	}
	for _, x := range h.Groups()[at].Hosts {
		if !inner[x] {
			hosts = append(hosts, x)
		}
	}
	return hosts
}

// splitGroups leaves out the pairs between the halves of a third of the groups;
// mergedGroups those between two siblings, and thin leaves one in ten of such pairs.
func splitGroups(thin float64) gapPattern {
	return gapPattern{fmt.Sprintf("halves of groups apart %g", thin), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		n := c.Graph.Hosts()
		var cut [][]int // host -> 0, or its half of the group
		for _, g := range c.Hierarchy.Groups() {
			if rng.IntN(3) == 0 {
				side := make([]int, n)
				for k, x := range rng.Perm(len(g.Hosts)) {
					side[g.Hosts[x]] = 1 + k%2
				}
				cut = append(cut, side)
			}
		}
		return drawn(n, func(i, j int) bool {
			for _, side := range cut {
				if side[i]*side[j] == 2 && rng.Float64() >= thin {
					return false
				}
			}
			return true
		})
	}}
}

func mergedGroups(thin float64) gapPattern {
	return gapPattern{fmt.Sprintf("siblings not compared %g", thin), func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
		n := c.Graph.Hosts()
		var cut [][]int
		groups := c.Hierarchy.Groups()
		for _, g := range groups {
			if len(g.Children) < 2 {
				continue
			}
			p := rng.Perm(len(g.Children))
			side := make([]int, n)
			for s, k := range p[:2] {
				for _, h := range groups[g.Children[k]].Hosts {
					side[h] = 1 + s
				}
			}
			cut = append(cut, side)
		}
		return drawn(n, func(i, j int) bool {
			for _, side := range cut {
				if side[i]*side[j] == 2 && rng.Float64() >= thin {
					return false
				}
			}
			return true
		})
	}}
}

func gapPatterns() []gapPattern {
	return []gapPattern{
		rounds(0.1), rounds(0.2), rounds(0.35), rounds(0.6), rounds(0.9),
		randomPairs(0.05), randomPairs(0.3), randomPairs(0.6), randomPairs(0.9),
		{"one direction", func(rng *rand.Rand, c *gen.Cluster) func(i, j int) bool {
			first := drawn(c.Graph.Hosts(), func(int, int) bool { return rng.IntN(2) == 0 })
			return func(i, j int) bool { return first(i, j) == (i < j) }
		}},
		eachDirection(0.6),
		poorHosts(0.7), poorHosts(0.95),
		rectangle("random hosts 1/4 x 1/4", 0.25, 0.25, false),
		rectangle("random hosts 1/2 x 1/2", 0.5, 0.5, false),
		rectangle("neighbours 1/16 x 1/16", 1.0/16, 1.0/16, true),
		rectangle("neighbours 1/8 x 1/4", 0.125, 0.25, true),
		rectangle("neighbours 1/3 x 1/3", 1.0/3, 1.0/3, true),
		splitGroups(0), splitGroups(0.1), mergedGroups(0), mergedGroups(0.1),
	}
}

// gapMachines are clusters of 32 to 128 hosts, hosts in random order.
func gapMachines() []struct{ family, spec string } {
	return []struct{ family, spec string }{
		{"tree", "tree:8x8 shuffle"},
		{"tree", "tree:4x4x4 latency=4us,2us,5us shuffle"},
		{"tree", "tree:2x4x4x3 latency=3us,2us,2us,5us shuffle"},
		{"tree", "tree:4x16 latency=1us,5us shuffle"},
		{"uneven", "tree:[2,5,5]x8 shuffle"},
		{"uneven", "tree:[[3,9,4],[12,6],[5,5,5,5],[20,4]] latency=3us,2us,5us shuffle"},
		{"uneven", "tree:[30,3,3,12,7] latency=2us,5us shuffle"},
		{"flat", "star:48 shuffle"},
		{"pairs", "core:2 host:24 shuffle"},
		{"pairs", "core:2 host:8 rack:4 shuffle"},
		{"cores", "core:4 socket:2 host:4 rack:2 shuffle"},
		{"fat tree", "fattree:6 shuffle"},
		{"fat tree", "fattree:8,8;1,4 shuffle"},
		{"dragonfly", "dragonfly:2,4,2 shuffle"},
		{"dragonfly", "dragonfly:4,4,1 latency=15us,5us,5us shuffle"},
		{"ring of switches", "ring:8 hosts=8 shuffle"},
		{"torus of switches", "torus:4x4 hosts=6 shuffle"},
		{"line of switches", "line:6 hosts=8 shuffle"},
		{"hosts wired", "torus:6x6 shuffle"},
		{"hosts wired", "ring:32 shuffle"},
		{"hosts wired", "mesh:3x4x4 shuffle"},
	}
}

// gapNoise is what measurements are disturbed by.
func gapNoise() []gen.Noise {
	var list []gen.Noise
	for _, sigma := range []float64{0, 0.01, 0.03, 0.05} {
		for _, outliers := range []float64{0, 0.02} {
			list = append(list, gen.Noise{Sigma: sigma, Outliers: outliers})
		}
	}
	return list
}

// toldApart says whether exact latencies set the hosts off from all others: each
// is nearer to each of its own than to any other.
func toldApart(exact *mat.Dense, hosts []int) bool {
	n, _ := exact.Dims()
	in := make([]bool, n)
	for _, h := range hosts {
		in[h] = true
	}
	inside, outside := 0.0, math.Inf(1)
	for _, i := range hosts {
		for j := range n {
			if i == j {
				continue
			}
			if in[j] {
				inside = max(inside, exact.At(i, j))
			} else {
				outside = min(outside, exact.At(i, j))
			}
		}
	}
	return inside < 0.999*outside
}

// A gapCount counts groups by confidence: above 0.9, from 0.5, below.
type gapCount struct {
	exist        int // groups of the machine
	right, wrong [3]int
	missing      int // pairs
	runs, lost   int // lost: the measurements leave the hosts in parts
}

func (c *gapCount) add(d gapCount) {
	c.exist += d.exist
	c.missing += d.missing
	c.runs += d.runs
	c.lost += d.lost
	for k := range c.right {
		c.right[k] += d.right[k]
		c.wrong[k] += d.wrong[k]
	}
}

// A gapRun is one measurement with gaps; String tells how to repeat it.
type gapRun struct {
	spec        string
	pattern     gapPattern
	noise       gen.Noise
	repetitions int
	seed        uint64
}

func (r gapRun) String() string {
	return fmt.Sprintf("%s, %s, noise %g, outliers %g, %d repetitions, seed %d", r.spec, r.pattern.name, r.noise.Sigma, r.noise.Outliers, r.repetitions, r.seed)
}

// measure counts the groups that Robust finds; false are the confident ones that do not exist. A group
// exists if it is one of the machine's or exact latencies tell it apart.
func (r gapRun) measure(t testing.TB) (c gapCount, false []topology.Group, warnings []string) {
	rng := rand.New(rand.NewPCG(r.seed, 1309))
	cluster, reps := measured(t, rng, r.spec, 0, r.noise, r.repetitions)
	exact, err := cluster.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	there := r.pattern.draw(rng, cluster)
	n := cluster.Graph.Hosts()
	for _, m := range reps {
		for i := range n {
			for j := range n {
				if i != j && !there(i, j) {
					m.(*mat.Dense).Set(i, j, nan)
				}
			}
		}
	}
	for i := range n {
		for j := range i {
			if !there(i, j) && !there(j, i) {
				c.missing++
			}
		}
	}
	c.runs = 1
	known := map[string]bool{}
	for _, g := range cluster.Hierarchy.Groups()[1:] {
		known[key(g.Hosts)] = true
		c.exist++
	}
	result, err := (&linkage.Robust{MinConfidence: 1e-9}).Reconstruct(reps...)
	if errors.Is(err, topology.ErrDisconnected) {
		c.lost = 1
		return c, nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range result.Hierarchy.Groups()[1:] {
		bin := 2
		if g.Confident() {
			bin = 0
		} else if g.Confidence >= 0.5 {
			bin = 1
		}
		if known[key(g.Hosts)] || toldApart(exact, g.Hosts) {
			c.right[bin]++
			continue
		}
		c.wrong[bin]++
		if bin == 0 {
			false = append(false, g)
		}
	}
	return c, false, result.Warnings
}

// gapRuns is every machine with every pattern and every noise.
func gapRuns(seeds int) map[string][]gapRun {
	runs := map[string][]gapRun{}
	for _, m := range gapMachines() {
		for _, p := range gapPatterns() {
			for _, noise := range gapNoise() {
				for _, repetitions := range []int{1, 3} {
					for seed := range seeds {
						runs[m.family] = append(runs[m.family], gapRun{m.spec, p, noise, repetitions, uint64(seed)})
					}
				}
			}
		}
	}
	return runs
}

// BenchmarkLinkageGaps counts groups that exist and groups that do not by confidence, for each
// family of machines over all patterns, for each pattern over all machines, and for each noise. Run it
// with -benchtime=1x, and -v for the confident groups that do not exist.
func BenchmarkLinkageGaps(b *testing.B) {
	keys := []func(r gapRun, family string) string{
		func(_ gapRun, family string) string { return "machine=" + family },
		func(r gapRun, _ string) string { return "gaps=" + r.pattern.name },
		func(r gapRun, _ string) string {
			return fmt.Sprintf("noise=%g,outliers=%g", r.noise.Sigma, r.noise.Outliers)
		},
	}
	counts := map[string]*gapCount{}
	for family, runs := range gapRuns(1) {
		for _, r := range runs {
			c, false, _ := r.measure(b)
			if len(false) > 0 {
				b.Logf("%s: %d confident groups that do not exist, the first %v", r, len(false), false[0].Hosts)
			}
			for _, k := range keys {
				name := k(r, family)
				if counts[name] == nil {
					counts[name] = &gapCount{}
				}
				counts[name].add(c)
			}
		}
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
			}
			c := counts[name]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(c.runs-c.lost), "runs")
			b.ReportMetric(float64(c.exist), "exist")
			for k, bin := range []string{">0.9", "0.5-0.9", "<0.5"} {
				b.ReportMetric(float64(c.right[k]), "right"+bin)
				b.ReportMetric(float64(c.wrong[k]), "wrong"+bin)
			}
		})
	}
}

// Whatever the reason for the gaps: a group that the measurements could not have refuted, had
// it not existed, is not confident. The run of each machine with each pattern takes one noise and one
// number of repetitions in turn; BenchmarkLinkageGaps counts them all.
func TestNoGroupIsConfidentForWantOfMeasurements(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	var all gapCount
	every := 9
	if tooltest.Long() {
		every = 3
	}
	turn := 0
	for k, m := range gapMachines() {
		for _, p := range gapPatterns() {
			if turn++; (turn+k)%every != 0 {
				continue
			}
			noise := gapNoise()
			r := gapRun{m.spec, p, noise[turn%len(noise)], 1 + 2*(turn/3%2), uint64(turn)}
			c, false, _ := r.measure(t)
			if c.missing == 0 {
				continue // no question of gaps
			}
			if len(false) > 0 {
				t.Errorf("%s: %d confident groups do not exist, the first %v, confidence %.3f", r, len(false), false[0].Hosts, false[0].Confidence)
			}
			all.add(c)
		}
	}
	// What is there to be seen is still seen: of the groups of these runs, most of which
	// lack measurements that matter, more than four in ten are confident.
	if all.right[0]*10 < 4*all.exist {
		t.Errorf("%d of %d groups are confident, want 40 %%", all.right[0], all.exist)
	}
}

// The rounds that a budget leaves of 512 hosts in pods of 8 switches of 8: with 100 rounds of 511 a
// host has met 1.4 of the 7 beside it. The pods, of which it has met eleven, are certain; the
// switches are not, and the warning says why.
func TestLinkageOfAMeasurementCutShort(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for _, tt := range []struct {
		spec      string
		share     float64
		confident int // groups that are to be confident at least
		uncertain string
	}{
		{"tree:8x8x8 shuffle", 100.0 / 511, 8, "105216 of 130816 pairs of hosts were not measured: too many for"},
		{"tree:8x8x8 shuffle", 0.6, 68, "52480 of 130816 pairs of hosts were not measured: too many for"},
		{"tree:8x8x8 shuffle", 0.9, 72, ""},
	} {
		r := gapRun{tt.spec, rounds(tt.share), gen.Noise{}, 1, 1}
		c, false, warnings := r.measure(t)
		if len(false) > 0 || c.right[0] < tt.confident {
			t.Errorf("%s: %d confident groups that exist, want %d, and %d that do not, want none", r, c.right[0], tt.confident, len(false))
		}
		said := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "too many for") })
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, tt.uncertain) }) || said != (tt.uncertain != "") {
			t.Errorf("%s: warnings %q, want %q", r, warnings, tt.uncertain)
		}
	}
}

// Runs in which earlier forms of the evidence made false groups confident: a host took the place that its
// link, or its slowness, had been corrected for; a dragonfly's routers that were not compared hid behind others.
func TestNoGroupIsConfidentByItsOwnCorrection(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	for _, r := range []gapRun{
		{"tree:3x2x6 shuffle spread=17% latency=5us,3us,5us", poorHosts(0.7), gen.Noise{Outliers: 0.02}, 3, 2537},
		{"tree:4x4x3 shuffle spread=18% latency=5us,3us,5us", splitGroups(0), gen.Noise{}, 2, 3968},
		{"tree:3x4x5 shuffle spread=19% latency=5us,3us,5us", randomPairs(0.6), gen.Noise{Outliers: 0.02}, 2, 3635},
		{"dragonfly:3,2,1 shuffle latency=8us,5us,5us", mergedGroups(0.1), gen.Noise{Sigma: 0.03}, 3, 3398},
		{"core:4 socket:2 host:4 rack:2 shuffle", poorHosts(0.95), gen.Noise{Sigma: 0.01, Outliers: 0.02}, 1, 0},
		{"core:4 socket:2 host:4 rack:2 shuffle", poorHosts(0.95), gen.Noise{Sigma: 0.05, Outliers: 0.02}, 1, 0},
		{"tree:[30,3,3,12,7] latency=2us,5us shuffle", rounds(0.2), gen.Noise{Outliers: 0.02}, 3, 0},
	} {
		if _, false, _ := r.measure(t); len(false) > 0 {
			t.Errorf("%s: %d confident groups do not exist, the first %v, confidence %.3f", r, len(false), false[0].Hosts, false[0].Confidence)
		}
	}
}
