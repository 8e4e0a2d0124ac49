package topology_test

import (
	"fmt"
	"log"
	"math"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"
)

// square is four hosts in a ring, 1 us from each to the next, but 4 us between the
// last and the first.
func square() *topology.Graph {
	arcs := topology.AppendLink(nil, 0, 1, 1e-6, 1e9) // s, B/s
	arcs = topology.AppendLink(arcs, 1, 2, 1e-6, 1e9)
	arcs = topology.AppendLink(arcs, 2, 3, 1e-6, 1e9)
	arcs = topology.AppendLink(arcs, 3, 0, 4e-6, 1e9)
	g, err := topology.NewGraph(4, 0, nil, arcs)
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// Gonum's algorithms take a graph with latencies as weights.
func ExampleGraph_Weighted() {
	ring := square()
	shortest := path.DijkstraFrom(simple.Node(0), ring.Weighted())
	vertices, latency := shortest.To(3)
	fmt.Printf("%v takes %.0f us, the link %.0f us\n", vertices, latency*1e6, ring.Arcs()[ring.ArcIndex(0, 3)].Latency*1e6)
	// Output:
	// [0 1 2 3] takes 3 us, the link 4 us
}

// Paths are made once for many searches. Round the ring host 3 is 3 us from host 0,
// by its own link 4 us.
func ExampleNewPaths() {
	ring := square()
	paths := topology.NewPaths(ring, nil) // by latency
	distance := make([]float64, ring.Vertices())
	for _, v := range paths.From(0, distance) { // the nearest first
		fmt.Printf("to %d: %.0f us\n", v, distance[v]*1e6)
	}
	tree := paths.Tree(0)
	fmt.Printf("the next best path to 3 is %.0f us longer\n", tree.Excess[3]*1e6)
	// Output:
	// to 0: 0 us
	// to 1: 1 us
	// to 2: 2 us
	// to 3: 3 us
	// the next best path to 3 is 1 us longer
}

// A fat tree of four hosts: two leaf switches, each joined to two spines. From
// host 0 to hosts 2 and 3 two routes are equally short. The lowest choice takes the
// first spine for both, d-mod-k the spine number d mod 2 to host d.
func ExampleNewRoutes() {
	const leaf0, leaf1, spine0, spine1 = 4, 5, 6, 7
	var arcs []topology.Arc
	for host, leaf := range []int{leaf0, leaf0, leaf1, leaf1} {
		arcs = topology.AppendLink(arcs, host, leaf, 1e-6, 1e9)
	}
	for _, leaf := range []int{leaf0, leaf1} {
		for _, spine := range []int{spine0, spine1} {
			arcs = topology.AppendLink(arcs, leaf, spine, 1e-6, 1e9)
		}
	}
	fatTree, err := topology.NewGraph(4, 4, []string{"h0", "h1", "h2", "h3", "leaf0", "leaf1", "spine0", "spine1"}, arcs)
	if err != nil {
		log.Fatal(err)
	}
	for _, choice := range []topology.RouteChoice{topology.ChooseLowest, topology.ChooseModulo} {
		routes, err := topology.NewRoutes(fatTree, choice)
		if err != nil {
			log.Fatal(err)
		}
		var route []int32 // numbers of arcs; the memory is used again
		for to := 2; to < 4; to++ {
			if route, err = routes.AppendRoute(route[:0], 0, to); err != nil {
				log.Fatal(err)
			}
			fmt.Print(choice, ": h0")
			for _, arc := range route {
				fmt.Print(" ", fatTree.Name(fatTree.Arcs()[arc].To))
			}
			fmt.Println()
		}
	}
	// Output:
	// lowest: h0 leaf0 spine0 leaf1 h2
	// lowest: h0 leaf0 spine0 leaf1 h3
	// modulo: h0 leaf0 spine0 leaf1 h2
	// modulo: h0 leaf0 spine1 leaf1 h3
}

// Three hosts, of which arc 2->1 was found with half of the message lengths. A channel is drawn
// as long as its mean latency, the shortest as 1 (Bannikov and Salnikov 2014,
// section 2.2). By hand: 0-1 has p = q = 1 and takes (2+2)/2 = 2 us; 1-2
// has 1 and 1/2 and takes (3*1 + 6*0.5)/1.5 = 4 us, with the shade (1+0.25)/1.5 = 0.83.
func ExampleGraph_Channels() {
	none := math.NaN() // bandwidths are not known
	merged, err := topology.NewGraph(3, 0, nil, []topology.Arc{
		{From: 0, To: 1, Latency: 2e-6, Bandwidth: none, Probability: 1},
		{From: 1, To: 0, Latency: 2e-6, Bandwidth: none, Probability: 1},
		{From: 1, To: 2, Latency: 3e-6, Bandwidth: none, Probability: 1},
		{From: 2, To: 1, Latency: 6e-6, Bandwidth: none, Probability: 0.5},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range merged.Channels() {
		fmt.Printf("%d-%d: length %.2f, probability %.2f, shade %.2f\n", c.U, c.V, c.Length, c.Probability, c.Shade)
	}
	// Output:
	// 0-1: length 1.00, probability 2.00, shade 1.00
	// 1-2: length 2.00, probability 1.50, shade 0.83
}

// The cluster of Bufe 2014, section 3.3.1: ten nodes on one switch (table 3.5), each
// of which has two sockets of six cores (table 3.6), are joined to the machine of
// figure 3.1.
func ExampleJoin() {
	cluster, err := (&clique.Switches{Epsilon: 0.05}).Reconstruct(published.Table("3.5"))
	if err != nil {
		log.Fatal(err)
	}
	node, err := (&clique.Switches{}).Reconstruct(published.Table("3.6"))
	if err != nil {
		log.Fatal(err)
	}
	var nodes []topology.NodeModel
	for range cluster.Graph.Hosts() {
		// Core 0 took part in the measurements between the nodes.
		nodes = append(nodes, topology.NodeModel{Result: node, External: -1, Core: 0})
	}
	machine, err := topology.Join(cluster, nodes)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(machine.Graph.Hosts(), "cores")
	for i, level := range machine.Hierarchy.Levels() {
		fmt.Printf("%s: %d groups\n", level.Name, len(machine.Hierarchy.GroupsAt(i)))
	}
	// Output:
	// 120 cores
	// level 1: 20 groups
	// node: 10 groups
}

// nearest is a Reconstructor of one's own: a link is what takes no longer than
// Limit.
type nearest struct {
	Limit float64 // s
}

var _ topology.Reconstructor = nearest{}

func (m nearest) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if len(repetitions) != 1 {
		return nil, fmt.Errorf("nearest: %d repetitions: want 1", len(repetitions))
	}
	latencies := mat.DenseCopyOf(repetitions[0])
	n, _ := latencies.Dims()
	var arcs []topology.Arc
	for i := range n {
		for j := range n {
			if v := latencies.At(i, j); i != j && v <= m.Limit {
				arcs = append(arcs, topology.Arc{From: i, To: j, Latency: v, Bandwidth: math.NaN(), Probability: 1})
			}
		}
	}
	g, err := topology.NewGraph(n, 0, nil, arcs)
	if err != nil {
		return nil, err
	}
	return topology.NewResult(g, latencies.RawMatrix().Data, 0, math.NaN(), nil)
}

// NewResult makes a Result of what a method of one's own has found: four hosts in a line,
// of which the sums of its links explain all measurements.
func ExampleNewResult() {
	result, err := nearest{Limit: 1.5e-6}.Reconstruct(mat.NewDense(4, 4, []float64{
		0, 1e-6, 2e-6, 3e-6,
		1e-6, 0, 1e-6, 2e-6,
		2e-6, 1e-6, 0, 1e-6,
		3e-6, 2e-6, 1e-6, 0,
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d arcs, R2 %.2f\n", result.Fit.Family, result.Graph.NumArcs(), result.Fit.R2)
	// Output:
	// mesh, 6 arcs, R2 1.00
}

// Of two groups that a method has found, one is not set off clearly: the hierarchy
// without it is what to plan with.
func ExampleHierarchy_Confident() {
	found, err := topology.NewHierarchy(6, []topology.Level{{Name: "switch", Latency: 2e-6}}, []topology.Group{
		{Hosts: []int{0, 1, 2}, Latency: 2e-6, Confidence: 0.97},
		{Hosts: []int{3, 4, 5}, Latency: 2e-6, Confidence: 0.61},
	}, 3e-6)
	if err != nil {
		log.Fatal(err)
	}
	confident := found.Confident(topology.ConfidentFrom)
	for _, h := range []*topology.Hierarchy{found, confident} {
		for _, group := range h.Groups()[1:] { // the first is all hosts
			fmt.Print(group.Hosts, " ")
		}
		fmt.Printf("and 3 to 4: %.0f us\n", h.Latency(3, 4)*1e6)
	}
	// Output:
	// [0 1 2] [3 4 5] and 3 to 4: 2 us
	// [0 1 2] and 3 to 4: 3 us
}
