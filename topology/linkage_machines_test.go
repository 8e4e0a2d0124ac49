package topology_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// A machine was measured, once or several times, and it is known what its readings show.
type machine struct {
	name   string
	expect string    // "groups": all clear levels; "flat": nothing firm; "unknown": only reported
	reps   []dataSet // the repetitions, alike but for the readings
	zones  bool      // unions of known groups are geography: allowed, not asked
}

// machines reads the measured machines, ordered by name.
func machines(t testing.TB) []machine {
	dir := filepath.Join(sharedData(t), "real")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no measured machines among the shared data")
	}
	truths, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []machine
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
		m := machine{name: known.Name, expect: known.Expect, zones: known.Regions != nil}
		levels := []knownLevel{{"may", known.May, false}}
		if m.expect != "flat" { // a flat machine's levels are hidden: its readings do not show them
			for _, l := range known.Levels {
				levels = append(levels, knownLevel{l.Name, l.Groups, l.Evidence != nil && l.Evidence.Visible == "clear"})
			}
		}
		for _, file := range known.Files {
			m.reps = append(m.reps, dataSet{m.name, readMatrix(t, filepath.Join(dir, file)), levels})
		}
		list = append(list, m)
	}
	return list
}

// permuted returns the machine with its hosts relabelled at random.
func (m machine) permuted(rng *rand.Rand) machine {
	n, _ := m.reps[0].d.Dims()
	chosen := rng.Perm(n)
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

// unites tells whether the hosts are whole groups of the clear levels.
func (s dataSet) unites(hosts []int) bool {
	covered := 0
	for _, l := range s.levels {
		if !l.visible {
			continue
		}
		for _, g := range l.groups {
			if !slices.ContainsFunc(g, func(x int) bool { return !slices.Contains(hosts, x) }) {
				covered += len(g)
			}
		}
	}
	return covered == len(hosts)
}

// numberings of the hosts of each machine are tried, as ties and samples depend on them.
const numberings = 5

// numbered returns the machine with its hosts numbered in the given of several fixed ways.
func (m machine) numbered(way int) machine {
	n, _ := m.reps[0].d.Dims()
	return m.permuted(rand.New(rand.NewPCG(11+uint64(way), uint64(n))))
}

// Every level that a machine's readings show clearly is found, and nothing that is not known
// is firm.
func TestLinkageOnMeasuredMachines(t *testing.T) {
	ways := numberings
	if testing.Short() {
		ways = 1
	}
	for _, m := range machines(t) {
		if m.expect == "unknown" {
			continue
		}
		for way := range ways {
			p := m.numbered(way)
			if v := p.compare(p.reconstruct(t)); !v.right() {
				t.Errorf("%s, numbering %d: missing %v, invented %v, want none", m.name, way, v.missing, v.invented)
			}
		}
	}
}

// A machineCount counts what is reported of machines.
type machineCount struct {
	sets, right     int // of known structure; right in all numberings of the hosts
	runs, runsRight int
	clear, found    int // groups of clear levels
	firm, firmFalse int // reported groups that are known or allowed, and that are not
	weak, weakFalse int
	unknown         int // firm groups of machines of which nothing is known
}

// add counts one run.
func (c *machineCount) add(m machine, h *topology.Hierarchy, v verdict) {
	firm := len(h.Firm(topology.FirmSupport).Groups()) - 1
	weak := len(h.Groups()) - 1 - firm
	if m.expect == "unknown" {
		c.unknown += firm
		return
	}
	c.runs++
	if v.right() {
		c.runsRight++
	}
	c.firm += firm - len(v.invented)
	c.firmFalse += len(v.invented)
	c.weak += weak - len(v.weak)
	c.weakFalse += len(v.weak)
	clear := 0
	for _, l := range m.reps[0].levels {
		if l.visible {
			clear += len(l.groups)
		}
	}
	c.clear += clear
	c.found += clear - len(v.missing)
}

// BenchmarkLinkageMachines counts over the numberings of each machine's hosts; run it with
// -benchtime=1x, and -v for what is missing and invented.
func BenchmarkLinkageMachines(b *testing.B) {
	list := machines(b)
	var c machineCount
	for b.Loop() {
		c = machineCount{}
		for _, m := range list {
			right := 0
			for way := range numberings {
				p := m.numbered(way)
				h := p.reconstruct(b)
				v := p.compare(h)
				c.add(p, h, v)
				if v.right() {
					right++
				}
				if way == 0 {
					b.Logf("%s (%s): %s", m.name, m.expect, v.summary())
				}
			}
			if m.expect != "unknown" {
				c.sets++
				if right == numberings {
					c.right++
				} else {
					b.Logf("%s (%s): right in %d of %d numberings", m.name, m.expect, right, numberings)
				}
			}
		}
	}
	for _, x := range []struct {
		count int
		unit  string
	}{
		{c.sets, "sets"},
		{c.right, "sets-right"},
		{c.runs, "runs"},
		{c.runsRight, "runs-right"},
		{c.clear, "clear"},
		{c.found, "clear-found"},
		{c.firm, "firm-true"},
		{c.firmFalse, "firm-false"},
		{c.weak, "weak-true"},
		{c.weakFalse, "weak-false"},
		{c.unknown, "firm-unknown"},
	} {
		b.ReportMetric(float64(x.count), x.unit)
	}
}

// summary lists what is missing and invented, weak groups included.
func (v verdict) summary() string {
	if v.right() && len(v.weak) == 0 {
		return "right"
	}
	return fmt.Sprintf("missing %v, firm but not known %v, weak and not known %v", v.missing, v.invented, v.weak)
}

// A wiring says how the hosts of a machine are spread over its leaf switches, of which the
// cells are groups that one top switch joins.
type wiring struct {
	Machine string
	Cells   [][]int // hosts per leaf
}

// wirings reads the wirings of whole machines.
func wirings(t testing.TB) []wiring {
	var list []wiring
	for _, name := range []string{"leonardo", "jupiter"} {
		text, err := os.ReadFile(filepath.Join(sharedData(t), "wirings", name+".json"))
		if os.IsNotExist(err) {
			t.Skip("no wirings among the shared data")
		} else if err != nil {
			t.Fatal(err)
		}
		var w wiring
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, w)
	}
	return list
}

// part is the wiring of one cell of each kind only.
func (w wiring) part() wiring {
	var cells [][]int
	for _, c := range w.Cells {
		if !slices.ContainsFunc(cells, func(x []int) bool { return slices.Equal(x, c) }) {
			cells = append(cells, c)
		}
	}
	return wiring{w.Machine, cells}
}

// set is the machine with latencies in s within a leaf, within a cell and between cells, its
// hosts numbered at random.
func (w wiring) set(rng *rand.Rand, latency [3]float64) dataSet {
	var leaf, cell []int // of the host at a place
	leaves := 0
	for c, sizes := range w.Cells {
		for _, size := range sizes {
			for range size {
				leaf, cell = append(leaf, leaves), append(cell, c)
			}
			leaves++
		}
	}
	n := len(leaf)
	place := rng.Perm(n)
	s := dataSet{w.Machine, mat.NewDense(n, n, nil), []knownLevel{
		{"leaf", make([][]int, leaves), true}, {"cell", make([][]int, len(w.Cells)), true},
	}}
	for i, p := range place {
		s.levels[0].groups[leaf[p]] = append(s.levels[0].groups[leaf[p]], i)
		s.levels[1].groups[cell[p]] = append(s.levels[1].groups[cell[p]], i)
		for j, q := range place[:i] {
			d := latency[2]
			switch {
			case leaf[p] == leaf[q]:
				d = latency[0]
			case cell[p] == cell[q]:
				d = latency[1]
			}
			s.d.Set(i, j, d)
			s.d.Set(j, i, d)
		}
	}
	return s
}

// A wiringRun is how a wiring is read.
type wiringRun struct {
	latency     [3]float64 // in s: within a leaf, within a cell, between cells
	noise       gen.Noise
	repetitions int
}

func (r wiringRun) String() string {
	return fmt.Sprintf("levels=%.3g,%.3g,%.3g/noise=%g/repetitions=%d", 1e6*r.latency[0], 1e6*r.latency[1], 1e6*r.latency[2], r.noise.Sigma, r.repetitions)
}

// wiringRuns are steps of 38 to 45 %, and of 20 %, each without noise and with.
func wiringRuns() []wiringRun {
	var list []wiringRun
	noise := gen.Noise{Sigma: 0.05, Outliers: 0.02}
	for _, latency := range [][3]float64{{1.1e-6, 1.6e-6, 2.2e-6}, {1.1e-6, 1.32e-6, 1.58e-6}} {
		list = append(list,
			wiringRun{latency, gen.Noise{}, 1}, wiringRun{latency, noise, 2}, wiringRun{latency, noise, 1})
	}
	return list
}

// readings returns the machine and its noisy repetitions.
func (r wiringRun) readings(t testing.TB, w wiring) (dataSet, []mat.Matrix) {
	rng := rand.New(rand.NewPCG(5, uint64(r.repetitions)))
	s := w.set(rng, r.latency)
	reps := []mat.Matrix{s.d}
	if r.noise.Sigma > 0 {
		reps = nil
		for range r.repetitions {
			noisy, err := r.noise.Apply(rng, s.d)
			if err != nil {
				t.Fatal(err)
			}
			reps = append(reps, noisy)
		}
	}
	return s, reps
}

// lost counts the groups of all levels and those that are missing; text says of which level.
func lost(s dataSet, v verdict) (text string, exist, missing int) {
	var parts []string
	for _, l := range s.levels {
		gone := 0
		for _, m := range v.missing {
			if strings.HasPrefix(m, l.name+" ") {
				gone++
			}
		}
		exist += len(l.groups)
		missing += gone
		parts = append(parts, fmt.Sprintf("%d of %d %s groups", len(l.groups)-gone, len(l.groups), l.name))
	}
	return strings.Join(parts, ", "), exist, missing
}

// One cell of each kind of two whole machines: all groups of the wider steps are found, and of
// the narrower ones the share given. The goal is 99 of 100 of them.
func TestLinkageOnWirings(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	share := map[string]float64{
		"leonardo/levels=1.1,1.32,1.58/noise=0.05/repetitions=2": 0.93,
		"leonardo/levels=1.1,1.32,1.58/noise=0.05/repetitions=1": 0.68,
	}
	for _, w := range wirings(t) {
		for _, r := range wiringRuns() {
			name := w.Machine + "/" + r.String()
			want, ok := share[name]
			if !ok {
				want = 1
			}
			s, reps := r.readings(t, w.part())
			v := compare(s, reconstruct(t, reps...).Hierarchy)
			if text, exist, missing := lost(s, v); float64(exist-missing) < want*float64(exist) || len(v.invented) > 0 {
				t.Errorf("%s: found %s, want %g of all; invented %v", name, text, want, v.invented)
			}
		}
	}
}

// BenchmarkLinkageWirings reads whole machines of 5,024 and 5,884 hosts; run it with
// -benchtime=1x, and -v for the levels.
func BenchmarkLinkageWirings(b *testing.B) {
	for _, w := range wirings(b) {
		for _, r := range wiringRuns() {
			b.Run(w.Machine+"/"+r.String(), func(b *testing.B) {
				s, reps := r.readings(b, w)
				s.d = nil
				var h *topology.Hierarchy
				peak := 0.0
				for b.Loop() {
					peak = max(peak, peakMiB(func() { h = reconstruct(b, reps...).Hierarchy }))
				}
				v := compare(s, h)
				text, exist, missing := lost(s, v)
				b.Log(text)
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/op")
				b.ReportMetric(peak, "MiB-peak")
				b.ReportMetric(float64(exist), "groups")
				b.ReportMetric(float64(exist-missing), "found")
				b.ReportMetric(float64(len(v.invented)), "firm-false")
				b.ReportMetric(float64(len(v.weak)), "weak-false")
			})
		}
	}
}
