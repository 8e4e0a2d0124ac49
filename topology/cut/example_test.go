package cut_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cut"
)

// Two racks of three hosts at 1.25 GB/s (10 Gbit/s) each, joined by one link of
// 2.5 GB/s: halves are apart at best by that link, as each host by itself would
// take three of theirs.
func ExampleBisect() {
	const left, right = 6, 7
	var arcs []topology.Arc
	for host := range 6 {
		rack := left
		if host%2 == 1 {
			rack = right
		}
		arcs = topology.AppendLink(arcs, host, rack, 1e-6, 1.25e9)
	}
	arcs = topology.AppendLink(arcs, left, right, 1e-6, 2.5e9)
	machine, err := topology.NewGraph(6, 2, nil, arcs)
	if err != nil {
		log.Fatal(err)
	}
	halves, err := cut.Bisect(machine)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f GB/s, exact: %v\n", halves.Bandwidth/1e9, halves.Exact)
	for host := range machine.Hosts() {
		fmt.Print(machine.Name(host), " with h0: ", halves.Side[host] == halves.Side[0], "\n")
	}
	// Output:
	// 2.5 GB/s, exact: true
	// h0 with h0: true
	// h1 with h0: false
	// h2 with h0: true
	// h3 with h0: false
	// h4 with h0: true
	// h5 with h0: false
}

// Bufe 2014, section 2.3.4, figure 2.21: behind switch S1 stand five switches with 2,
// 3, 3, 4 and 6 nodes. Nine nodes on either side can speak over S1, such as those of (2, 3, 4)
// to those of (3, 6).
func ExampleAtSwitch() {
	sizes := []int{2, 3, 3, 4, 6}
	const hosts, s1 = 18, 18
	var arcs []topology.Arc
	host := 0
	for i, size := range sizes {
		rack := s1 + 1 + i
		arcs = topology.AppendLink(arcs, rack, s1, 1e-6, 1e9)
		for range size {
			arcs = topology.AppendLink(arcs, host, rack, 1e-6, 1e9)
			host++
		}
	}
	machine, err := topology.NewGraph(hosts, 1+len(sizes), nil, arcs)
	if err != nil {
		log.Fatal(err)
	}
	left, right, err := cut.AtSwitch(machine, s1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(left), "hosts:", left)
	fmt.Println(len(right), "hosts:", right)
	// Output:
	// 9 hosts: [0 1 2 3 4 8 9 10 11]
	// 9 hosts: [5 6 7 12 13 14 15 16 17]
}
