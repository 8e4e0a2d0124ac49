package cli

import (
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// DefaultOverhead is about what MPI libraries take to send, and to receive, a
// short message.
const DefaultOverhead = 300 * time.Nanosecond

// ownOverhead stands for what the network of --sim knows of it, or else DefaultOverhead.
const ownOverhead time.Duration = -1

// mostVertices is how many hosts and switches are simulated at most. The times between so many take gigabytes.
const mostVertices = 40_000

// Simulator returns a runner on a simulated cluster and the number of its hosts, with the overhead per
// message of sender and receiver, and with faults. Messages above so many bytes carry no
// content, 0: all carry theirs. Timings scatter by 1 % unless a fault says otherwise. For stderr see LoadNetwork.
func Simulator(stderr io.Writer, spec, placement string, overhead time.Duration, hollowAbove int, faults ...string) (Runner, int, error) {
	if mpi.Launched() >= 0 {
		return nil, 0, BadInput("a simulation (--sim) is one process: start it without a launcher")
	}
	if overhead < 0 && overhead != ownOverhead {
		return nil, 0, BadInput("--overhead %s: want at least 0", overhead)
	}
	cluster, network, err := simulatedMachine(stderr, spec)
	if err != nil {
		return nil, 0, err
	}
	send, recv := overhead.Seconds(), overhead.Seconds()
	if overhead == ownOverhead {
		send, recv = DefaultOverhead.Seconds(), DefaultOverhead.Seconds()
		if s, r, known := overheadsOf(network); known {
			send, recv = s, r
			if cluster.Graph, err = withoutOverheads(cluster.Graph, send, recv); err != nil {
				return nil, 0, BadInput("%w", err)
			}
		}
	}
	wrong := simnet.Settings{Noise: simnet.Noise{Sigma: 0.01}, Seed: 1}
	for _, fault := range faults {
		if cluster.Graph, err = scenario.AddFault(&wrong, fault, cluster.Graph); err != nil {
			return nil, 0, BadInput("--fault: %w", err)
		}
	}
	return func(ranks int, work func(mpi.Communicator) error) error {
		if ranks < 0 {
			return BadInput("--ranks %d: want at least 1", ranks)
		}
		if ranks == 0 {
			ranks = cluster.Graph.Hosts()
		}
		place, err := scenario.Placement(placement, ranks, cluster.Graph, cluster.Hierarchy, cluster.Node)
		if err != nil {
			return BadInput("--placement: %w", err)
		}
		settings := cluster.Settings()
		settings.Send.Seconds, settings.Recv.Seconds = send, recv
		settings.Faults, settings.Noise, settings.Seed, settings.HollowAbove = wrong.Faults, wrong.Noise, wrong.Seed, hollowAbove
		for _, lost := range wrong.Faults.Lost {
			if lost.Rank >= ranks {
				return BadInput("--fault \"lost %d\": the job has %s", lost.Rank, words.Count(ranks, "rank"))
			}
		}
		err = simnet.Run(cluster.Graph, place, settings, work)
		var input *InputError
		if errors.As(err, &input) {
			return input // without the rank: all found it
		}
		return err
	}, cluster.Graph.Hosts(), nil
}

// SimulatedCluster is that of a line, or of a file that holds a network or a graph.
func SimulatedCluster(spec string) (*simnet.Cluster, error) {
	c, _, err := simulatedMachine(nil, spec)
	return c, err
}

// simulatedMachine is SimulatedCluster with the network, if there is one.
func simulatedMachine(stderr io.Writer, spec string) (*simnet.Cluster, *model.Network, error) {
	if info, err := os.Stat(spec); err != nil || info.IsDir() {
		if !strings.Contains(spec, ":") {
			return nil, nil, BadInput("%s: no such file, and no cluster such as tree:2x4x8", spec)
		}
		if err := gen.Check(spec, mostVertices); err != nil {
			return nil, nil, BadInput("%w", err)
		}
		cluster, err := simnet.ParseCluster(spec)
		if err != nil {
			return nil, nil, BadInput("%w", err)
		}
		return cluster, nil, nil
	}
	n, err := LoadNetwork(stderr, spec)
	if err != nil {
		return nil, nil, err
	}
	if n.Ranks() > mostVertices {
		return nil, nil, BadInput("%s: %d ranks: want at most %d", spec, n.Ranks(), mostVertices)
	}
	g, err := n.NameHosts(n.Graph())
	if err != nil {
		return nil, nil, BadInput("%w", err)
	}
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Latency) || math.IsNaN(a.Bandwidth) {
			return nil, nil, BadInput("%s: link %s-%s: its latency or bandwidth is not known, and cannot be simulated", spec, g.Name(a.From), g.Name(a.To))
		}
	}
	return &simnet.Cluster{Graph: g, Hierarchy: n.Hierarchy(), Routing: n.Settings().Routing}, n, nil
}

// overheadsOf are the overheads os and or of a short message in s, of the finest level of a network that has
// both. Those of long ones are no cost of a CPU alone: a synchronous send waits for the receiver.
func overheadsOf(n *model.Network) (send, recv float64, known bool) {
	if n == nil {
		return 0, 0, false
	}
	for _, l := range n.Levels() {
		if len(l.Send) > 0 && len(l.Recv) > 0 {
			return l.Send[0], l.Recv[0], true
		}
	}
	return 0, 0, false
}

// withoutOverheads takes the overheads, which measured latencies hold, out of the links of the hosts, so that a
// simulated message takes as long as the network says. Where hosts are linked to several others it changes nothing: ways
// go through hosts, too.
func withoutOverheads(g *topology.Graph, send, recv float64) (*topology.Graph, error) {
	arcs := slices.Clone(g.Arcs())
	links := make([]int, g.Hosts())
	for i := range arcs {
		a := &arcs[i]
		switch {
		case a.From < g.Hosts() && a.To < g.Hosts():
			return g, nil
		case a.From < g.Hosts():
			links[a.From]++
			a.Latency = max(0, a.Latency-send)
		case a.To < g.Hosts():
			a.Latency = max(0, a.Latency-recv)
		}
	}
	if slices.ContainsFunc(links, func(count int) bool { return count > 1 }) {
		return g, nil
	}
	return g.WithArcs(arcs)
}

// Date is kept with what is measured; what is simulated has none, so that the
// same command writes the same file on every day.
func Date(comm mpi.Communicator) time.Time {
	if _, is := comm.(*simnet.Comm); is {
		return time.Time{}
	}
	return time.Now().UTC().Truncate(time.Second)
}

// Measured is what a network keeps of being measured now by a program.
func Measured(comm mpi.Communicator, tool string) model.Metadata {
	m := model.Metadata{Tool: tool}
	if date := Date(comm); !date.IsZero() {
		m.Date = date.Format(time.RFC3339)
	}
	return m
}

// DiscoverHollow is the size in bytes above which simulated messages carry nothing: those of
// discover do not but for the long ones, whose time is all that counts.
const DiscoverHollow = 256<<10 - 1

// SimulatedSamples are those of a pair: simulated times scatter by 1 %.
const SimulatedSamples = 5
