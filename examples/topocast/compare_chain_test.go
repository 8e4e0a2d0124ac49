package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// chain is a random cluster with a fault, from the wiring to compare's answer.
type chain struct {
	cluster *gen.Cluster
	broken  *topology.Graph
	fault   string // what is wrong
	want    string // the name that compare shall give it; "" for none
}

// faults are what chains plant; the last is none.
func faults() []string {
	return []string{"uplink latency", "uplink bandwidth", "uplink both", "uplink one way", "host", "moved host", "healthy"}
}

// plant makes the chain of a seed: a tree of three to five racks of three to
// seven hosts, in every other one under two or three pods.
func plant(tb testing.TB, fault string, seed uint64) *chain {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x6368))
	var racks []string
	for range 3 + rng.IntN(3) {
		racks = append(racks, fmt.Sprint(3+rng.IntN(5)))
	}
	spec := fmt.Sprintf("tree:[%s] latency=10us,2us rate=10Gbps", strings.Join(racks, ","))
	if seed%2 == 1 {
		spec = fmt.Sprintf("tree:3x%dx%d latency=10us,6us,2us rate=10Gbps", 2+rng.IntN(2), 3+rng.IntN(2))
	}
	cluster, err := gen.Parse(spec)
	if err != nil {
		tb.Fatal(err)
	}
	c := &chain{cluster: cluster, fault: fault}
	g := cluster.Graph
	var uplinks []topology.Arc // from the lower end
	for _, a := range g.Arcs() {
		if g.IsSwitch(a.From) && g.IsSwitch(a.To) && 2*len(hostsBeyond(g, a)) < g.Hosts() {
			uplinks = append(uplinks, a)
		}
	}
	up := uplinks[rng.IntN(len(uplinks))]
	by := 2.5 + 2*rng.Float64()
	host := rng.IntN(g.Hosts())
	own := g.Out(host)[0]
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		a := &arcs[i]
		there := a.From == up.From && a.To == up.To
		back := a.From == up.To && a.To == up.From
		if there || back {
			switch fault {
			case "uplink latency":
				a.Latency *= by
			case "uplink bandwidth":
				a.Bandwidth /= by
			case "uplink both":
				a.Latency *= by
				a.Bandwidth /= by
			case "uplink one way":
				if there {
					a.Bandwidth /= by
				}
			}
		}
		if a.From == host || a.To == host {
			switch fault {
			case "host":
				a.Latency *= by
			case "moved host":
				if a.From == host {
					a.To = otherRack(g, own.To)
				} else {
					a.From = otherRack(g, own.To)
				}
			}
		}
	}
	if c.broken, err = topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), nil, arcs); err != nil {
		tb.Fatal(err)
	}
	switch fault {
	case "host":
		c.want = fmt.Sprintf("link of h%d", host)
	case "moved host":
		c.want = fmt.Sprintf("host h%d", host)
	case "healthy":
	default:
		c.want = "uplink of " + hostlist.Ranges(hostsBeyond(g, up))
	}
	return c
}

// hostsBeyond are the hosts on the From side of an arc of a tree.
func hostsBeyond(g *topology.Graph, cut topology.Arc) []string {
	seen := map[int]bool{cut.From: true, cut.To: true}
	var names []string
	for queue := []int{cut.From}; len(queue) > 0; queue = queue[1:] {
		for _, a := range g.Out(queue[0]) {
			if !seen[a.To] {
				seen[a.To] = true
				queue = append(queue, a.To)
				if !g.IsSwitch(a.To) {
					names = append(names, g.Name(a.To))
				}
			}
		}
	}
	return names
}

// otherRack is the first switch with hosts that is not the given one.
func otherRack(g *topology.Graph, own int) int {
	for h := range g.Hosts() {
		if to := g.Out(h)[0].To; to != own {
			return to
		}
	}
	return own
}

// measureChain is discover on a simulated cluster, into a file. Ranks are placed by
// the seed: one or two on each host, in random order.
func measureChain(tb testing.TB, g *topology.Graph, seed uint64) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x706c))
	place := rng.Perm(g.Hosts())
	if rng.IntN(3) == 0 {
		place = append(place, place...)
	}
	overhead := simnet.Overhead{Seconds: cli.DefaultOverhead.Seconds() * (1 + rng.Float64())}
	file := filepath.Join(tb.TempDir(), "network.json")
	err := simnet.Run(g, place, &simnet.Settings{
		Send: overhead, Recv: overhead, Noise: simnet.Noise{Sigma: 0.01, Outliers: 0.01}, Seed: seed, HollowAbove: cli.DiscoverHollow,
	}, func(comm mpi.Communicator) error {
		d, err := measure.Discover(context.Background(), comm, &measure.DiscoverSettings{Sampling: measure.Sampling{Seed: seed, Samples: 8}, Patterns: -1})
		if err != nil || comm.Rank() != 0 {
			return err
		}
		return d.Network.Save(file)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

// healthy are the sound clusters of the seeds, measured once for all faults.
var healthy = make(map[uint64]*comparison.Side)

// run compares the broken cluster with the healthy one, each measured with
// noise, overheads and ranks of its own.
func (c *chain) run(tb testing.TB, seed uint64) networkComparison {
	tb.Helper()
	measured := func(g *topology.Graph, seed uint64) *comparison.Side {
		s, err := loadSide(measureChain(tb, g, seed), nil)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}
	sound, ok := healthy[seed]
	if !ok {
		sound = measured(c.cluster.Graph, 2*seed+1)
		healthy[seed] = sound
	}
	r, err := comparison.Compare(measured(c.broken, 2*seed), sound, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return networkComparison{r}
}

// named are the names of the findings, the worst first.
func (r networkComparison) named() []string {
	var names []string
	for _, f := range r.Links.Findings {
		names = append(names, f.What)
	}
	return names
}

// judge tells whether the planted fault was named first, and how many others were.
func (c *chain) judge(r networkComparison) (hit bool, others int) {
	names := r.named()
	for _, name := range names {
		if name != c.want {
			others++
		}
	}
	if c.want == "" {
		return r.status() == cli.StatusFine, others
	}
	return len(names) > 0 && names[0] == c.want && r.status() == cli.StatusDifferent, others
}

// TestChainNamesThePlantedFault: measured, fitted, written and read, a cluster
// with one fault differs from the healthy one by this fault first, and a healthy
// one by nothing. The truth is the generator's.
func TestChainNamesThePlantedFault(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for i, fault := range faults() {
		if i%3 > 0 && !tooltest.Long() {
			continue
		}
		t.Run(fault, func(t *testing.T) {
			seed := uint64(i % 2) // BenchmarkChain has fifty for each
			c := plant(t, fault, seed)
			r := c.run(t, seed)
			if hit, _ := c.judge(r); !hit {
				var text strings.Builder
				r.writeText(&text, false)
				t.Errorf("seed %d: status %d, found %q, want %q first\n%s", seed, r.status(), r.named(), c.want, text.String())
			}
		})
	}
}

// BenchmarkChain states how often the planted fault is named first, and how many
// other things are named, over 50 seeds.
func BenchmarkChain(b *testing.B) {
	for _, fault := range faults() {
		b.Run(strings.ReplaceAll(fault, " ", "-"), func(b *testing.B) {
			const seeds = 50
			hits, others := 0, 0
			for b.Loop() {
				hits, others = 0, 0
				for seed := range uint64(seeds) {
					c := plant(b, fault, seed)
					hit, more := c.judge(c.run(b, seed))
					if hit {
						hits++
					}
					others += more
				}
			}
			b.ReportMetric(100*float64(hits)/seeds, "%named-first")
			b.ReportMetric(float64(others)/seeds, "others/run")
		})
	}
}
