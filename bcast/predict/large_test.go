package predict

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// wholeMachine is a network like one of the published machines: hosts on leaf
// switches, these in cells, numbered at random. Its latencies and rates are those of
// such fabrics; a machine of 740 hosts stands for those that are not there.
func wholeMachine(t testing.TB, name string) *model.Network {
	t.Helper()
	cells := [][]int{{10, 10, 10, 10, 10, 10, 10, 10}, {8, 8, 8, 8, 40, 40, 40, 2, 6, 10}, {38, 38, 38, 40, 40, 40}, {16, 16, 16, 16, 16, 16, 12}, {16, 16, 40, 40}}
	if beside, ok := published.Beside(); ok {
		text, err := os.ReadFile(filepath.Join(beside, "wirings", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var w struct{ Cells [][]int }
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		cells = w.Cells
	}
	hosts := 0
	for _, c := range cells {
		for _, n := range c {
			hosts += n
		}
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(hosts)
	var groups []topology.Group
	at := 0
	for _, c := range cells {
		from := at
		for _, n := range c {
			if n > 1 {
				groups = append(groups, topology.Group{Hosts: order[at : at+n], Latency: 1.2e-6, Confidence: 1})
			}
			at += n
		}
		groups = append(groups, topology.Group{Hosts: order[from:at], Level: 1, Latency: 1.8e-6, Confidence: 1})
	}
	h, err := topology.NewHierarchy(hosts, []topology.Level{{Latency: 1.2e-6}, {Latency: 1.8e-6}}, groups, 2.5e-6)
	if err != nil {
		t.Fatal(err)
	}
	g, err := topology.NewGraph(hosts, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var levels []model.LevelParams
	for _, latency := range []float64{1.2e-6, 1.8e-6, 2.5e-6} {
		levels = append(levels, model.LevelParams{PLogP: model.Hockney{Latency: latency, Bandwidth: 12e9}.PLogP(), Spread: math.NaN()})
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{Levels: levels})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// BenchmarkWholeMachine tells how long it takes to find a plan for a whole machine,
// and then to make one rank's part in it.
func BenchmarkWholeMachine(b *testing.B) {
	for _, name := range []string{"leonardo", "jupiter"} {
		n := wholeMachine(b, name)
		for _, bytes := range []int{8, 64 << 10, 8 << 20} {
			p := schedule.Problem{Ranks: n.Ranks(), Tree: n.Hierarchy(), Bytes: bytes, Costs: Costs(n, n.Hierarchy())}
			list := schedule.Variants(everything(), p)
			b.Run(fmt.Sprintf("%s/hosts=%d/bytes=%d/search", name, n.Ranks(), bytes), func(b *testing.B) {
				e := New(n)
				for b.Loop() {
					best := e.Candidates(list, bytes, 0)[0]
					b.Log(best)
				}
			})
			for _, a := range []schedule.Algorithm{schedule.Chain{}, schedule.Earliest{}, schedule.Paced{}, schedule.MultiLevel{}, schedule.Magpie2{Level: 1}} {
				b.Run(fmt.Sprintf("%s/hosts=%d/bytes=%d/%s", name, n.Ranks(), bytes, a.Name()), func(b *testing.B) {
					p.Segment = usualSegment
					for b.Loop() {
						a.Prepare(p).Of(17)
					}
				})
			}
		}
	}
}
