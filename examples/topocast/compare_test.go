package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// racks is a platform file of three racks of hosts; place is the rack of each.
func racks(t *testing.T, place string, latencies bool) string {
	t.Helper()
	latency := func(us int) string {
		if latencies {
			return fmt.Sprintf(`,"latency_us":%d`, us)
		}
		return ""
	}
	var all []string
	for i, rack := range place {
		all = append(all, fmt.Sprintf(`{"a":"h%d","b":"%c"%s}`, i, rack, latency(2)))
	}
	for _, rack := range "abc" {
		all = append(all, fmt.Sprintf(`{"a":"%c","b":"root"%s}`, rack, latency(10)))
	}
	return write(t, "spec.json", `{"graph":{"hosts":["h0","h1","h2","h3","h4","h5","h6","h7","h8","h9","h10","h11"],"switches":["a","b","c","root"],"links":[`+strings.Join(all, ",")+`]}}`)
}

func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	network := discovered(t, "--sim", "tree:3x4 latency=10us,2us")
	status, out, stderr := topocast("compare", network, network)
	if status != 0 || !strings.Contains(out, "confident groups: 3 the same, 0 missing, 0 extra") || !strings.Contains(out, "nothing differs") {
		t.Errorf("with itself: status %d: %s%s", status, out, stderr)
	}
	right := racks(t, "aaaabbbbcccc", true)
	for _, reference := range []string{right, racks(t, "aaaabbbbcccc", false)} {
		if status, out, stderr = topocast("compare", network, reference); status != 0 || !strings.Contains(out, "nothing differs") {
			t.Errorf("with its specification: status %d: %s%s", status, out, stderr)
		}
	}
	// As specified, host 3 stands in the second rack.
	wrong := racks(t, "aaabbbbbcccc", true)
	status, out, _ = topocast("compare", network, wrong)
	if want := "1 difference, the worst first\n  host h3: its latencies are those of a host on the switch of h0-h2, not of h4-h7"; status != 3 || !strings.Contains(out, want) {
		t.Errorf("with a wrong cable list: status %d: %s, want 3 and %q", status, out, want)
	}
	status, out, _ = topocast("compare", "--json", network, wrong)
	var got results.Comparison
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if status != 3 || got.Status != 3 || got.Format != "topocast/comparison" || got.Version != 2 || len(got.Links) != 15 || len(got.Levels) != 2 ||
		len(got.Differences) != 1 || got.Differences[0].What != "host h3" || got.Differences[0].Kind != "moved" || got.Groups != nil {
		t.Errorf("status %d: %s", status, out)
	}
	for _, l := range got.Links {
		if l.Name == "" || l.Level == "" || l.Verdict == "" || l.Latency.Slower == nil || l.Latency.Measured == nil || l.Latency.Reference == nil {
			t.Errorf("link %+v lacks something", l)
		}
	}
	// A specification that says nothing of what was measured.
	status, out, _ = topocast("compare", racks(t, "aaaabbbbcccc", false), right)
	if status != 4 || !strings.Contains(out, "cannot tell") {
		t.Errorf("without measurements: status %d: %s, want 4", status, out)
	}
	for _, args := range [][]string{
		{"compare", network, write(t, "line.json", line3)},
		{"compare", network, "no/such/file"},
		{"compare", "--tolerance", "-1", network, right},
	} {
		if status, _, stderr := topocast(args...); status != 2 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, want 2 and one line", args, status, stderr)
		}
	}
}

// TestCompareWithOneSwitch: the links of one switch explain four pairs of five of a machine of four racks, so it is the
// groups that tell; those of its own star do not differ. A matrix of zeros is none to be told from.
func TestCompareWithOneSwitch(t *testing.T) {
	star := `{"graph":{"hosts":["h0","h1","h2","h3","h4","h5","h6","h7","h8","h9","h10","h11","h12","h13","h14","h15"],"switches":["s"],"links":[`
	for h := range 16 {
		star += fmt.Sprintf(`%s{"a":"h%d","b":"s","latency_us":3}`, strings.Repeat(",", min(h, 1)), h)
	}
	reference := write(t, "star.json", star+"]}}")
	measured := func(inside, between string) string {
		var b strings.Builder
		b.WriteString("# unit: us\n")
		for i := range 16 {
			for j := range 16 {
				cell := between
				if i/4 == j/4 {
					cell = inside
				}
				b.WriteString(cell + strings.Repeat(",", min(15-j, 1)))
			}
			b.WriteString("\n")
		}
		file := filepath.Join(t.TempDir(), "network.json")
		if status, _, stderr := topocast("reconstruct", "--output", file, write(t, "m.csv", b.String())); status != 0 {
			t.Fatal(stderr)
		}
		return file
	}
	for _, c := range []struct {
		inside, between string
		status          int
		want            string
	}{
		{"2", "6", 3, "0 the same, 0 missing, 4 extra\n|4 differences, the worst first\n  group h0-h3: it was measured, and the reference does not have it\n"},
		{"6", "6", 0, "nothing differs"},
		{"0", "0", 4, "latencies between hosts: every latency that was measured between hosts is 0"},
	} {
		status, out, stderr := topocast("compare", measured(c.inside, c.between), reference)
		for _, want := range strings.Split(c.want, "|") {
			if status != c.status || !strings.Contains(out, want) {
				t.Errorf("%s us within racks, %s between: status %d: %s%s, want %d and %q", c.inside, c.between, status, out, stderr, c.status, want)
			}
		}
	}
}

// The README's first command on a machine of two cores: two ranks of one host.
func TestCompareSeveralRanksOnAHost(t *testing.T) {
	network := discovered(t, "--sim", "core:2 host:1")
	status, out, stderr := topocast("compare", network, "--against", network, "--all")
	if status != 0 || !strings.Contains(out, "inside of") || !strings.Contains(out, "1 host of 2 ranks") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// Of 640 hosts, 30 uplinks of 80 of which are slow, the text is a page; with --all
// it is complete.
func TestCompareTextIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	c, err := gen.Parse("tree:5x16x2 latency=10us,5us,2us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.FromGraph(c.Graph, c.Choice)
	if err != nil {
		t.Fatal(err)
	}
	var arcs []topology.Arc
	for _, a := range c.Graph.Arcs() {
		for h := 0; h < 60; h += 2 { // of 30 of the 80 racks
			if rack := c.Graph.Out(h)[0].To; a.From == rack && c.Graph.IsSwitch(a.To) || a.To == rack && c.Graph.IsSwitch(a.From) {
				a.Latency *= 2 + float64(h)/25
			}
		}
		arcs = append(arcs, a)
	}
	g, err := topology.NewGraph(c.Graph.Hosts(), c.Graph.Vertices()-c.Graph.Hosts(), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := model.FromGraph(g, c.Choice)
	if err != nil {
		t.Fatal(err)
	}
	compared, err := comparison.Compare(&comparison.Side{Name: "slow", Network: slow, Graph: g}, &comparison.Side{Name: "fine", Network: n, Graph: c.Graph}, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := networkComparison{compared}
	var some, all strings.Builder
	r.writeText(&some, false)
	r.writeText(&all, true)
	if got := strings.Count(some.String(), "\n"); got > 60 || !strings.Contains(some.String(), "  uplink of h58,h59: ") || !strings.Contains(some.String(), "and 10 more (--all)") {
		t.Errorf("%d lines:\n%s", got, some.String())
	}
	if got := strings.Count(all.String(), "\n"); got < 30+len(r.Links.Links) {
		t.Errorf("--all: %d lines for %d links", got, len(r.Links.Links))
	}
	for _, line := range strings.Split(some.String(), "\n") {
		if len(line) > 160 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestCompareTellsThatItCouldNotWrite(t *testing.T) {
	network := discovered(t, "--sim", "tree:2x3 latency=10us,2us")
	for _, args := range [][]string{{"compare", network, network}, {"compare", "--json", network, network}} {
		if status := run(args, fullDevice{}, os.Stderr); status != 1 {
			t.Errorf("%q into a full device: status %d, want 1", args, status)
		}
	}
}

// A rack that one slow host has made an uncertain group still holds its hosts together.
func TestUncertainGroupsOfAMeasuredSide(t *testing.T) {
	h, err := topology.NewHierarchy(9, []topology.Level{{Latency: 4e-6, Confidence: 1}, {Latency: 12e-6, Confidence: 0.85}}, []topology.Group{
		{Hosts: []int{0, 1, 2}, Latency: 4e-6, Confidence: 0.85},
		{Hosts: []int{0, 1, 2, 3}, Level: 1, Latency: 12e-6, Confidence: 0.85},
		{Hosts: []int{4, 5, 6, 7, 8}, Latency: 4e-6, Confidence: 1},
	}, 24e-6)
	if err != nil {
		t.Fatal(err)
	}
	var arcs []topology.Arc
	for v := range 9 {
		arcs = topology.AppendLink(arcs, v, 9+[]int{1, 1, 1, 2, 3, 3, 3, 3, 3}[v], []float64{2e-6, 2e-6, 2e-6, 10e-6, 2e-6, 2e-6, 2e-6, 2e-6, 2e-6}[v], 1e9)
	}
	for _, l := range [][2]int{{10, 11}, {11, 9}, {12, 9}} {
		arcs = topology.AppendLink(arcs, l[0], l[1], map[int]float64{10: 1e-9, 11: 10e-6, 12: 10e-6}[l[0]], 1e9)
	}
	g, err := topology.NewGraph(9, 4, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "network.json")
	if err := n.Save(file); err != nil {
		t.Fatal(err)
	}
	s, err := loadSide(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(n.Hierarchy().Groups()); got != 2 {
		t.Fatalf("%d confident groups, want the root and one", got)
	}
	c, err := compare.Links(s.Graph, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Misfit > 0.05 || len(c.Findings) > 0 {
		t.Errorf("misfit %g, %d findings, want the uncertain groups' latencies in use", c.Misfit, len(c.Findings))
	}
	for _, a := range s.Graph.Arcs() {
		if !s.Graph.IsSwitch(a.From) && a.Bandwidth != 1e9 {
			t.Errorf("link of host %d: %g B/s, want 1e9", a.From, a.Bandwidth)
		}
	}
	if math.IsNaN(c.Bandwidth) {
		t.Error("no bandwidth was compared")
	}
}

// A core-to-core matrix has no hosts: its rows are the cores of a file of lstopo, which two packages of two cores share; names that are numbers
// say which. The other pairing differs.
func TestCompareCoresWithLstopo(t *testing.T) {
	var xml strings.Builder
	xml.WriteString(`<topology version="3.0"><object type="Machine" os_index="0" cpuset="0x0000000f">`)
	for p := range 2 {
		fmt.Fprintf(&xml, `<object type="Package" os_index="%d" cpuset="0x%x">`, p, 3<<(2*p))
		for c := 2 * p; c < 2*p+2; c++ {
			fmt.Fprintf(&xml, `<object type="Core" os_index="%d" cpuset="0x%x"><object type="PU" os_index="%d" cpuset="0x%x"/></object>`, c, 1<<c, c, 1<<c)
		}
		xml.WriteString(`</object>`)
	}
	xml.WriteString(`</object></topology>`)
	lstopo := write(t, "host.xml", xml.String())
	for _, c := range []struct {
		name, matrix string
		status       int
	}{
		{"rows in order", "# unit: ns\n0,21,85,84\n20,0,86,83\n85,84,0,22\n86,85,21,0\n", cli.StatusFine},
		{"numbers as names", "# unit: ns\ncpu,0,1,2,3\n0,0,21,85,84\n1,20,0,86,83\n2,85,84,0,22\n3,86,85,21,0\n", cli.StatusFine},
		{"another pairing", "# unit: ns\n0,85,21,84\n85,0,86,22\n21,86,0,85\n84,22,85,0\n", cli.StatusDifferent},
	} {
		network := filepath.Join(t.TempDir(), "network.json")
		if status, _, stderr := topocast("reconstruct", "--method", "average", "-o", network, write(t, "m.csv", c.matrix)); status != 0 {
			t.Fatalf("%s: %s", c.name, stderr)
		}
		status, out, stderr := topocast("compare", network, "--against", lstopo)
		if status != c.status || !strings.Contains(stderr, "are taken for core0 to core3") {
			t.Errorf("%s: status %d, want %d: %s\n%s", c.name, status, c.status, stderr, out)
		}
	}
}
