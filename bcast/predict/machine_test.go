package predict

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// What a machine is told of the overhead of messages, and of pairs that were not
// measured, by hand from the rules in newMachine and guess.
func TestWhatIsTakenFromANetwork(t *testing.T) {
	nan := math.NaN()
	linear := func(latency float64) model.LevelParams {
		return model.LevelParams{PLogP: model.Hockney{Latency: latency, Bandwidth: 1e9}.PLogP(), Spread: nan}
	}
	measured := linear(30e-6)
	measured.Send, measured.Recv = []float64{2e-6, 9e-6}, []float64{3e-6, 9e-6}
	for _, c := range []struct {
		name            string
		inner, outer    model.LevelParams
		send, recv, far float64 // far: a pair that was not measured
	}{
		{"a third of the shortest latency", linear(9e-6), linear(90e-6), 3e-6, 3e-6, 90e-6},
		{"the shortest need not be the finest", linear(90e-6), linear(9e-6), 3e-6, 3e-6, 90e-6},
		{"what was not measured does not count", linear(nan), linear(9e-6), 3e-6, 3e-6, 9e-6},
		{"what takes no time does not count", linear(0), linear(9e-6), 3e-6, 3e-6, 9e-6},
		{"nothing is known", linear(nan), linear(nan), 1e-6 / 3, 1e-6 / 3, 1e-6},
		{"measured, for messages of 0 bytes", linear(9e-6), measured, 2e-6, 3e-6, 30e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := casttest.RegularTree(t, 4, 2)
			g, err := topology.NewGraph(4, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}},
				&model.Settings{Levels: []model.LevelParams{c.inner, c.outer}})
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(n)
			if !casttest.Near(m.send, c.send, 1e-12) || !casttest.Near(m.recv, c.recv, 1e-12) {
				t.Errorf("send %g s, recv %g s, want %g and %g", m.send, m.recv, c.send, c.recv)
			}
			// Ranks that the network does not have stand for what it does not know.
			// Of 8 KiB a message takes twice the latency, or 10 GB/s if that is slower.
			for _, x := range []struct {
				bytes int64
				want  float64
			}{{0, c.far}, {8192, c.far + max(c.far, 8192e-10)}} {
				if got := m.transfers.Time(7, 8, x.bytes); !casttest.Near(got, x.want, 1e-12) {
					t.Errorf("%d bytes between unknown ranks: %g s, want %g", x.bytes, got, x.want)
				}
			}
		})
	}
}

// Of a pair whose bandwidth is not known the latency is its own, and 8 KiB take it
// twice; by hand from the rules in guess.
func TestLatencyKnownAndBandwidthNot(t *testing.T) {
	h := casttest.RegularTree(t, 4, 2)
	g, err := topology.NewGraph(4, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var levels []model.LevelParams
	for _, latency := range []float64{1e-6, 10e-6} { // those of regularTree
		levels = append(levels, model.LevelParams{PLogP: model.Hockney{Latency: latency, Bandwidth: math.NaN()}.PLogP(), Spread: math.NaN()})
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{Levels: levels})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(n)
	for _, c := range []struct {
		dst, bytes int
		want       float64
	}{{1, 0, 1e-6}, {1, 8192, 2e-6}, {1, 16384, 3e-6}, {2, 0, 10e-6}, {2, 8192, 20e-6}} {
		if got := m.transfers.Time(0, c.dst, int64(c.bytes)); !casttest.Near(got, c.want, 1e-9) {
			t.Errorf("%d bytes to rank %d: %g s, want %g", c.bytes, c.dst, got, c.want)
		}
	}
}
