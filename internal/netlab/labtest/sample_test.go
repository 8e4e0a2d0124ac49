package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/netlab"
)

// The sample clusters: hosts' links of 200 Mbit/s, uplinks of 100 Mbit/s. Two
// hosts of a rack are 200 us apart, and each level more than doubles that. The
// hosts, which share a core, add some 25 us (MPICH) to 75 us (Open MPI) to each
// message, give or take 10: a constant which makes the ratio of two levels
// smaller than it is, and a scatter which must be small against 200 us.
func samples() []sample {
	return []sample{
		{
			name: "star", spec: "star:8 latency=100us rate=200Mbps", perHost: 1, verify: true,
			groups: nil,
		},
		{
			name: "racks", spec: "tree:2x4 latency=200us,100us rate=100Mbps,200Mbps", perHost: 2, verify: true,
			groups: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}},
		},
		{
			name: "pods", spec: "tree:2x2x3 latency=400us,200us,100us rate=100Mbps,100Mbps,200Mbps", perHost: 1,
			groups: [][]int{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}, {0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}},
		},
		{
			name: "uneven", spec: "tree:[2,5,5] latency=200us,100us rate=100Mbps,200Mbps", perHost: 1,
			groups: [][]int{{0, 1}, {2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}},
		},
	}
}

type sample struct {
	name, spec string
	perHost    int
	verify     bool    // also hold TCP probes to the truth, which takes some seconds
	groups     [][]int // of hosts: pods, racks
}

// want is what has to come out with the given host of each rank: the groups
// of the hosts, and the ranks of each host where there are several, as sets.
func (s *sample) want(place []int) []string {
	groups := slices.Clone(s.groups)
	if s.perHost > 1 {
		for h := range slices.Max(place) + 1 {
			groups = append(groups, []int{h})
		}
	}
	var ofRanks [][]int
	for _, hosts := range groups {
		var ranks []int
		for r, h := range place {
			if slices.Contains(hosts, h) {
				ranks = append(ranks, r)
			}
		}
		ofRanks = append(ofRanks, ranks)
	}
	return sets(ofRanks)
}

// sets writes groups so that they can be compared.
func sets(groups [][]int) []string {
	text := []string{}
	for _, g := range groups {
		text = append(text, fmt.Sprint(g))
	}
	slices.Sort(text)
	return text
}

func TestSamplesAreWhatTheirSpecsSay(t *testing.T) {
	for _, s := range samples() {
		c, err := gen.Parse(s.spec)
		if err != nil {
			t.Fatal(err)
		}
		var groups [][]int
		for _, g := range c.Hierarchy.Groups()[1:] {
			groups = append(groups, g.Hosts)
		}
		if !slices.Equal(sets(groups), sets(s.groups)) {
			t.Errorf("%s: groups of the specification = %v, of the sample %v", s.name, sets(groups), sets(s.groups))
		}
	}
}

const requireVariable = "TOPOCAST_REQUIRE_LAB"

// TestSampleClusters is make lab-test: under both MPI libraries and with ranks
// in any order, what is reconstructed is the true hierarchy, broadcasts along
// it bring every byte, and large ones cross each uplink once.
func TestSampleClusters(t *testing.T) {
	if os.Getenv(requireVariable) == "" {
		t.Skip("a test of real labs: set " + requireVariable + "=1 to run it")
	}
	if err := netlab.Available(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command := filepath.Join(dir, "netlab")
	build(t, "go", "build", "-o", command, "../cmd/netlab")
	programs := map[string]string{}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		programs[library] = filepath.Join(dir, "labtest-"+library)
		build(t, "../../../.ci/with-mpi", library, "go", "build", "-tags", "mpi", "-o", programs[library], ".")
	}
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) { s.test(t, &netlab.Settings{Dir: dir, Command: command}, programs) })
	}
}

func build(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (s *sample) test(t *testing.T, settings *netlab.Settings, programs map[string]string) {
	text := fmt.Sprintf(`{"format":"topocast/netlab","version":1,"spec":%q,"ranks_per_host":%d}`, s.spec, s.perHost)
	c, err := netlab.DecodeCluster(strings.NewReader(text), "", s.name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := netlab.Up(c, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := l.Down(); err != nil {
			t.Error(err)
		}
	}()
	if s.verify {
		t.Run("verify", func(t *testing.T) { verify(t, l) })
	}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		for _, how := range []string{"block", "round-robin", "shuffle:1"} {
			t.Run(library+" "+how, func(t *testing.T) { s.job(t, l, settings, library, how, programs[library]) })
		}
	}
}

// verify holds the lab to its file. Probes feel whatever else the machine does,
// and a stall of it is no fault of the lab: one of three attempts has to do.
func verify(t *testing.T, l *netlab.Lab) {
	for attempt := 1; ; attempt++ {
		v, err := l.Verify()
		if err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		if err := v.Write(&table); err != nil {
			t.Fatal(err)
		}
		if v.Failures() == 0 {
			lines := strings.Split(strings.TrimSpace(table.String()), "\n")
			t.Log(strings.Join(lines[len(lines)-3:], "; "))
			return
		}
		t.Log("\n" + table.String())
		if attempt == 3 {
			t.Fatal("readings outside the bounds, three times")
		}
	}
}

func (s *sample) job(t *testing.T, l *netlab.Lab, settings *netlab.Settings, library, how, program string) {
	place, err := netlab.Place(how, l.Cluster.Graph.Hosts(), s.perHost, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	job := &netlab.Job{
		MPI: library, Place: place,
		Program: []string{program, "-dir", settings.Dir, "-lab", s.name, "-report", file},
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no end within a minute"))
	defer cancel()
	var out strings.Builder
	start := time.Now()
	if err := l.Run(ctx, job, &out, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	r := &report{}
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ranks, %.1f s, of which measuring short messages %.1f s, long ones %.1f s", len(place), time.Since(start).Seconds(), r.Short, r.Long)
	s.checkWiring(t, l, place, r)
	for _, b := range r.Broadcasts {
		checkBroadcast(t, l, place, b)
	}
	if t.Failed() {
		t.Logf("the report:\n%s", b)
	}
}

func (s *sample) checkWiring(t *testing.T, l *netlab.Lab, place []int, r *report) {
	for rank, h := range place {
		if got, want := r.Hosts[rank], l.Machines()[h].Name; got != want {
			t.Fatalf("rank %d ran on %s, want %s", rank, got, want)
		}
	}
	if got, want := sets(r.Groups), s.want(place); !slices.Equal(got, want) {
		t.Errorf("reconstructed groups of ranks %v\nwant %v\nsupport %.2f", got, want, r.Support)
	}
}

// checkBroadcast holds a broadcast to its bytes, and a large one to crossing
// each direction of each link between switches at most once.
func checkBroadcast(t *testing.T, l *netlab.Lab, place []int, b broadcast) {
	if b.Wrong > 0 {
		t.Errorf("broadcast of %d bytes from rank %d: %d ranks got other bytes", b.Bytes, b.Root, b.Wrong)
	}
	t.Logf("broadcast of %d bytes from rank %d: %.1f ms, %s; %s", b.Bytes, b.Root, b.Seconds*1e3, b.Plan, b.Counters.Loop)
	if b.Bytes < largeCast {
		return
	}
	g := l.Cluster.Graph
	for i, c := range b.Counters.Links {
		a := g.Arcs()[i]
		if !g.IsSwitch(a.From) || !g.IsSwitch(a.To) {
			continue
		}
		// Headers of TCP, of MPI per segment, and acknowledgements.
		crossings := float64(c.Bytes) / float64(b.Bytes)
		if crossings > 1.1 {
			t.Errorf("broadcast of %d bytes from rank %d: the payload crosses %s to %s %.2f times, want once at most", b.Bytes, b.Root, c.From, c.To, crossings)
		}
	}
	// What comes into a host's link has come once per host other than the root's.
	for i, c := range b.Counters.Links {
		a := g.Arcs()[i]
		if g.IsSwitch(a.To) || a.To == place[b.Root] {
			continue
		}
		if float64(c.Bytes) < float64(b.Bytes) {
			t.Errorf("broadcast of %d bytes from rank %d: %s to %s carried %d bytes only", b.Bytes, b.Root, c.From, c.To, c.Bytes)
		}
	}
}
