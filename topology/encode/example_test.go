package encode_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
)

// A matrix as people have it: with names, in us, and one direction only. It is
// written with its unit, so that nobody has to know it again.
func ExampleReadMatrix() {
	const file = `
;n1;n2;n3
n1;0;2,5;40
n2;;0;40,5
n3;;;0
`
	l, err := encode.ReadMatrix(strings.NewReader(file), encode.Microsecond)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("from n3 to n1:", l.Matrix.At(2, 0), "s")
	if err := encode.WriteMatrix(os.Stdout, l.Matrix, l.Names, l.Unit); err != nil {
		log.Fatal(err)
	}
	// Output:
	// from n3 to n1: 4e-05 s
	// # topocast latencies, unit: us
	// n1,n2,n3
	// ,2.5,40
	// 2.5,,40.5
	// 40,40.5,
}

// A file that names its unit needs no other.
func ExampleReadMatrix_unit() {
	l, err := encode.ReadMatrix(strings.NewReader("# unit: ns\n0 80\n85 0\n"), 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Matrix.At(1, 0), "s, from", l.Unit, "by the file:", l.UnitStated)
	// Output: 8.5e-08 s, from ns by the file: true
}

// Two hosts on a switch.
func ExampleWriteGraph() {
	var arcs []topology.Arc
	for host := range 2 {
		arcs = topology.AppendLink(arcs, host, 2, 5e-6, 1.25e9) // both directions: s, B/s
	}
	g, err := topology.NewGraph(2, 1, []string{"n1", "n2", "switch"}, arcs)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := encode.WriteGraph(&file, g); err != nil {
		log.Fatal(err)
	}
	fmt.Print(file.String())
	again, err := encode.ReadGraph(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Hosts(), "hosts,", again.NumArcs(), "arcs")
	// Output:
	// {"format":"topocast/graph","version":2,"hosts":["n1","n2"],"switches":["switch"],"links":[{"a":0,"b":2,"latency_s":0.000005,"bandwidth_Bps":1250000000},{"a":1,"b":2,"latency_s":0.000005,"bandwidth_Bps":1250000000}]}
	// 2 hosts, 4 arcs
}

// A platform file, as other tools describe clusters: us and MB/s, ends by name.
func ExampleReadGraph() {
	const platform = `{"graph": {"hosts": ["a", "b"], "switches": ["s"], "links": [
		{"a": "a", "b": "s", "latency_us": 5, "bandwidth_MBps": 1250},
		{"a": "b", "b": "s", "latency_us": 5, "bandwidth_MBps": 1250}]}}`
	g, err := encode.ReadGraph(strings.NewReader(platform))
	if err != nil {
		log.Fatal(err)
	}
	for _, arc := range g.Arcs() {
		if arc.From < arc.To {
			fmt.Printf("%s %s: %.0f us, %.2f GB/s\n", g.Name(arc.From), g.Name(arc.To), 1e6*arc.Latency, arc.Bandwidth/1e9)
		}
	}
	// Output:
	// a s: 5 us, 1.25 GB/s
	// b s: 5 us, 1.25 GB/s
}

// What a reconstruction has found, without its graph.
func ExampleWriteHierarchy() {
	l, err := encode.ReadMatrix(strings.NewReader("0,1,9,9\n1,0,9,9\n9,9,0,1\n9,9,1,0\n"), encode.Microsecond)
	if err != nil {
		log.Fatal(err)
	}
	found, err := cluster.Nested{}.Reconstruct(l.Matrix)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := encode.WriteHierarchy(&file, found); err != nil {
		log.Fatal(err)
	}
	again, err := encode.ReadHierarchy(&file)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range again.Hierarchy.Groups()[1:] {
		fmt.Println(again.Hierarchy.Levels()[g.Level].Name, g.Hosts)
	}
	// Output:
	// level 1 [0 1]
	// level 1 [2 3]
}

// The same with its graph, and the names of the hosts.
func ExampleWriteResult() {
	l, err := encode.ReadMatrix(strings.NewReader("# unit: us\n,n1,n2,n3,n4\nn1,0,1,9,9\nn2,1,0,9,9\nn3,9,9,0,1\nn4,9,9,1,0\n"), 0)
	if err != nil {
		log.Fatal(err)
	}
	found, err := cluster.Nested{}.Reconstruct(l.Matrix)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := encode.WriteResult(&file, found, l.Names); err != nil {
		log.Fatal(err)
	}
	again, names, err := encode.ReadResult(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names, "below", again.Graph.Vertices()-again.Graph.Hosts(), "switches")
	// Output: [n1 n2 n3 n4] below 3 switches
}

// Two racks of two hosts, as Slurm is told of them.
func ExampleNewFabric() {
	l, err := encode.ReadMatrix(strings.NewReader("# unit: us\n0 1 9 9\n1 0 9 9\n9 9 0 1\n9 9 1 0\n"), 0)
	if err != nil {
		log.Fatal(err)
	}
	found, err := cluster.Nested{}.Reconstruct(l.Matrix)
	if err != nil {
		log.Fatal(err)
	}
	f, warnings, err := encode.NewFabric(found.Graph, found.Hierarchy, []string{"tux8", "tux9", "tux10", "tux11"})
	if err != nil {
		log.Fatal(err)
	}
	if err := encode.WriteSlurmConf(os.Stdout, f); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(warnings), "warnings")
	// Output:
	// # Slurm, topology/tree: 4 hosts, leaf switches: 2
	// SwitchName=tier0-1 Nodes=tux[8-9]
	// SwitchName=tier0-2 Nodes=tux[10-11]
	// SwitchName=root Switches=tier0-[1-2]
	// 0 warnings
}

// A file of a site, and its hosts as groups.
func ExampleReadFabric() {
	const file = `
SwitchName=s0 Nodes=tux[0-2]
SwitchName=s1 Nodes=tux[3-4]
SwitchName=top Switches=s[0-1]
`
	f, err := encode.ReadFabric([]byte(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	h, err := f.Hierarchy(f.Hosts())
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range h.Groups()[1:] {
		fmt.Println(g.Hosts)
	}
	// Output:
	// [0 1 2]
	// [3 4]
}
