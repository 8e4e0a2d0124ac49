package placement_test

import (
	"fmt"
	"log"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/topology"
)

// twoHosts has cores 0 to 3 on host a and 4 to 7 on host b, 1 us apart on one host and 11 us
// across; links carry 1 GB/s. Servet has found that two processes of a host slow each other
// down by what access says.
func twoHosts(access ...float64) *model.Network {
	var arcs []topology.Arc
	var at []model.Location
	for core := range 8 {
		arcs = topology.AppendLink(arcs, core, 8+core/4, 0.5e-6, 1e9)
		at = append(at, model.Location{Host: string(rune('a' + core/4)), Core: core % 4})
	}
	arcs = topology.AppendLink(arcs, 8, 9, 10e-6, 1e9)
	g, err := topology.NewGraph(8, 2, nil, arcs)
	if err != nil {
		log.Fatal(err)
	}
	h, err := topology.NewHierarchy(8, []topology.Level{{Name: "host", Latency: 1e-6, Confidence: 1}}, []topology.Group{
		{Hosts: []int{0, 1, 2, 3}, Latency: 1e-6, Confidence: 1}, {Hosts: []int{4, 5, 6, 7}, Latency: 1e-6, Confidence: 1},
	}, 11e-6)
	if err != nil {
		log.Fatal(err)
	}
	s := &model.Settings{Locations: at, LevelBandwidth: []float64{1e9, 1e9}}
	if access != nil {
		s.Degradation = &model.Degradation{Access: access}
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, s)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

// Ranks 0 and 5, and 1 and 4, exchange a megabyte, the others nothing. In order they stand on different
// hosts: four messages of 1 ms, and 11 us each. Placed by their traffic they stand on one: 1 us each.
func Example() {
	n := twoHosts()
	traffic := mat.NewDense(6, 6, nil)
	for _, p := range [][2]int{{0, 5}, {1, 4}} {
		traffic.Set(p[0], p[1], 1e6)
		traffic.Set(p[1], p[0], 1e6)
	}
	inOrder := []int{0, 1, 2, 3, 4, 5}
	place, err := placement.ByTraffic{}.Place(n, traffic)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range [][]int{inOrder, place} {
		cost, err := placement.Cost(n, traffic, p)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f ms\n", cost*1e3)
	}
	// Output:
	// 4.044 ms
	// 4.004 ms
}

// Servet 3.0, section 6.2: where processes of a host disturb each other, one per host
// comes first.
func ExampleServet() {
	n := twoHosts(math.NaN(), 1, 1.9)
	for _, memoryBound := range []bool{false, true} {
		place, err := placement.Servet{MemoryBound: memoryBound}.Place(n, 2)
		if err != nil {
			log.Fatal(err)
		}
		if err := placement.Write(os.Stdout, "text", n, place); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 0 a:0
	// 1 b:0
	// 0 a:0
	// 1 b:0
}

// Servet 3.0, section 6.1, figure 5: a 2 x 4 grid that sends most along its rows keeps each of
// them on one host; one that sends most along its columns does not.
func ExampleOrient() {
	n := twoHosts()
	for _, g := range []placement.Grid{
		{Rows: 2, Cols: 4, RowBytes: 1e6, ColBytes: 1e3},
		{Rows: 4, Cols: 2, RowBytes: 1e3, ColBytes: 1e6},
	} {
		o, err := placement.Orient(n, g)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d x %d: by rows %v; row 1, column 1 is rank %d\n", g.Rows, g.Cols, o.ByRows, o.Rank(g, 1, 1))
	}
	// Output:
	// 2 x 4: by rows true; row 1, column 1 is rank 5
	// 4 x 2: by rows false; row 1, column 1 is rank 5
}
