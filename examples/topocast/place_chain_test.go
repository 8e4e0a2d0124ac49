package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A realMachine is the inside of a host as hwloc has described one, coarse to fine: ../shared/data/machines.
type realMachine struct {
	N      int
	Levels []struct {
		Name   string
		Groups [][]int
	}
}

func readMachine(t *testing.T, name string) *realMachine {
	t.Helper()
	data, there := published.Beside()
	if !there {
		t.Skip("the machines are not part of the repository")
	}
	text, err := os.ReadFile(filepath.Join(data, "machines", name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := new(realMachine)
	if err := json.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(m.Levels)
	if m.Levels[0].Name != "package" { // where the last cache is the package's
		packages := m.Levels[0]
		packages.Name = "package"
		m.Levels = slices.Insert(m.Levels, 0, packages)
	}
	return m
}

// xml is the machine as lstopo writes it; each of its last caches has memory of its own.
func (m *realMachine) xml() string {
	var inside func(level int, within []int) string
	inside = func(level int, within []int) string {
		var b strings.Builder
		if level == len(m.Levels) {
			for _, pu := range within {
				thread := fmt.Sprintf(`<object type="PU" os_index="%d" cpuset="%s"/>`, pu, cpuset([]int{pu}))
				if m.Levels[level-1].Name != "core" { // which has several threads
					thread = fmt.Sprintf(`<object type="Core" cpuset="%s">%s</object>`, cpuset([]int{pu}), thread)
				}
				b.WriteString(thread)
			}
			return b.String()
		}
		for _, g := range m.Levels[level].Groups {
			if !slices.Contains(within, g[0]) {
				continue
			}
			kind := map[string]string{"package": "Package", "L3": "L3Cache", "L2": "L2Cache", "core": "Core"}[m.Levels[level].Name]
			object := fmt.Sprintf(`<object type="%s" cpuset="%s" cache_size="6291456">%s</object>`, kind, cpuset(g), inside(level+1, g))
			if kind == "L3Cache" {
				object = fmt.Sprintf(`<object type="NUMANode" cpuset="%s">%s</object>`, cpuset(g), object)
			}
			b.WriteString(object)
		}
		return b.String()
	}
	all := make([]int, m.N)
	for i := range all {
		all[i] = i
	}
	return `<topology>` + fmt.Sprintf(`<object type="Machine" cpuset="%s">`, cpuset(all)) + inside(0, all) + `</object></topology>`
}

// cpuset is a set as hwloc writes it: words of 32 bits, the highest first.
func cpuset(cpus []int) string {
	words := make([]uint32, slices.Max(cpus)/32+1)
	for _, cpu := range cpus {
		words[len(words)-1-cpu/32] |= 1 << (cpu % 32)
	}
	var all []string
	for _, w := range words {
		all = append(all, fmt.Sprintf("0x%08x", w))
	}
	return strings.Join(all, ",")
}

// cluster is some hosts that are such machines; each package has its own way to the switch of all hosts.
func (m *realMachine) cluster(t *testing.T, hosts int) *simnet.Cluster {
	t.Helper()
	c := &simnet.Cluster{Node: make([]int, hosts*m.N)}
	var arcs []topology.Arc
	both := func(u, v int, latency, bandwidth float64) {
		arcs = append(arcs, topology.Arc{From: u, To: v, Latency: latency, Bandwidth: bandwidth, Probability: 1},
			topology.Arc{From: v, To: u, Latency: latency, Bandwidth: bandwidth, Probability: 1})
	}
	top := hosts * m.N
	next := top + 1
	for host := range hosts {
		above := slices.Repeat([]int{top}, m.N)
		for level, l := range m.Levels {
			latency, bandwidth := 2e-6, 3e9
			if level > 0 {
				latency, bandwidth = 2e-6/float64(int(1)<<(3*level)), 20e9
			}
			for _, g := range l.Groups {
				both(next, above[g[0]], latency, bandwidth)
				for _, pu := range g {
					above[pu] = next
				}
				next++
			}
		}
		for pu, switch_ := range above {
			both(host*m.N+pu, switch_, 20e-9, 20e9)
			c.Node[host*m.N+pu] = host
		}
	}
	g, err := topology.NewGraph(hosts*m.N, next-hosts*m.N, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	c.Graph = g
	return c
}

// TestServetChain: two hosts that are real machines are simulated and discovered; hwloc's description of them
// and the ratios of the network make all four rules act; the places go into a rankfile, the first ones
// on different packages, which do not disturb each other (Servet 3.0, section 6.2).
func TestServetChain(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	machines := []string{"westmere_x5650_x2"}
	if tooltest.Long() {
		machines = append(machines, "opteron_6164he_x2", "opteron_6272_x4")
	}
	for _, name := range machines {
		m := readMachine(t, name)
		const hosts = 2
		cluster := m.cluster(t, hosts)
		folder := t.TempDir()
		network, xml := filepath.Join(folder, "network.json"), filepath.Join(folder, "host.xml")
		settings := cluster.Settings()
		settings.HollowAbove = cli.DiscoverHollow
		if err := os.WriteFile(xml, []byte(m.xml()), 0o600); err != nil {
			t.Fatal(err)
		}
		inside, err := readHwloc(xml)
		if err != nil {
			t.Fatal(err)
		}
		err = simnet.Run(cluster.Graph, nil, settings, func(comm mpi.Communicator) error {
			s := &measure.DiscoverSettings{Inside: inside, Pairs: measure.TwoLevelsAlike, Also: measure.Degradation, Patterns: -1, Sampling: measure.Sampling{Samples: 1, Repetitions: 1, Seed: 1}}
			d, err := measure.Discover(t.Context(), comm, s)
			if err != nil || d == nil {
				return err
			}
			var b strings.Builder
			if err := d.Network.Write(&b); err != nil {
				return err
			}
			return os.WriteFile(network, []byte(b.String()), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		packages := len(m.Levels[0].Groups) * hosts
		status, out, stderr := topocast("place", "--hwloc", xml, "--explain", "--format", "rankfile", "--ranks", fmt.Sprint(packages), network)
		if status != 0 || strings.Count(stderr, "rule ") != 4 || strings.Contains(stderr, "does nothing") {
			t.Errorf("%s: status %d, want four rules that act:\n%s", name, status, stderr)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != packages+1 {
			t.Fatalf("%s: %d lines, want a comment and %d ranks:\n%s", name, len(lines), packages, out)
		}
		seen := make(map[string]bool)
		for k, line := range lines[1:] {
			host, slot, ok := strings.Cut(strings.TrimPrefix(line, fmt.Sprintf("rank %d=", k)), " slot=")
			socket, _, _ := strings.Cut(slot, ":")
			if !ok || host != "n0" && host != "n1" || slot == "" {
				t.Errorf("%s: %q", name, line)
			}
			seen[host+" "+socket] = true
		}
		// The first and the thirteenth of Westmere's threads are one core: the benchmark has to spread processes by
		// what they share, not by number, to find that two of a host do not slow each other down.
		if len(seen) != packages {
			t.Errorf("%s: ranks on %d of %d packages:\n%s", name, len(seen), packages, out)
		}
		t.Logf("%s\n%s%s", name, stderr, out)
		// One rank on each package is what the ratios say by themselves.
		status, auto, stderr := topocast("place", "--ranks-per-host", "auto", "--format", "rankfile", network)
		if status != 0 || auto != out {
			t.Errorf("%s: --ranks-per-host auto: status %d, %s%s, want as above", name, status, stderr, auto)
		}
	}
}

func TestPlaceWithHwloc(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	folder := t.TempDir()
	network, xml := filepath.Join(folder, "n.json"), filepath.Join(folder, "x.xml")
	if status, _, stderr := topocast("discover", "--sim", "core:2 socket:2 host:2 latency=5us,1us,200ns", "-o", network); status != 0 {
		t.Fatal(stderr)
	}
	for _, c := range []struct{ xml, flag, want string }{
		{"<none/>", "--explain", "hwloc"},
		{`<topology><object type="Machine" cpuset="0x30000000,0x0"><object type="L3Cache" cache_size="1" cpuset="0x30000000,0x0"/></object></topology>`, "--explain", "no two ranks"},
	} {
		if err := os.WriteFile(xml, []byte(c.xml), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, _, stderr := topocast("place", "--hwloc", xml, c.flag, network); status != cli.StatusInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %q, want %q", c.xml, status, stderr, c.want)
		}
	}
	// Without it, what is not known is said.
	if status, _, stderr := topocast("place", "--explain", network); status != 0 || strings.Count(stderr, "does nothing") != 3 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestPlaceRanksPerHost: a number bounds what hosts get, also where traffic says who stands beside whom, and auto wants ratios.
func TestPlaceRanksPerHost(t *testing.T) {
	folder := t.TempDir()
	network, traffic := filepath.Join(folder, "n.json"), filepath.Join(folder, "traffic.csv")
	if status, _, stderr := topocast("discover", "--sim", "core:4 host:4 latency=5us,1us", "--patterns", "0", "-o", network); status != 0 {
		t.Fatal(stderr)
	}
	// 0 talks to 3, and 1 to 2.
	if err := os.WriteFile(traffic, []byte("0,0,0,1000\n0,0,1000,0\n0,1000,0,0\n1000,0,0,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	onHosts := func(args ...string) map[string]string {
		status, out, stderr := topocast(append([]string{"place"}, args...)...)
		if status != 0 {
			t.Fatalf("%q: %s", args, stderr)
		}
		hosts := make(map[string]string)
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			rank, at, _ := strings.Cut(line, " ")
			host, _, _ := strings.Cut(at, ":")
			hosts[host] += rank
		}
		return hosts
	}
	if got := onHosts("--ranks-per-host", "2", network); len(got) != 4 || len(got["n0"]) != 2 || len(got["n3"]) != 2 {
		t.Errorf("two per host: %v", got)
	}
	for host, ranks := range onHosts("--ranks-per-host", "2", network, traffic) {
		if ranks != "03" && ranks != "12" {
			t.Errorf("by traffic: ranks %s on %s, want those that talk to each other", ranks, host)
		}
	}
	for flag, want := range map[string]string{"auto": "--degradation measures it", "0": "--ranks-per-host 0", "x": "--ranks-per-host x"} {
		if status, _, stderr := topocast("place", "--ranks-per-host", flag, network); status != cli.StatusInput || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q", flag, status, stderr)
		}
	}
}
