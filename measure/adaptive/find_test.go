package adaptive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// A discovery is what Find has found, and what it read for it.
type discovery struct {
	Topology     *topology.Result
	measurements []measurement // in the order of their rounds; a pair may have several
	rounds       int           // of disjoint pairs that were read at once
	allPairs     bool          // all pairs were read: the machine is no tree
}

// find is Find, with all that it reads.
func find(hosts int, read read, s *Settings) (*discovery, error) {
	d := &discovery{}
	var err error
	d.Topology, err = Find(hosts, func(dst []float64, pairs [][2]int32) error {
		if err := read(dst, pairs); err != nil {
			return err
		}
		d.rounds++
		for k, latency := range dst {
			if latency > 0 {
				d.measurements = append(d.measurements, measurement{pairs[k][0], pairs[k][1], float32(latency)})
			}
		}
		return nil
	}, s)
	if err != nil {
		return nil, err
	}
	d.allPairs = slices.ContainsFunc(d.Topology.Warnings, func(w string) bool { return strings.HasSuffix(w, "all pairs were read") })
	return d, nil
}

// explore is what is found on a machine, with the contract of the oracle checked.
func explore(t testing.TB, m *machine, n noise, seed uint64, s *Settings) *discovery {
	t.Helper()
	o := &reader{machine: m, noise: n, rng: rand.New(rand.NewPCG(seed, 7))}
	found, err := find(m.n, o.read, cmp.Or(s, &Settings{}))
	if err != nil {
		t.Fatal(err)
	}
	if o.bad != nil {
		t.Fatal(o.bad)
	}
	if found.rounds != o.calls {
		t.Fatalf("%d rounds, of %d calls", found.rounds, o.calls)
	}
	return found
}

// share is how many measurements there are per pair of hosts: repeated ones count. One matrix of all pairs has 1.
func (r *discovery) share() float64 {
	n := float64(r.Topology.Hierarchy.Hosts())
	return float64(len(r.measurements)) / (n * (n - 1) / 2)
}

// pairs is the number of different pairs that were read.
func (r *discovery) pairs() int {
	seen := make(map[pair]bool)
	for _, x := range r.measurements {
		seen[pair{min(x.A, x.B), max(x.A, x.B)}] = true
	}
	return len(seen)
}

// A recovery is a kind of random tree, with the share of the measurements of a matrix that finding it may
// take: worst, and in the mean (the goals of this stage).
type recovery struct {
	n           int
	sigma       float64
	mean, worst float64
}

// check runs the given seeds, and fails where the confident groups are not those of the machine.
func (r recovery) check(t testing.TB, seeds []uint64) (mean, worst float64, rounds int) {
	t.Helper()
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, uint64(r.n)))
		m := randomMachine(rng, r.n, 1.25)
		found := explore(t, m, noise{sigma: r.sigma, outliers: 0.02}, seed, &Settings{Seed: seed})
		if missing, extra := differ(m.sets(), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 || found.allPairs {
			t.Errorf("n=%d sigma=%g seed %d: all pairs %t, of %d groups %d are not confident, and %d confident ones do not exist",
				r.n, r.sigma, seed, found.allPairs, len(m.sets()), missing, extra)
		}
		mean += found.share() / float64(len(seeds))
		worst = max(worst, found.share())
		rounds += found.rounds / len(seeds)
	}
	if mean > r.mean || worst > r.worst {
		t.Errorf("n=%d sigma=%g: %.2f %% of the measurements of a matrix in the mean, %.2f %% at worst; want %g and %g",
			r.n, r.sigma, 100*mean, 100*worst, 100*r.mean, 100*r.worst)
	}
	return mean, worst, rounds
}

// seedsFrom are the seeds from the given one. Those below 100 were used when the constants were chosen.
func seedsFrom(first, count uint64) []uint64 {
	var all []uint64
	for k := range count {
		all = append(all, first+k)
	}
	return all
}

// The goals for 1,024 hosts on a few seeds; BenchmarkRecovery looks at 20 of each kind. Of 256 hosts, for which there is
// no goal, the share is what an independent implementation of the method took.
func TestFindsRandomTreesByFewMeasurements(t *testing.T) {
	for _, sigma := range []float64{0, 0.01, 0.03, 0.05} {
		recovery{256, sigma, 0.173, 0.25}.check(t, seedsFrom(100, 5))
	}
	recovery{1024, 0.01, 0.06, 0.09}.check(t, seedsFrom(100, 1))
	recovery{1024, 0.05, 0.06, 0.09}.check(t, seedsFrom(101, 1))
}

// A machine in the shape of real ones: leaves of 2 to 40 hosts. BenchmarkWirings looks at two real ones.
func TestFindsWirings(t *testing.T) {
	rng := rand.New(rand.NewPCG(100, 1))
	m := wiring(rng, madeUp(rng, 5), 1)
	found := explore(t, m, noise{sigma: 0.03, outliers: 0.02}, 100, nil)
	if missing, extra := differ(m.sets(), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 {
		t.Errorf("%d hosts: of %d groups %d are not confident, %d confident ones do not exist", m.n, len(m.sets()), missing, extra)
	}
}

// Fragments of machines: 5 % of the hosts, so that leaves have one to three. All that is confident exists, and all
// groups are found, with the measurements that the doc of the package derives: less where the names tell who is near whom, and none
// more where they lie.
func TestFindsFragmentsOfWirings(t *testing.T) {
	wirings := whole(t)
	wirings["made up"] = madeUp(rand.New(rand.NewPCG(101, 1)), 25)
	for name, cells := range wirings {
		rng := rand.New(rand.NewPCG(101, 2))
		m, right := fragment(rng, cells, 0.05)
		share := make(map[string]float64)
		for order, s := range map[string]*Settings{"none": nil, "right": {Order: right}, "wrong": {Order: rng.Perm(m.n)}} {
			found := explore(t, m, noise{sigma: 0.03, outliers: 0.02}, 101, s)
			if missing, extra := differ(m.sets(), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 {
				t.Errorf("%s, %d hosts, order %s: of %d groups %d are not confident, %d confident ones do not exist", name, m.n, order, len(m.sets()), missing, extra)
			}
			share[order] = found.share()
		}
		// Cells are found by comparing each host with half of them, in the mean, or by its neighbours.
		bound := 2*m.certificate() + float64(len(cells)+1)/float64(m.n-1)
		if share["none"] > 1.5*bound || share["right"] > 0.75*share["none"] || share["wrong"] > 1.15*share["none"] {
			t.Errorf("%s, %d hosts: of the pairs %.3f were read, with the right order %.3f, with a wrong one %.3f; the bound is %.3f",
				name, m.n, share["none"], share["right"], share["wrong"], bound)
		}
	}
}

// The same seed and measurements give the same result, whatever the maps; another seed reads other pairs.
func TestExploreIsDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	m := randomMachine(rng, 200, 1.3)
	text := func(seed uint64) string {
		r := explore(t, m, noise{sigma: 0.03, outliers: 0.02}, 5, &Settings{Seed: seed})
		return fmt.Sprint(r.measurements, r.Topology.Hierarchy.Groups(), r.Topology.Graph.Arcs(), r.Topology.Warnings, r.Topology.Fit)
	}
	first := text(1)
	if text(1) != first {
		t.Error("two runs differ")
	}
	if text(2) == first {
		t.Error("another seed changes nothing")
	}
}

// An order that is right saves measurements; of a wrong one nothing survives.
func TestOrderIsVerified(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	m := randomMachine(rng, 400, 1.3)
	right, wrong := make([]int, m.n), make([]int, m.n)
	for h := range m.n {
		right[h], wrong[h] = int(m.group[0][h]), rng.IntN(40)
	}
	read := make(map[string]int)
	for name, order := range map[string][]int{"none": nil, "right": right, "wrong": wrong} {
		r := explore(t, m, noise{sigma: 0.03, outliers: 0.02}, 6, &Settings{Order: order})
		if missing, extra := differ(m.sets(), groupsOf(r.Topology.Hierarchy, true)); missing+extra > 0 {
			t.Errorf("%s order: %d groups missing, %d confident ones do not exist", name, missing, extra)
		}
		read[name] = len(r.measurements)
	}
	if 10*read["right"] > 9*read["none"] {
		t.Errorf("%d measurements with the right order, %d without: want a tenth less", read["right"], read["none"])
	}
}

// Whenever the oracle stops, what is confident exists: nothing is.
func TestTimeIsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	m := randomMachine(rng, 300, 1.3)
	results := 0
	for stop := 1; stop < 200; stop += 9 {
		o := &reader{machine: m, noise: noise{sigma: 0.01}, rng: rng, stop: stop}
		r, err := find(m.n, o.read, &Settings{})
		if err != nil {
			continue
		}
		results++
		if o.calls > stop { // it was stopped
			if got := groupsOf(r.Topology.Hierarchy, true); len(got) > 0 {
				t.Errorf("stopped after %d rounds: %d groups are confident", stop, len(got))
			}
			if !slices.ContainsFunc(r.Topology.Warnings, func(w string) bool { return len(w) > 11 && w[:11] == "time was up" }) {
				t.Errorf("stopped after %d rounds: no warning in %q", stop, r.Topology.Warnings)
			}
		}
	}
	if results == 0 {
		t.Error("no result, however late")
	}
	if _, err := find(m.n, (&reader{machine: m, rng: rng, stop: 1}).read, &Settings{}); err == nil {
		t.Error("one round is enough")
	}
}

// lying is an oracle whose measurements are all the same.
type lying float64

func (o lying) read(dst []float64, pairs []pair) error {
	for k := range dst {
		dst[k] = float64(o)
	}
	return nil
}

func TestExploreRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		hosts  int
		oracle lying
		s      *Settings
	}{
		{"one host", 1, lying(1), nil},
		{"an order of other hosts", 50, lying(1), &Settings{Order: make([]int, 51)}},
		{"negative latency", 50, lying(-1), nil},
		{"infinite latency", 50, lying(math.Inf(1)), nil},
		{"no latency at all", 50, lying(math.NaN()), nil},
	} {
		if r, err := find(tt.hosts, tt.oracle.read, cmp.Or(tt.s, &Settings{})); err == nil {
			t.Errorf("%s: found %v, want an error", tt.name, r.Topology.Hierarchy.Groups())
		}
	}
}

// All alike are one switch, at a cost of some measurements per host.
func TestOneSwitch(t *testing.T) {
	for _, n := range []int{13, 64, 1000} {
		r, err := find(n, lying(2e-6).read, &Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if groups := r.Topology.Hierarchy.Groups(); len(groups) != 1 || r.Topology.Fit.Family != topology.FamilyFlat || math.Abs(groups[0].Latency-2e-6) > 1e-12 {
			t.Errorf("%d hosts: groups %v, family %s", n, groups, r.Topology.Fit.Family)
		}
		if n == 1000 && r.share() > 0.02 {
			t.Errorf("%d hosts: %.1f %% of the pairs", n, 100*r.share())
		}
	}
}
