//go:build linux

package labtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/scenario"
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

// TestSampleClusters is the core of make lab-test: what is reconstructed is the true hierarchy,
// broadcasts along it bring every byte, and large ones cross each uplink once. Every cluster
// is tested with ranks in all orders and under both MPI libraries, and every library in all orders.
func TestSampleClusters(t *testing.T) {
	settings := labSettings(t)
	libraries := []string{netlab.OpenMPI, netlab.MPICH}
	for i, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			l := labUp(t, settings, s.name, fmt.Sprintf(`"spec":%q,"ranks_per_host":%d`, s.spec, s.perHost))
			if s.verify {
				t.Run("verify", func(t *testing.T) { verify(t, l) })
			}
			for k, how := range []string{"block", "cyclic", "shuffled:1"} {
				library := libraries[(i+k)%2]
				t.Run(library+" "+how, func(t *testing.T) {
					place, err := scenario.Placement(how, s.perHost*l.Cluster.Graph.Hosts(), l.Cluster.Graph, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					// Of the ranks, which share a CPU with the rest of the machine, the fabric knows
					// nothing: one attempt may be spoilt that way.
					judge(t, 2, func() ([]string, netlab.Loop) { return s.job(t, l, settings, library, place) })
				})
			}
		})
	}
}

// verify holds the lab to its file. Of a lab that is right, one of three attempts is.
func verify(t *testing.T, l *netlab.Lab) {
	for outside := 0; ; {
		begin := time.Now()
		v, err := l.Verify()
		if err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		if err := v.Write(&table); err != nil {
			t.Fatal(err)
		}
		err = v.Judge()
		if err == nil {
			lines := strings.Split(strings.TrimSpace(table.String()), "\n")
			t.Log(strings.Join(lines[len(lines)-3:], "; "))
			return
		}
		t.Log("\n" + table.String())
		switch late := errors.Is(err, netlab.ErrNotTimed); {
		case late && wasted > patience:
			notJudged(t, err)
		case late:
			wasted += time.Since(begin)
		case outside == 2:
			t.Fatal(err)
		default:
			outside++
		}
	}
}

// job runs the program on a lab, and returns what is wrong with what it found and how the
// fabric has kept time.
func (s *sample) job(t *testing.T, l *netlab.Lab, settings *netlab.Settings, library string, place []int) (faults []string, fabric netlab.Loop) {
	t.Helper()
	r := &report{}
	start := time.Now()
	runJob(t, l, &netlab.Job{
		MPI: library, Place: place,
		Program: program(t, "-dir", settings.Dir, "-lab", s.name, "-report", filepath.Join(t.TempDir(), "report.json")),
	}, jobLimit, r)
	t.Logf("%d ranks, %.1f s, of which measuring short messages %.1f s, long ones %.1f s", len(place), time.Since(start).Seconds(), r.Short, r.Long)
	for rank, h := range place {
		if got, want := r.Hosts[rank], l.Machines()[h].Name; got != want {
			t.Fatalf("rank %d ran on %s, want %s", rank, got, want)
		}
	}
	if got, want := sets(r.Groups), s.want(place); !slices.Equal(got, want) {
		faults = append(faults, fmt.Sprintf("reconstructed groups of ranks %v\nwant %v\nsupport %.2f", got, want, r.Confidence))
	}
	fabric = r.Fabric
	for _, b := range r.Broadcasts {
		if b.Wrong > 0 {
			t.Fatalf("broadcast of %d bytes from rank %d: %d ranks got other bytes", b.Bytes, b.Root, b.Wrong)
		}
		t.Logf("broadcast of %d bytes from rank %d: %.1f ms, %s", b.Bytes, b.Root, b.Seconds*1e3, b.Plan)
		fabric = fabric.Plus(b.Counters.Loop)
		if b.Bytes == largeCast {
			faults = append(faults, crossings(l, place, &b)...)
		}
	}
	if len(faults) > 0 {
		text, err := json.Marshal(r)
		t.Logf("the report: %s (%v)", text, err)
	}
	return faults, fabric
}

// crossings holds a large broadcast to crossing each direction of each link between switches once
// at most. TCP sends again what is late.
func crossings(l *netlab.Lab, place []int, b *broadcast) (faults []string) {
	g := l.Cluster.Graph
	for i, c := range b.Counters.Links {
		a := g.Arcs()[i]
		carried := float64(c.Bytes) / float64(b.Bytes)
		switch {
		case g.IsSwitch(a.From) && g.IsSwitch(a.To):
			// Headers of TCP, of MPI per segment, and acknowledgements.
			if carried > 1.1 {
				faults = append(faults, fmt.Sprintf("broadcast of %d bytes from rank %d: the payload crosses %s to %s %.2f times, want once at most", b.Bytes, b.Root, c.From, c.To, carried))
			}
		case !g.IsSwitch(a.To) && a.To != place[b.Root] && carried < 1:
			// What comes into a host's link has come once per host other than the root's.
			faults = append(faults, fmt.Sprintf("broadcast of %d bytes from rank %d: %s to %s carried %d bytes only", b.Bytes, b.Root, c.From, c.To, c.Bytes))
		}
	}
	return faults
}
