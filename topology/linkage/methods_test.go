package linkage_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/search"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/linkage"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// A tally is what one method makes of the sets of one family.
type tally struct {
	sets      int
	right     int // every clear group found and nothing unknown claimed
	missing   int // sets of which a clear group is not found
	inventing int // sets in which a group is claimed that is not known
	failed    int // sets that the method refuses
	f1        float64
	matching  float64
	matched   int // sets that have a clear level, of which matching is the sum
	names     []string
}

// A rival is a method of the command reconstruct, told the true number of
// groups k where it asks for one.
type rival struct {
	name string
	flat bool // one level only: judged on the level that it fits best
	told bool // it uses k
	make func(d *mat.Dense, k int) (topology.Reconstructor, error)
}

func rivals() []rival {
	always := func(r topology.Reconstructor) func(*mat.Dense, int) (topology.Reconstructor, error) {
		return func(*mat.Dense, int) (topology.Reconstructor, error) { return r, nil }
	}
	nested := func(l cluster.Linkage) func(*mat.Dense, int) (topology.Reconstructor, error) {
		return always(cluster.Nested{Agglomerative: cluster.Agglomerative{Linkage: l}})
	}
	return []rival{
		{"linkage", false, false, always(&linkage.Robust{})},
		{"clique/eps=0.03", false, false, always(&clique.Switches{Epsilon: 0.03})},
		{"clique/eps=0.1", false, false, always(&clique.Switches{Epsilon: 0.1})},
		{"clique/eps=0.2", false, false, always(&clique.Switches{Epsilon: 0.2})},
		{"greedy", false, false, always(&spanner.GreedyCycle{})},
		{"witness", false, false, always(&spanner.Witness{})},
		{"average", false, false, nested(cluster.Average)},
		{"complete", false, false, nested(cluster.Complete)},
		{"single", false, false, nested(cluster.Single)},
		{"hdbscan", true, false, always(cluster.Flat{Clusterer: cluster.HDBSCAN{}})},
		{"kmedoids/true k", true, true, func(_ *mat.Dense, k int) (topology.Reconstructor, error) {
			return cluster.Flat{Clusterer: cluster.KMedoids{K: k}}, nil
		}},
		{"dbscan", true, false, always(cluster.Flat{Clusterer: cluster.DBSCAN{}})},
		// The threshold by Reinfjell's linear search: 50 steps, silhouette.
		{"components/searched", true, false, func(m *mat.Dense, _ int) (topology.Reconstructor, error) {
			d, err := cluster.NewDistances(m)
			if err != nil {
				return nil, err
			}
			all := search.Families()
			components := all[slices.IndexFunc(all, func(f search.Family) bool { return f.Name == "components" })]
			found, err := components.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return cluster.Silhouette(d, l) })
			return cluster.Flat{Clusterer: cluster.DBSCAN{Eps: found.Value, MinPoints: 1}}, err
		}},
	}
}

// labels numbers the groups; hosts in none are noise.
func labels(n int, groups [][]int) cluster.Labels {
	groups = slices.Clone(groups)
	slices.SortFunc(groups, func(a, b []int) int { return slices.Min(a) - slices.Min(b) })
	l := make(cluster.Labels, n)
	for i := range l {
		l[i] = cluster.Noise
	}
	for k, g := range groups {
		for _, x := range g {
			l[x] = k
		}
	}
	return l
}

// trueGroups are the groups of a level with the hosts that are alone there.
func (l knownLevel) trueGroups(n int) int {
	k := n
	for _, g := range l.groups {
		k -= len(g) - 1
	}
	return k
}

// add judges the method's answer to one set.
func (t *tally) add(r rival, s dataSet) error {
	n, _ := s.d.Dims()
	var clear []knownLevel // fine to coarse
	for _, l := range s.levels {
		if l.visible && len(l.groups) > 0 {
			clear = append(clear, l)
		}
	}
	k := 1
	if len(clear) > 0 {
		k = clear[len(clear)-1].trueGroups(n)
	}
	t.sets++
	method, err := r.make(s.d, k)
	if err != nil {
		return err
	}
	result, err := method.Reconstruct(s.d)
	if err != nil {
		t.failed++
		t.matched += min(1, len(clear))
		t.names = append(t.names, s.name+" (refused)")
		return nil
	}
	h := result.Hierarchy

	// What is claimed: what a method gives no confidence, or a confident one.
	known := s.allGroups()
	isKnown := map[string]bool{}
	for _, g := range known {
		isKnown[key(g)] = true
	}
	found, invents := map[string]bool{}, false
	var counted [][]int // claims that are right or wrong: known but not clear ones are neither
	for _, g := range h.Groups()[1:] {
		found[key(g.Hosts)] = true
		if !isKnown[key(g.Hosts)] && !(g.Confidence <= 0.9) {
			invents = true
			counted = append(counted, g.Hosts)
		}
	}
	score := func(levels []knownLevel) (misses bool, f1 float64) {
		claims, want := slices.Clone(counted), [][]int{}
		for _, l := range levels {
			for _, g := range l.groups {
				g = slices.Sorted(slices.Values(g))
				want = append(want, g)
				if found[key(g)] {
					claims = append(claims, g)
				} else {
					misses = true
				}
			}
		}
		return misses, truth.SetF1(claims, want)
	}
	matching := func(l knownLevel) float64 {
		best := 0.0
		for level := range h.Levels() {
			var groups [][]int
			for _, g := range h.GroupsAt(level) {
				groups = append(groups, g.Hosts)
			}
			best = max(best, truth.Matching(labels(n, groups), labels(n, l.groups)))
		}
		return best
	}

	misses, f1 := score(clear)
	sum := 0.0
	for _, l := range clear {
		sum += matching(l) / float64(len(clear))
	}
	if r.flat && len(clear) > 0 {
		misses, f1, sum = true, 0, 0
		for _, l := range clear {
			m, f := score([]knownLevel{l})
			misses, f1, sum = misses && m, max(f1, f), max(sum, matching(l))
		}
	}
	t.f1 += f1
	if len(clear) > 0 {
		t.matched++
		t.matching += sum
	}
	why := ""
	if misses {
		t.missing++
		why += " misses"
	}
	if invents {
		t.inventing++
		why += " invents"
	}
	if why == "" {
		t.right++
	} else {
		t.names = append(t.names, fmt.Sprintf("%s (%s)", s.name, why[1:]))
	}
	return nil
}

// familyOf names the kind of measurements in a set.
func familyOf(s dataSet) string {
	kind, _, _ := strings.Cut(s.name, "/")
	base := filepath.Base(s.name)
	switch {
	case kind == "cores":
		return "cores, measured"
	case kind == "papers":
		return "tables of Bufe 2014"
	case kind == "simgrid" && strings.HasSuffix(base, "o2"):
		return "simgrid, outliers"
	case kind == "simgrid" && strings.Contains(base, "."):
		return "simgrid, noise"
	case kind == "simgrid":
		return "simgrid, exact"
	}
	_, noise, _ := strings.Cut(base, ".")
	return kind + ", " + noise
}

// byFamily are all sets of up to so many hosts, hosts renumbered at random.
func byFamily(t testing.TB, most int) map[string][]dataSet {
	families := map[string][]dataSet{}
	for _, s := range dataSets(t, "cores", "machines", "fabrics", "papers", "simgrid") {
		if n, _ := s.d.Dims(); n <= most {
			f := familyOf(s)
			families[f] = append(families[f], s.permuted(rand.New(rand.NewPCG(11, uint64(n)))))
		}
	}
	return families
}

// In each family of sets Robust is right on all, but for the dies of table 3.8, and no method that
// is not told the number of groups is right on more.
func TestNoMethodIsRightMoreOftenThanLinkage(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	const most = 64 // hosts
	for family, sets := range byFamily(t, most) {
		var linkage tally
		for _, r := range rivals() {
			if r.told {
				continue
			}
			var k tally
			for _, s := range sets {
				if err := k.add(r, s); err != nil {
					t.Fatal(err)
				}
			}
			if r.name == "linkage" {
				linkage = k
				wrong := slices.DeleteFunc(slices.Clone(k.names), func(name string) bool {
					return name == "papers/bufe_t3_8_magny_socket0_cores (misses)"
				})
				if len(wrong) > 0 {
					t.Errorf("%s: linkage is right on %d of %d sets, not on %v", family, k.right, k.sets, wrong)
				}
			}
			if k.right > linkage.right {
				t.Errorf("%s: %s is right on %d of %d sets, linkage on %d", family, r.name, k.right, k.sets, linkage.right)
			}
		}
	}
}

// BenchmarkMethods tries every method of the command line on all shared sets,
// hosts renumbered at random. Per method and family of sets it reports in how
// many a method is right, misses a group that the matrix shows clearly, claims a
// group that is not known, or refuses; the mean F1 of exact groups; and the mean matching
// accuracy over the sets with a clear level. Methods that give one level are
// judged on the level that suits them best, the others on all; groups that are known but not
// clear count neither way. GreedyCycle looks for links between hosts, so it is right here where
// there are no groups. Run it with -benchtime=1x, about a minute, most of it
// clique.Switches on 266 hosts; the names of Robust's failures are logged.
func BenchmarkMethods(b *testing.B) {
	families := byFamily(b, math.MaxInt)
	for _, family := range []string{
		"cores, measured", "tables of Bufe 2014", "machines, exact", "machines, noise2",
		"fabrics, exact", "fabrics, noise1", "fabrics, noise2",
		"simgrid, exact", "simgrid, noise", "simgrid, outliers",
	} {
		for _, r := range rivals() {
			b.Run(family+"/"+r.name, func(b *testing.B) {
				var t tally
				for b.Loop() {
					t = tally{}
					for _, s := range families[family] {
						if err := t.add(r, s); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(t.sets), "sets")
				b.ReportMetric(float64(t.right), "right")
				b.ReportMetric(float64(t.missing), "miss")
				b.ReportMetric(float64(t.inventing), "invent")
				b.ReportMetric(float64(t.failed), "refuse")
				b.ReportMetric(t.f1/float64(max(t.sets, 1)), "F1")
				b.ReportMetric(t.matching/float64(max(t.matched, 1)), "matching")
				if r.name == "linkage" && len(t.names) > 0 {
					b.Logf("not right: %s", strings.Join(t.names, "; "))
				}
			})
		}
		delete(families, family)
	}
	if len(families) > 0 {
		b.Errorf("%d families of sets are not in the list", len(families))
	}
}
