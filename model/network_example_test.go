package model_test

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

var nan = math.NaN() // not measured

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

// What a tool has saved, an application loads, and asks for times.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "network")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "network.json")
	made, err := model.New(twoRacks(100e6), &model.Settings{
		LevelBandwidth: []float64{100e6, 100e6}, Measured: model.Metadata{Bytes: 8},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := made.Save(path); err != nil {
		log.Fatal(err)
	}

	n, err := model.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("8 bytes: %.0f us in the rack, %.0f us across\n", n.Time(0, 1, 8)*1e6, n.Time(0, 2, 8)*1e6)
	fmt.Printf("10 MB across: %.3f s\n", n.Time(0, 2, 10e6))
	// Output:
	// 8 bytes: 10 us in the rack, 30 us across
	// 10 MB across: 0.100 s
}

// What if another job ran too, the uplink had half its bandwidth, or ranks 1
// and 2 changed places besides? 100 MB take 1 s over a free link of 100 MB/s.
func ExamplePredictor_Predict() {
	n, err := model.FromGraph(twoRacks(100e6).Graph, topology.ChooseLowest)
	if err != nil {
		log.Fatal(err)
	}
	uplink := n.Graph().ArcIndex(4, 5)
	p, err := n.NewPredictor(&model.PredictSettings{NoLatency: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		transfers []model.Transfer
		bandwidth float64 // of the uplink, B/s
	}{
		{"as it is", []model.Transfer{{Src: 0, Dst: 2, Bytes: 100e6}, {Src: 3, Dst: 1, Bytes: 50e6}}, 100e6},
		{"another job", []model.Transfer{{Src: 0, Dst: 2, Bytes: 100e6}, {Src: 3, Dst: 1, Bytes: 50e6}, {Src: 1, Dst: 3, Bytes: 200e6}}, 100e6},
		{"half an uplink", []model.Transfer{{Src: 0, Dst: 2, Bytes: 100e6}, {Src: 3, Dst: 1, Bytes: 50e6}}, 50e6},
		{"and other places", []model.Transfer{{Src: 0, Dst: 1, Bytes: 100e6}, {Src: 3, Dst: 2, Bytes: 50e6}}, 50e6},
	} {
		if err := p.SetBandwidth(uplink, c.bandwidth); err != nil {
			log.Fatal(err)
		}
		times, err := p.Predict(nil, c.transfers)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.1f s, %.1f s\n", c.name, times[0], times[1])
	}
	// Output:
	// as it is: 1.0 s, 0.5 s
	// another job: 2.0 s, 0.5 s
	// half an uplink: 2.0 s, 0.5 s
	// and other places: 1.0 s, 0.5 s
}

// A job got two of the hosts, in its own order, and then one that was never
// measured.
func ExampleNetwork_View() {
	n, err := model.New(twoRacks(100e6), &model.Settings{
		Locations: []model.Location{{Host: "n1"}, {Host: "n2"}, {Host: "n3"}, {Host: "n4"}},
		Measured:  model.Metadata{Bytes: 8},
	})
	if err != nil {
		log.Fatal(err)
	}
	job, err := n.View([]model.Location{{Host: "n3"}, {Host: "n1"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d ranks, %.0f us\n", job.Ranks(), job.Time(0, 1, 8)*1e6)

	others := []model.Location{{Host: "n1"}, {Host: "n2"}, {Host: "n9"}}
	_, err = n.View(others)
	fmt.Println(err)
	typical, _, err := n.OfJob(others)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("if asked: %.0f us; %s\n", typical.Time(0, 2, 8)*1e6, typical.Warnings()[0])
	// Output:
	// 2 ranks, 30 us
	// model: view: hosts that the network does not know: n9
	// if asked: 30 us; hosts that were not measured, with typical parameters: n9
}

// Servet's two queries: how much slower a message gets with the distance of
// its ranks, and with the processes of a host that send at once.
func ExampleDegradation() {
	d, err := model.NewDegradation(
		[]float64{nan, 600e6, 400e6, 300e6}, // B/s at distances 1, 2 and 3
		[]float64{nan, 1000e6, 500e6})       // B/s of 1 and 2 processes of a host
	if err != nil {
		log.Fatal(err)
	}
	n, err := model.New(twoRacks(100e6), &model.Settings{Degradation: d})
	if err != nil {
		log.Fatal(err)
	}
	d = n.Settings().Degradation
	fmt.Println(d.DistanceRatio(2), d.AccessRatio(2), d.AccessRatio(9))
	// Output:
	// 1.5 2 NaN
}
