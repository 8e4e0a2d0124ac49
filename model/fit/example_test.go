package fit_test

import (
	"fmt"
	"log"
	"math"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
)

// twoRacks is a reconstruction: hosts 0 and 1 on switch 4, 2 and 3 on switch
// 5; messages of 8 bytes take 10 us in a rack and 30 us between racks.
func twoRacks(bandwidth float64) *topology.Result {
	var arcs []topology.Arc
	for host := range 4 {
		arcs = topology.AppendLink(arcs, host, 4+host/2, 5e-6, bandwidth)
	}
	graph, err := topology.NewGraph(4, 2, nil, topology.AppendLink(arcs, 4, 5, 20e-6, bandwidth))
	if err != nil {
		log.Fatal(err)
	}
	hierarchy, err := topology.NewHierarchy(4,
		[]topology.Level{{Name: "rack", Latency: 10e-6, Confidence: 1}},
		[]topology.Group{{Hosts: []int{0, 1}, Latency: 10e-6, Confidence: 1}, {Hosts: []int{2, 3}, Latency: 10e-6, Confidence: 1}}, 30e-6)
	if err != nil {
		log.Fatal(err)
	}
	return &topology.Result{Graph: graph, Hierarchy: hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}
}

// Timed transfers tell bandwidths: each alone that of the slower host's link,
// two over the uplink that of the uplink, which they share. Of the two fastest hosts
// only a lower bound shows: nothing tells which of them holds up the transfers between them.
func ExampleNetwork() {
	hosts := []float64{120e6, 100e6, 110e6, 90e6} // B/s, what is to be found
	const uplink = 150e6
	var seen []fit.Observation
	for src, a := range hosts {
		for dst, b := range hosts {
			if src != dst {
				seen = append(seen, fit.Observation{
					Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: 10e6}}, Seconds: []float64{10e6 / min(a, b)},
				})
			}
		}
	}
	for range 4 {
		seen = append(seen, fit.Observation{
			Transfers: []model.Transfer{{Src: 0, Dst: 2, Bytes: 10e6}, {Src: 1, Dst: 3, Bytes: 10e6}},
			Seconds:   []float64{10e6 / (uplink / 2), 10e6 / (uplink / 2)},
		})
	}
	fitted, err := fit.Network(twoRacks(math.NaN()), seen, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range fitted.Links {
		fmt.Printf("%d-%d: %.0f MB/s, determined: %v\n", c.A, c.B, c.Bandwidth/1e6, c.Determined)
	}
	fmt.Println(fitted.Warnings[0])
	// Output:
	// 0-4: 110 MB/s, determined: false
	// 1-4: 100 MB/s, determined: true
	// 2-5: 110 MB/s, determined: false
	// 3-5: 90 MB/s, determined: true
	// 4-5: 150 MB/s, determined: true
	// 2 of 5 links hold hardly a transfer up, their bandwidths may be higher: h0-s0 at least about 110 MB/s and 1 more
}
