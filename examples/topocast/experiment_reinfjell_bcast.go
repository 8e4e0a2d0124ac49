package main

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
)

// broadcastsOfThesis are those of tables 6.1 and 6.2: "binary tree with swap" is split-binary, a pipeline is a segmented
// chain, and scatter-gather is scatter-ring.
func broadcastsOfThesis() []schedule.Algorithm {
	return []schedule.Algorithm{
		schedule.Flat{},
		schedule.Chain{},
		schedule.Binary{},
		schedule.SplitBinary{},
		schedule.ScatterRing{},
		schedule.MagPIe{},
		schedule.Magpie2{},
		schedule.Interpipe{},
	}
}

// broadcastSizes are those of figure 6.12 and tables 6.4 and 6.6.
func broadcastSizes() []int {
	return []int{1, 8, 256, 512, 2048, 4096, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 23}
}

// A broadcastMachine is one on which chapter 6 broadcasts.
type broadcastMachine struct {
	name    string
	spec    string
	large   bool // with --full only
	printed speedUp
	intel   speedUp // over Intel MPI's
}

// A speedUp is what the thesis prints of one: at least, about, or a value.
type speedUp struct {
	kind outcome.Kind
	over float64 // 0: not printed
}

func broadcastMachines() []broadcastMachine {
	fram := func(nodes int) string {
		return fmt.Sprintf("core:16 socket:2 host:%d rack:%d%s", 2, nodes/2, framLinks)
	}
	betzy := func(nodes int) string { return fmt.Sprintf("core:64 socket:2 host:%d%s", nodes, betzyLinks) }
	atLeast := func(x float64) speedUp { return speedUp{outcome.AtLeast, x} }
	about := func(x float64) speedUp { return speedUp{outcome.About, x} }
	value := func(x float64) speedUp { return speedUp{outcome.Value, x} }
	return []broadcastMachine{
		{"FRAM, P = 64", fram(2), false, speedUp{}, speedUp{}},
		{"FRAM, P = 128", fram(4), false, about(2), atLeast(1.5)},
		{"FRAM, P = 256", fram(8), true, atLeast(1.4), speedUp{}},
		{"ARM1, P = 96", "core:24 numa:2 socket:2 host:1 latency=10ns,150ns,75ns,75ns", false, atLeast(1.5), speedUp{}},
		{"BETZY, P = 512", betzy(4), true, atLeast(2), atLeast(1.5)},
		{"BETZY, P = 1024", betzy(8), true, atLeast(1.2), value(1.2)},
		{"BETZY, P = 2048", betzy(16), true, value(1.1), value(1)},
	}
}

// simulatedBroadcasts makes the decision functions and speed-ups of chapter 6.
func simulatedBroadcasts(out *outcome.Outcome, stage *stage) error {
	s := out.Section("The fastest broadcast by size and ranks (tables 6.3 to 6.6, figures 6.5, 6.9, 6.12)")
	if !stage.full && stage.cluster == "" {
		s.Say("P = 256 to 2,048 are left out: --full has them.")
	}
	s.Say("Predicted for the machine's wiring and groups: on simulated clusters predictions are within 3.4 %% of broadcasts in nine of ten cases. The library's own is that which Open MPI 4.1 takes by default for some hundred ranks: a 4-nomial tree, from 16 to 32 KiB a split binary tree, of whole messages. Algorithms are those of tables 6.1 and 6.2; a chain in segments is the thesis' pipeline. Simulated cores do not share the bandwidth of their memory, which favours chains of long messages, and the machine has nothing else to do: speed-ups are larger than the thesis'.")
	sizes := broadcastSizes()
	t := s.Table("decision", outcome.Text("machine"), outcome.Text("up to"), outcome.Text("fastest"), outcome.Number("segment", "B"), outcome.Number("time", "s"), outcome.Number("library", "s"), outcome.Number("speed-up", ""))
	machines := broadcastMachines()
	if stage.cluster != "" {
		machines = []broadcastMachine{{name: "--cluster", spec: stage.cluster}}
	}
	var curves []draw.Series
	for _, m := range machines {
		if m.large && !stage.full {
			continue
		}
		fmt.Fprintf(stage.progress, "broadcasts: %s\n", m.name)
		c, err := simulatedCluster(m.spec)
		if err != nil {
			return err
		}
		n, err := model.FromGraph(c.Graph, c.Routing)
		if err != nil {
			return err
		}
		curve := draw.Series{Name: m.name}
		var product float64 // of speed-ups from 512 KiB on, as the thesis has them, in logarithms
		count := 0.0
		for _, size := range sizes {
			plans, err := predict.Plans(n, broadcastsOfThesis(), size, 0)
			if err != nil {
				return err
			}
			library, err := predict.Predict(n, openMPIDefault(n.Ranks(), size), schedule.Problem{Ranks: n.Ranks(), Bytes: size})
			if err != nil {
				return err
			}
			best, name, segment := plans[0].Predicted, plans[0].Name(), float64(plans[0].Segment)
			if library < best {
				best, name, segment = library, "library", math.NaN() // as in the thesis: never slower
			}
			t.Row(m.name, quantity.Bytes(size), name, segment, best, library, library/best)
			curve.X, curve.Y = append(curve.X, float64(size)), append(curve.Y, library/best)
			if size >= 1<<19 && size <= 1<<21 {
				product += math.Log(library / best)
				count++
			}
		}
		m.printed.beside(s, "Open MPI, 0.5 to 2 MiB, "+m.name, math.Exp(product/count))
		m.intel.beside(s, "Intel MPI, "+m.name, math.NaN()) // which nobody may look into
		curves = append(curves, curve)
	}
	picture, err := draw.Plot("Speed-up of the fastest broadcast over the library's", draw.Axis{Name: "message size", Log: true, Format: func(x float64) string { return quantity.Bytes(int64(x)) }}, draw.Axis{Name: "speed-up"}, curves)
	if err == nil {
		s.Figure("speed-up", picture)
	}
	return err
}

func (p speedUp) beside(s *outcome.Section, what string, ours float64) {
	if p.over > 0 {
		s.Bound("speed-up over "+what, "", p.kind, p.over, ours)
	}
}
