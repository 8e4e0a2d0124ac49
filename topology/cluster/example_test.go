package cluster_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
)

// measured are the latencies in s of eight cores, as LGate would find them: two
// nodes of two sockets of two cores, 1 us within a socket, 2 us between sockets
// and 10 us between nodes.
func measured() *mat.Dense {
	m := mat.NewDense(8, 8, nil)
	for i := range 8 {
		for j := range 8 {
			switch {
			case i/4 != j/4:
				m.Set(i, j, 10e-6)
			case i/2 != j/2:
				m.Set(i, j, 2e-6)
			case i != j:
				m.Set(i, j, 1e-6)
			}
		}
	}
	return m
}

func distances() mat.Symmetric {
	d, err := cluster.NewDistances(measured())
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// From latencies to groups of cores: the sockets, in which the density is
// highest.
func Example() {
	d, err := cluster.NewDistances(measured()) // or of your own matrix
	if err != nil {
		log.Fatal(err)
	}
	labels, err := cluster.HDBSCAN{}.Cluster(d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(labels)
	fmt.Println(labels.Groups())
	// Output:
	// [0 0 1 1 2 2 3 3]
	// [[0 1] [2 3] [4 5] [6 7]]
}

// The tree as nested groups, level by level.
func ExampleNested_Hierarchy() {
	h, err := cluster.Nested{Ratio: 1.25}.Hierarchy(distances()) // latencies of nested groups differ by a quarter at least
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range h.Groups() {
		fmt.Printf("%v %.0f us\n", g.Hosts, 1e6*g.Latency)
	}
	// Output:
	// [0 1 2 3 4 5 6 7] 10 us
	// [0 1 2 3] 2 us
	// [4 5 6 7] 2 us
	// [0 1] 1 us
	// [2 3] 1 us
	// [4 5] 1 us
	// [6 7] 1 us
}

// A method as a topology.Reconstructor: repetitions in, graph and hierarchy out.
func ExampleFlat() {
	result, err := cluster.Flat{Clusterer: cluster.KMedoids{K: 2}}.Reconstruct(measured())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Graph.Hosts(), "cores below", result.Graph.Vertices()-result.Graph.Hosts(), "switches")
	for _, g := range result.Hierarchy.Groups()[1:] {
		fmt.Println(g.Hosts)
	}
	// Output:
	// 8 cores below 3 switches
	// [0 1 2 3]
	// [4 5 6 7]
}

// Rank 3 is in the wrong node: of 28 pairs 12 are together in one, 13 in the other and 9 in
// both, where chance has 12*13/28 = 5.57. (9-5.57) / (12.5-5.57) = 0.49.
func ExampleAdjustedRand() {
	nodes := cluster.Labels{0, 0, 0, 0, 1, 1, 1, 1}
	found := cluster.Labels{0, 0, 0, 1, 1, 1, 1, 1}
	fmt.Printf("%.2f\n", cluster.AdjustedRand(found, nodes))
	// Output: 0.49
}

// The nodes stand further apart than the sockets, by the mean distance inside
// (5/3 us, 1 us) against that to the next cluster (10 us, 2 us): 1 - 1/6, 1 - 1/2.
func ExampleSilhouette() {
	d := distances()
	fmt.Printf("nodes   %.2f\n", cluster.Silhouette(d, cluster.Labels{0, 0, 0, 0, 1, 1, 1, 1}))
	fmt.Printf("sockets %.2f\n", cluster.Silhouette(d, cluster.Labels{0, 0, 1, 1, 2, 2, 3, 3}))
	// Output:
	// nodes   0.83
	// sockets 0.50
}

// By the longest step inside a cluster (2 us, 1 us) against the shortest out of it
// (10 us, 2 us).
func ExampleDBCV() {
	d := distances()
	fmt.Printf("nodes   %.2f\n", cluster.DBCV(d, cluster.Labels{0, 0, 0, 0, 1, 1, 1, 1}, 1))
	fmt.Printf("sockets %.2f\n", cluster.DBCV(d, cluster.Labels{0, 0, 1, 1, 2, 2, 3, 3}, 1))
	// Output:
	// nodes   0.80
	// sockets 0.50
}
