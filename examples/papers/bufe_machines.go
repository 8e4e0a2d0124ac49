package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
)

// scatterOfTable31 is the noise whose half round trips have the quartiles and the mean of table 3.1:
// (1.101 - 1.061)/1.071 is 1.349 sigmas, of the mean of two messages; and outliers, 5.75 times as
// long in the mean, make the mean 1.130/1.071.
func scatterOfTable31() simnet.Noise {
	const first, median, third, mean = 1.061, 1.071, 1.101, 1.130
	return simnet.Noise{Sigma: math.Sqrt2 * (third - first) / median / 1.349, Outliers: (mean/median - 1) / (5.75 - 1)}
}

// onRanks runs work on ranks of a machine whose measurements scatter so, and returns what rank 0 has found.
func onRanks[T any](c *simnet.Cluster, place []int, work func(mpi.Communicator) (T, error)) (T, error) {
	settings := c.Settings()
	settings.Noise, settings.Seed = scatterOfTable31(), 1
	return onSimulated(c, place, settings, work)
}

// meanOf is the mean of the cells above the diagonal that are in a group of so many, or that are not.
func meanOf(table *mat.Dense, size int, inside bool) float64 {
	sum, count := 0.0, 0
	n, _ := table.Dims()
	for i := range n {
		for j := range i {
			if v := table.At(j, i); !math.IsNaN(v) && (i/size == j/size) == inside {
				sum, count = sum+v, count+1
			}
		}
	}
	return sum / float64(count)
}

// westmere are ten nodes of two sockets of six cores. Latencies are those of tables 3.5 and 3.6 in the mean. Bandwidths
// are assumed: Gigabit Ethernet, as 53 us are too long for anything faster, and some GB/s inside.
func westmere() (*simnet.Cluster, error) {
	socket, node, all := meanOf(published.Table("3.6"), 6, true), meanOf(published.Table("3.6"), 6, false), meanOf(published.Table("3.5"), 10, true)
	return simnet.ParseCluster(fmt.Sprintf("core:6 socket:2 host:10 latency=%.1fns,%.1fns,%.1fns rate=1Gbps,100Gbps,50Gbps",
		1e9*(all-node)/2, 1e9*(node-socket)/2, 1e9*socket/2))
}

// magny is one node of four sockets of two dies of six cores. Latencies are those of tables 3.7 and 3.8 in the mean. Links
// differ by up to 3 %, about as much as cells of one kind in these tables do.
func magny() (*simnet.Cluster, error) {
	die, socket, all := meanOf(published.Table("3.8"), 6, true), meanOf(published.Table("3.8"), 6, false), meanOf(published.Table("3.7"), 4, true)
	return simnet.ParseCluster(fmt.Sprintf("core:6 die:2 socket:4 spread=3%% latency=%.1fns,%.1fns,%.1fns rate=50Gbps",
		1e9*(all-socket)/2, 1e9*(socket-die)/2, 1e9*die/2))
}

// Links of a Blizzard node (section 3.3.3), in s. Type A is between a core and its processor, type B inside blocks, and type C
// between blocks. The text has 1.15 us between the cores of one processor, which is 2A. The means of the classes of table 3.9
// are 2A+B and 2A+C.
const (
	blizzardA = 1.15e-6 / 2
	blizzardB = (1.31e-6+1.30e-6+1.31e-6)/3 - 1.15e-6
	blizzardC = (1.71e-6+1.73e-6)/2 - 1.15e-6
)

// blizzardRate is what links carry: assumed, as the source does not say it.
const blizzardRate = 4e9 // B/s

// blizzardBetween are the links between the blocks of four processors: of each processor, the later ones that it is linked to. The source has them in its figure 3.2, which is not in our
// text. These agree with all that the text says. Each processor has two of them. At most two processors are on the way to
// every other one. The first processor has the classes of table 3.9.
func blizzardBetween() [][]int {
	return [][]int{{6, 8}, {4, 12}, {9, 13}, {5, 10}, {8}, {14}, {12}, {11, 15}, nil, {13}, {14}, {15}}
}

// blizzard is a node of 16 processors of two cores.
func blizzard() (*simnet.Cluster, error) {
	const processors, cores = 16, 2
	const hosts = processors * cores
	var arcs []topology.Arc
	link := func(u, v int, latency float64) { arcs = topology.AppendLink(arcs, u, v, latency, blizzardRate) }
	for h := range hosts {
		link(h, hosts+h/cores, blizzardA)
	}
	for p := range processors {
		for q := range p {
			if p/4 == q/4 {
				link(hosts+q, hosts+p, blizzardB)
			}
		}
	}
	for p, others := range blizzardBetween() {
		for _, q := range others {
			link(hosts+p, hosts+q, blizzardC)
		}
	}
	g, err := topology.NewGraph(hosts, processors, nil, arcs)
	if err != nil {
		return nil, err
	}
	return &simnet.Cluster{Graph: g, Node: make([]int, hosts)}, nil
}

// modelled are latencies of which a model is made.
type modelled struct {
	what      string
	latencies mat.Matrix
}

// tolerances are those with which models are made: by how much equal latencies may differ (equation 1.9).
func tolerances() []float64 { return []float64{0.02, 0.05, 0.1, 0.2} }

// chosen is the tolerance that counts, and widest the largest one.
const chosen, widest = 2, 3

// models makes models of latencies with all tolerances: a list for each.
func models(s *outcome.Section, name string, all []modelled) ([][]*topology.Result, error) {
	t := s.Table(name, outcome.Text("latencies"), outcome.Text("hosts on switches"), outcome.Number("eps", "%"), outcome.Number("switches", ""), outcome.Number("links", ""), outcome.Number("R2", "%"))
	found := make([][]*topology.Result, len(all))
	for i, x := range all {
		for _, eps := range tolerances() {
			r, err := (&clique.Switches{Epsilon: eps}).Reconstruct(x.latencies)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.what, err)
			}
			t.Row(x.what, hostsOnSwitches(r.Graph), 100*eps, switchesOf(r.Graph), r.Graph.NumArcs()/2, 100*r.Fit.R2)
			found[i] = append(found[i], r)
		}
	}
	return found, nil
}

func switchesOf(g *topology.Graph) int { return g.Vertices() - g.Hosts() }

// onSwitches are the numbers of hosts that switches have, if they have some, the largest first, and how many switches have
// each of them.
func onSwitches(g *topology.Graph) (sizes []int, count map[int]int) {
	count = map[int]int{}
	for v := g.Hosts(); v < g.Vertices(); v++ {
		hosts := 0
		for _, a := range g.Out(v) {
			if !g.IsSwitch(a.To) {
				hosts++
			}
		}
		if hosts > 0 {
			count[hosts]++
		}
	}
	sizes = slices.Sorted(maps.Keys(count))
	slices.Reverse(sizes)
	return sizes, count
}

// hostsOnSwitches says the same: "2 x 6".
func hostsOnSwitches(g *topology.Graph) string {
	sizes, count := onSwitches(g)
	if len(sizes) == 0 {
		return "none"
	}
	var texts []string
	for i, size := range sizes {
		if i == 2 {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, fmt.Sprintf("%d x %d", count[size], size))
	}
	return strings.Join(texts, ", ")
}

// switches are the models of the ranks of a job.
func (w *bufeWays) switches(s *outcome.Section) error {
	latencies := stats.MedianCells(w.batched[:])
	if math.IsNaN(middleOf(latencies)) {
		s.Say("No pair was measured in the time that there was: want a larger --budget.")
		return nil
	}
	s.Say("Switches that cliques of equal latency give (section 2.2), by tolerance. Measurements further apart than that make switches that there are not.")
	found, err := models(s, "models", []modelled{{"all pairs", latencies}})
	if err != nil {
		return err
	}
	return drawWiring(s, "figure-3.4", "Computed topology, as figure 3.4", found[0][chosen].Graph)
}
