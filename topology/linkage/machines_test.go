package linkage_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A machine was measured, once or several times, and it is known what its measurements show.
type machine struct {
	name   string
	expect string    // "groups": all clear levels; "flat": nothing confident; "unknown": only reported
	reps   []dataSet // the repetitions, alike but for the measurements
	zones  bool      // unions of known groups are geography: allowed, not asked
}

// machines are the measured machines: those of the repository, and in a plain clone only these,
// then the others by name.
func machines(t testing.TB) []machine {
	var list []machine
	for _, m := range published.Machines("apple", "clusters") {
		k := machine{name: path.Base(m.Name), expect: "groups"}
		for _, d := range m.Measurements {
			k.reps = append(k.reps, dataSet{k.name, d, knownLevels(m)})
		}
		list = append(list, k)
	}
	data, more := published.Beside()
	if !more {
		return list
	}
	dir := filepath.Join(data, "real")
	truths, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, truth := range truths {
		text, err := os.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		var known struct {
			Name, Expect string
			Files        []string
			Regions      []string
			May          [][]int
			Levels       []struct {
				Name     string
				Groups   [][]int
				Evidence *struct{ Visible string }
			}
		}
		if err := json.Unmarshal(text, &known); err != nil {
			t.Fatalf("%s: %v", truth, err)
		}
		if slices.ContainsFunc(list, func(m machine) bool { return m.name == known.Name }) {
			continue
		}
		m := machine{name: known.Name, expect: known.Expect, zones: known.Regions != nil}
		levels := []knownLevel{{"may", known.May, false}}
		if m.expect != "flat" { // a flat machine's levels are hidden: its measurements do not show them
			for _, l := range known.Levels {
				levels = append(levels, knownLevel{l.Name, l.Groups, l.Evidence != nil && l.Evidence.Visible == "clear"})
			}
		}
		for _, file := range known.Files {
			m.reps = append(m.reps, dataSet{m.name, topotest.ReadMatrix(t, filepath.Join(dir, file)), levels})
		}
		list = append(list, m)
	}
	return list
}

// permuted returns the machine with its hosts relabelled at random.
func (m machine) permuted(rng *rand.Rand) machine {
	n, _ := m.reps[0].d.Dims()
	return m.taken(rng.Perm(n))
}

// taken returns the machine with the hosts chosen only.
func (m machine) taken(chosen []int) machine {
	reps := make([]dataSet, len(m.reps))
	for k, s := range m.reps {
		reps[k] = s.take(chosen)
	}
	m.reps = reps
	return m
}

func (m machine) reconstruct(t testing.TB) *topology.Hierarchy {
	reps := make([]mat.Matrix, len(m.reps))
	for k, s := range m.reps {
		reps[k] = s.d
	}
	return reconstruct(t, reps...).Hierarchy
}

// compare is that of data sets, with unions of known groups allowed where they are geography.
func (m machine) compare(h *topology.Hierarchy) verdict {
	s := m.reps[0]
	if m.zones {
		s.levels = slices.Clone(s.levels)
		for _, g := range h.Groups()[1:] {
			if s.unites(g.Hosts) {
				s.levels = append(s.levels, knownLevel{"union", [][]int{g.Hosts}, false})
			}
		}
	}
	return compare(s, h)
}

// unites tells whether the hosts are whole groups of the clear levels, and hosts in none.
func (s dataSet) unites(hosts []int) bool {
	for _, l := range s.levels {
		for _, g := range l.groups {
			inside := 0
			for _, x := range g {
				if slices.Contains(hosts, x) {
					inside++
				}
			}
			if l.visible && inside > 0 && inside < len(g) {
				return false
			}
		}
	}
	return true
}

// numberings of the hosts of each machine are tried, as ties and samples depend on them.
const numberings = 5

// numbered returns the machine with its hosts numbered in the given of several fixed ways.
func (m machine) numbered(way int) machine {
	n, _ := m.reps[0].d.Dims()
	return m.permuted(rand.New(rand.NewPCG(11+uint64(way), uint64(n))))
}

// Every level that a machine's measurements show clearly is found, and nothing that is not known
// is confident.
func TestLinkageOnMeasuredMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	for _, m := range machines(t) {
		if m.expect == "unknown" {
			continue
		}
		for way := range numberings {
			p := m.numbered(way)
			if v := p.compare(p.reconstruct(t)); !v.right() {
				t.Errorf("%s, numbering %d: missing %v, invented %v, want none", m.name, way, v.missing, v.invented)
			}
		}
	}
}

// A machineCount counts what is reported of machines.
type machineCount struct {
	runs, right               int // of known structure
	clear, found              int // groups of clear levels
	confident, confidentFalse int // reported groups that are known or allowed, and that are not
	uncertain, uncertainFalse int
	unknown                   int // confident groups of machines of which nothing is known
}

// run reconstructs a machine and counts what comes of it.
func (c *machineCount) run(t testing.TB, m machine) verdict {
	h := m.reconstruct(t)
	v := m.compare(h)
	confident := len(h.Confident(topology.ConfidentFrom).Groups()) - 1
	uncertain := len(h.Groups()) - 1 - confident
	if m.expect == "unknown" {
		c.unknown += confident
		return v
	}
	c.runs++
	if v.right() {
		c.right++
	}
	c.confident += confident - len(v.invented)
	c.confidentFalse += len(v.invented)
	c.uncertain += uncertain - len(v.uncertain)
	c.uncertainFalse += len(v.uncertain)
	for _, l := range m.reps[0].levels {
		if l.visible {
			c.clear += len(l.groups)
			c.found += len(l.groups)
		}
	}
	c.found -= len(v.missing)
	return v
}

func (c *machineCount) report(b *testing.B) {
	for _, x := range []struct {
		count int
		unit  string
	}{
		{c.runs, "runs"},
		{c.right, "runs-right"},
		{c.clear, "clear"},
		{c.found, "clear-found"},
		{c.confident, "confident-true"},
		{c.confidentFalse, "confident-false"},
		{c.uncertain, "uncertain-true"},
		{c.uncertainFalse, "uncertain-false"},
		{c.unknown, "confident-unknown"},
	} {
		b.ReportMetric(float64(x.count), x.unit)
	}
}

// BenchmarkLinkageMachines counts over the numberings of each machine's hosts; run it with
// -benchtime=1x, and -v for what is missing and invented.
func BenchmarkLinkageMachines(b *testing.B) {
	list := machines(b)
	var c machineCount
	for b.Loop() {
		c = machineCount{}
		for _, m := range list {
			for way := range numberings {
				if text := c.run(b, m.numbered(way)).summary(); text != "" {
					b.Logf("%s (%s), numbering %d: %s", m.name, m.expect, way, text)
				}
			}
		}
	}
	c.report(b)
}

// summary lists what is missing and invented, uncertain groups included.
func (v verdict) summary() string {
	if len(v.missing)+len(v.invented)+len(v.uncertain) == 0 {
		return ""
	}
	return fmt.Sprintf("missing %v, confident but not known %v, uncertain and not known %v", v.missing, v.invented, v.uncertain)
}
