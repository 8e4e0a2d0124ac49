package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// By hand: of what falls the shortest time counts, and the known one stays.
func TestRising(t *testing.T) {
	for _, c := range []struct {
		times []float64
		known int
		want  string
	}{
		{[]float64{1, 2, 3}, -1, "[1 2 3]"},
		{[]float64{1, 4, 2, 5}, -1, "[1 2 2 5]"},
		{[]float64{3, 2, 1}, -1, "[1 1 1]"},
		// 4 stays, and what follows comes up to it.
		{[]float64{4, 2, 1}, 0, "[4 4 4]"},
		{[]float64{5, 4, 6}, 1, "[4 4 6]"},
	} {
		got := append([]float64{}, c.times...)
		rising(got, c.known)
		if fmt.Sprint(got) != c.want {
			t.Errorf("rising(%v, %d) = %v, want %s", c.times, c.known, got, c.want)
		}
	}
}

// The measurements are those of the first README command beside another program: 29
// us, 1.88 ms and 47.8 us of 8 B, 64 KiB and 1 MiB. The file predicted negative times.
func TestFitOfDisturbedTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	_, seen := fitTruth(t, r, 2, &model.Settings{})
	var observations []Observation
	for _, o := range []struct {
		bytes   int64
		seconds []float64
	}{{8, []float64{29e-6, 30e-6, 31e-6}}, {64 << 10, []float64{1.88e-3, 2e-3}}, {1 << 20, []float64{47.8e-6, 50e-6}}} {
		for _, s := range o.seconds {
			observations = append(observations, Observation{Transfers: []model.Transfer{{Src: 0, Dst: 1, Bytes: o.bytes}}, Seconds: []float64{s}})
		}
	}
	fit, err := Network(seen, observations, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := fit.Network.Levels()[0]
	before := 0.0
	for m := int64(0); m < 1<<40; m = 2*m + 1 {
		now := l.Time(m)
		if !(now >= before) {
			t.Fatalf("Time(%d) = %g, below that of fewer bytes, %g", m, now, before)
		}
		before = now
	}
}

// The wiring's latency, the time of a message of the measuring size, and what a
// broadcast to one rank costs are one figure, whatever single measurements say.
func TestOneLatency(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	_, seen := fitTruth(t, r, 2, &model.Settings{})
	var observations []Observation
	for src := range 4 {
		for dst := range 4 {
			if src == dst {
				continue
			}
			for range 3 {
				observations = append(observations,
					Observation{Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: 8}}, Seconds: []float64{300e-6 * (1 + r.Float64())}},
					Observation{Transfers: []model.Transfer{{Src: src, Dst: dst, Bytes: 1 << 20}}, Seconds: []float64{9e-3 * (1 + r.Float64())}})
			}
		}
	}
	fit, err := Network(seen, observations, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	n := fit.Network
	for i, want := range []float64{40e-6, 140e-6} {
		if got := n.Levels()[i].Time(8); !near(got, want, 1e-12) {
			t.Errorf("level %d: 8 B take %g s, want %g as its latency", i, got, want)
		}
	}
	for _, c := range []struct {
		dst  int
		want float64
	}{{1, 40e-6}, {2, 140e-6}} {
		if got := n.Time(0, c.dst, 8); !near(got, c.want, 1e-12) {
			t.Errorf("Time(0, %d, 8) = %g, want %g", c.dst, got, c.want)
		}
		got, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: c.dst, Bytes: 8}})
		if err != nil || !near(got[0], c.want, 1e-3) {
			t.Errorf("Predict of 8 B to %d = %v, %v, want %g", c.dst, got, err, c.want)
		}
	}
}

// 10,000 measurements of 30 % spread, and one size of 80 %: the larger one is
// carried, and warned of.
func TestFitCarriesTheSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	_, seen := fitTruth(t, r, 2, &model.Settings{})
	for _, wide := range []float64{0.1, 0.8} {
		var observations []Observation
		for range 2000 {
			for _, c := range []struct {
				bytes         int64
				time, percent float64
			}{{8, 40e-6, 0.05}, {1 << 20, 9e-3, wide}} {
				x := c.time * max(0.01, 1+c.percent*r.NormFloat64())
				observations = append(observations, Observation{Transfers: []model.Transfer{{Src: 0, Dst: 1, Bytes: c.bytes}}, Seconds: []float64{x}})
			}
		}
		fit, err := Network(seen, observations, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fit.Network.Levels()[0].Spread; !near(got, wide, 0.1) {
			t.Errorf("Spread = %g, want %g within 10 %%", got, wide)
		}
		if got := fit.Network.Levels()[1].Spread; !math.IsNaN(got) {
			t.Errorf("Spread of a level without measurements = %g, want NaN", got)
		}
		if got := strings.Contains(strings.Join(fit.Warnings, "\n"), "times of equal messages spread by"); got != (wide > 0.5) {
			t.Errorf("spread %g: warned: %v", wide, got)
		}
	}
}

func TestSpreadOf(t *testing.T) {
	// By hand: two measurements are 10 % off their mean; three are 20, 0 and 10 % off the middle one.
	// The largest counts, whatever size it is of.
	narrow, wide, single := []float64{9, 11}, []float64{5, 15}, []float64{1}
	for _, c := range []struct {
		times [][]float64 // by size
		want  float64
	}{
		{[][]float64{narrow}, 0.14826},
		{[][]float64{narrow, wide}, 0.7413},
		{[][]float64{wide, narrow}, 0.7413},
		{[][]float64{narrow, wide, narrow, single}, 0.7413},
		{[][]float64{narrow, single}, 0.14826},
		{[][]float64{single, narrow}, 0.14826},
		{[][]float64{{8, 10, 11}}, 0.14826},
		{[][]float64{{9}}, nan},
	} {
		var sizes []int64
		bySize := map[int64][]float64{}
		for k, x := range c.times {
			sizes = append(sizes, int64(8*k))
			bySize[sizes[k]] = x
		}
		if got := spreadOf(sizes, bySize); !near(got, c.want, 1e-9) {
			t.Errorf("spreadOf(%v) = %g, want %g", c.times, got, c.want)
		}
	}
}

// The times are those of two cores of a machine, whose 64 KiB are slow: the last piece has 50 GB/s, and 1 MiB had 21.7. The
// bandwidth is the rate of 1 MiB, and Time, Predict and the level tell one time of each size, also of a longer message.
func TestTimesWithAKink(t *testing.T) {
	var observations []Observation
	for _, x := range []struct {
		bytes   int64
		seconds float64
	}{{8, 226e-9}, {8 << 10, 2.05e-6}, {64 << 10, 28.88e-6}, {1 << 20, 48.35e-6}} {
		for _, p := range [][2]int{{0, 1}, {1, 0}} {
			observations = append(observations, Observation{Transfers: []model.Transfer{{Src: p[0], Dst: p[1], Bytes: x.bytes}}, Seconds: []float64{x.seconds}})
		}
	}
	seen := star(t, 2, nan)
	h, err := topology.NewHierarchy(2, nil, nil, 226e-9)
	if err != nil {
		t.Fatal(err)
	}
	seen.Hierarchy = h
	for i, a := range seen.Graph.Arcs() {
		seen.Graph.Arcs()[i].Latency = a.Latency * 226e-9 / (2 * starLatency)
	}
	fit, err := Network(seen, observations, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	n := fit.Network
	if got, want := n.Levels()[0].Bandwidth(), (1<<20)/48.35e-6; !near(got, want, 1e-9) {
		t.Errorf("Bandwidth() = %g, want %g as 1 MiB had", got, want)
	}
	for _, x := range []struct {
		bytes int64
		want  float64 // s; of 16 MiB as bytes flow at the rate of 1 MiB after its start, 226 ns and a handshake of at most four times that
	}{{1 << 20, 48.35e-6}, {16 << 20, 16*(48.35e-6-5*226e-9) + 5*226e-9}} {
		if got := n.Time(0, 1, x.bytes); !near(got, x.want, 1e-3) {
			t.Errorf("Time(0, 1, %d) = %g, want %g", x.bytes, got, x.want)
		}
		got, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: 1, Bytes: x.bytes}})
		if err != nil || !near(got[0], x.want, 5e-3) {
			t.Errorf("Predict of %d B = %v, %v, want %g", x.bytes, got, err, x.want)
		}
	}
}

// Long messages of one pair, both ways, do not tell the rate of a level of six pairs.
func TestFitWarnsOfASinglePair(t *testing.T) {
	for _, c := range []struct {
		pairs [][2]int // of long messages
		want  bool
	}{{[][2]int{{0, 1}}, true}, {[][2]int{{0, 1}, {2, 3}}, false}} {
		var observations []Observation
		add := func(a, b int, bytes int64, seconds float64) {
			for _, p := range [][2]int{{a, b}, {b, a}} {
				observations = append(observations, Observation{Transfers: []model.Transfer{{Src: p[0], Dst: p[1], Bytes: bytes}}, Seconds: []float64{seconds}})
			}
		}
		for a := range 4 {
			for b := range a {
				add(a, b, 8, 2*starLatency)
			}
		}
		for _, p := range c.pairs {
			add(p[0], p[1], 1<<20, 1e-3)
		}
		fit, err := Network(star(t, 4, nan), observations, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(fit.Warnings, "\n"), "between one pair of ranks only"); got != c.want {
			t.Errorf("long messages of pairs %v: warned %v, want %v: %q", c.pairs, got, c.want, fit.Warnings)
		}
	}
}
