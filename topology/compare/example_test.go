package compare_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// star is six hosts on one switch, by links of the given latencies in us.
func star(latencies ...float64) *topology.Graph {
	var arcs []topology.Arc
	names := []string{"a", "b", "c", "d", "e", "f", "switch"}
	for host, latency := range latencies {
		arcs = topology.AppendLink(arcs, host, len(latencies), latency*1e-6, 1.25e9)
	}
	g, err := topology.NewGraph(len(latencies), 1, names, arcs)
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// Six hosts, 1 us from their switch by specification. Measured are 1.5 us of each,
// which is another library, and 3 us of host d: twice as slow as what all links have
// in common.
func ExampleLinks() {
	specified := star(1, 1, 1, 1, 1, 1)
	measured := star(1.5, 1.5, 1.5, 3, 1.5, 1.5)
	found, err := compare.Links(measured, specified, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("all links: %.1f times the specified latency\n", found.Latency)
	for _, finding := range found.Findings {
		link := found.Links[finding.Link] // of other kinds of findings it is -1
		fmt.Printf("%s: %s-%s, %.1f times\n", finding.Kind, specified.Name(link.U), specified.Name(link.V), finding.Times)
	}
	// Output:
	// all links: 1.5 times the specified latency
	// slow: switch-d, 2.0 times
}

// A ring of four hosts as specified, and as it was found: link b-c in one direction
// only, link d-a with a probability of a half, as of two message lengths one shows
// it. Similarity is the mean over the links, (1 + 1/2 + 1 + 1/2)/4 = 75 % (Bannikov and
// Salnikov 2014, section 2.3).
func ExampleSimilarity() {
	names := []string{"a", "b", "c", "d"}
	ring := func(arcs []topology.Arc) *topology.Graph {
		g, err := topology.NewGraph(4, 0, names, arcs)
		if err != nil {
			log.Fatal(err)
		}
		return g
	}
	var specified, found []topology.Arc
	for host := range 4 {
		specified = topology.AppendLink(specified, host, (host+1)%4, 1e-6, 1e9)
	}
	for _, arc := range specified {
		switch {
		case arc.From == 2 && arc.To == 1:
			continue
		case arc.From+arc.To == 3 && arc.From*arc.To == 0:
			arc.Probability = 0.5
		}
		found = append(found, arc)
	}
	fmt.Printf("%.0f %% similar\n", compare.Similarity(ring(found), ring(specified)))
	// Output:
	// 75 % similar
}

// Two switches with four hosts each, as specified; host 3 was found on the other one.
func ExampleGroups() {
	groups := func(sets ...[]int) *topology.Hierarchy {
		var list []topology.Group
		for _, hosts := range sets {
			list = append(list, topology.Group{Hosts: hosts, Latency: 2e-6, Confidence: 1})
		}
		h, err := topology.NewHierarchy(8, []topology.Level{{Name: "switch"}}, list, 3e-6)
		if err != nil {
			log.Fatal(err)
		}
		return h
	}
	specified := groups([]int{0, 1, 2, 3}, []int{4, 5, 6, 7})
	measured := groups([]int{0, 1, 2}, []int{3, 4, 5, 6, 7})
	comparison, err := compare.Groups(measured, specified)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("missing:", comparison.Missing)
	fmt.Println("extra:", comparison.Extra)
	for _, host := range comparison.Moved {
		fmt.Printf("host %d is in other groups than specified\n", host)
	}
	// Output:
	// missing: [[0 1 2 3] [4 5 6 7]]
	// extra: [[0 1 2] [3 4 5 6 7]]
	// host 3 is in other groups than specified
}
