package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

func predict(t testing.TB, n *Network, s *PredictSettings, ts []Transfer) []float64 {
	t.Helper()
	p, err := n.NewPredictor(s)
	if err != nil {
		t.Fatal(err)
	}
	times, err := p.Predict(nil, ts)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestPredictByHand(t *testing.T) {
	// Two racks of four; 100 MB/s to hosts and between the racks; 5 us per link.
	n := fromSpec(t, "tree:2x4 rate=100MBps latency=5us")
	two := []Transfer{{Src: 0, Dst: 4, Bytes: 100e6}, {Src: 1, Dst: 5, Bytes: 50e6}}
	arc := -1
	for i, a := range n.Graph().Arcs() {
		if a.From == 0 {
			arc = i
		}
	}
	for _, c := range []struct {
		name string
		s    *PredictSettings
		ts   []Transfer
		want []float64
	}{
		// The way up from the rack has 100 MB/s: 50 MB each in 1 s, then 50 MB alone.
		{"two share an uplink", &PredictSettings{NoLatency: true}, two, []float64{1.5, 1}},
		{"four links of 5 us", nil, two[:1], []float64{1 + 20e-6}},
		{"the second begins when half of the first is done", &PredictSettings{NoLatency: true}, []Transfer{{Src: 0, Dst: 4, Bytes: 100e6}, {Src: 1, Dst: 5, Bytes: 50e6, Start: 0.5}}, []float64{1.5, 1.5}},
		{"the second begins after the first", &PredictSettings{NoLatency: true}, []Transfer{{Src: 0, Dst: 4, Bytes: 100e6}, {Src: 1, Dst: 5, Bytes: 50e6, Start: 7}}, []float64{1, 7.5}},
		// x + 0.05 x = 100 MB/s both ways: 100 MB each in 1.05 s, then 50 MB alone.
		{
			"acknowledgements of 5 % in the way of data", &PredictSettings{NoLatency: true, Sharing: &contention.Sharing{Coupling: 1, AckWeight: 0.05}},
			[]Transfer{{Src: 0, Dst: 1, Bytes: 100e6}, {Src: 1, Dst: 0, Bytes: 150e6}},
			[]float64{1.05, 1.55},
		},
		// The uplink gives three 100/3 MB/s, and host 0 has the other 200/3 for its neighbour: it is
		// done with 100 MB at 1.5 s, when each of the three has 50 MB left.
		{
			"what an uplink leaves goes to a neighbour", &PredictSettings{NoLatency: true},
			[]Transfer{{Src: 0, Dst: 4, Bytes: 100e6}, {Src: 1, Dst: 5, Bytes: 100e6}, {Src: 2, Dst: 6, Bytes: 100e6}, {Src: 0, Dst: 3, Bytes: 100e6}},
			[]float64{3, 3, 3, 1.5},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := predict(t, n, c.s, c.ts)
			for i, want := range c.want {
				if !near(got[i], want, 1e-9) {
					t.Errorf("completion of %v = %.9g s, want %.9g", c.ts[i], got[i], want)
				}
			}
		})
	}
	// What if the first link had half its bandwidth.
	p, err := n.NewPredictor(&PredictSettings{NoLatency: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetBandwidth(arc, 50e6); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Predict(nil, two[:1]); err != nil || !near(got[0], 2, 1e-9) {
		t.Errorf("over half a link: %g s, %v, want 2", got, err)
	}
	for _, c := range []struct {
		arc  int
		rate float64
	}{{99, 1}, {-1, 1}, {0, 0}, {0, math.Inf(1)}} {
		if err := p.SetBandwidth(c.arc, c.rate); err == nil {
			t.Errorf("SetBandwidth(%d, %g) is accepted", c.arc, c.rate)
		}
	}
}

// Ranks 0 and 1 are on one host, whose links carry 10 GB/s both ways together, as memory does: 5 GB each in 1 s, then
// 5 GB alone.
func TestPredictInsideAHost(t *testing.T) {
	hosts := fromSpec(t, "tree:2x2 rate=10GBps")
	n, err := hosts.With(func(s *Settings) { s.Law, s.Locations = Law{Duplex: 1}, locations(4) })
	if err != nil {
		t.Fatal(err)
	}
	got := predict(t, n, &PredictSettings{NoLatency: true}, []Transfer{{Src: 0, Dst: 1, Bytes: 10e9}, {Src: 1, Dst: 0, Bytes: 5e9}, {Src: 2, Dst: 3, Bytes: 10e9}})
	for i, want := range []float64{1.5, 1, 1} {
		if !near(got[i], want, 1e-9) {
			t.Errorf("completion %d = %g s, want %g", i, got[i], want)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	ring := fromSpec(t, "tree:2x2 rate=1Gbps")
	split, err := topology.NewGraph(2, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := FromGraph(split, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	ok := Transfer{Src: 0, Dst: 1, Bytes: 1}
	for _, c := range []struct {
		name string
		n    *Network
		bad  Transfer
		want string
	}{
		{"an unknown source", ring, Transfer{Src: 4, Dst: 1, Bytes: 1}, "transfer 1 (4->1, 1 bytes): unknown rank 4"},
		{"a negative rank", ring, Transfer{Src: 0, Dst: -1, Bytes: 1}, "transfer 1 (0->-1, 1 bytes): unknown rank -1"},
		{"no bytes", ring, Transfer{Src: 0, Dst: 1}, "size is 0 bytes"},
		{"a negative size", ring, Transfer{Src: 0, Dst: 1, Bytes: -5}, "size is -5 bytes"},
		{"a negative start", ring, Transfer{Src: 0, Dst: 1, Bytes: 5, Start: -1}, "start is -1 s"},
		{"a NaN start", ring, Transfer{Src: 0, Dst: 1, Bytes: 5, Start: nan}, "start is NaN s"},
		{"a rank to itself", ring, Transfer{Src: 1, Dst: 1, Bytes: 5}, "transfer 1 (1->1, 5 bytes): stays on its host"},
		{"an unknown capacity", twoRacks(t, 2, nil), Transfer{Src: 0, Dst: 3, Bytes: 5}, "transfer 0 (0->1, 1 bytes): the bandwidth of the link of h0 is not known: topocast measure NET --what throughput"},
		{"a disconnected pair", apart, ok, "transfer 0 (0->1, 1 bytes)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.n.Predict(nil, []Transfer{ok, c.bad})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Predict = %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := ring.NewPredictor(&PredictSettings{Sharing: &contention.Sharing{AckWeight: nan}}); err == nil {
		t.Error("NewPredictor accepts acknowledgements without a weight")
	}
}

func TestScalingSizesScalesTimes(t *testing.T) {
	n := fromSpec(t, "tree:2x15 rate=10Gbps,1Gbps")
	r := rand.New(rand.NewPCG(3, 3))
	for _, s := range []contention.Sharing{{}, {Coupling: 1}, {Coupling: 1, AckWeight: 0.05}, {Coupling: 1, AckWeight: 0.5}} {
		ts := RandomPattern(r, 30, 3, 20e6)
		for i := range ts {
			ts[i].Bytes = 1e6 * (1 + r.Int64N(50))
		}
		once := predict(t, n, &PredictSettings{Sharing: &s, NoLatency: true}, ts)
		for i := range ts {
			ts[i].Bytes *= 7
		}
		for i, got := range predict(t, n, &PredictSettings{Sharing: &s, NoLatency: true}, ts) {
			if !near(got, 7*once[i], 1e-9) {
				t.Errorf("sharing %+v: seven times the bytes of %v take %g s, want 7 * %g", s, ts[i], got, once[i])
			}
		}
	}
}

func TestPredictIsSafeForConcurrentUse(t *testing.T) {
	n := fromSpec(t, "fattree:4 rate=1Gbps routing=ecmp")
	ts := randomTransfers(rand.New(rand.NewPCG(1, 2)), n.Ranks(), 40)
	want, err := n.Predict(nil, ts)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				got, err := n.Predict(nil, ts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("completion %d = %g, want %g", i, got[i], want[i])
					}
				}
			}
		})
	}
	all.Wait()
}

// Two ranks of a rack, whose level has no ratios of its own, and two of different racks.
func TestInterval(t *testing.T) {
	all := []float64{0.8, 0.9, 1, 1.1, 1.2}
	n := twoRacks(t, 4, &Settings{MeasuredOverPredicted: all})
	levels := slices.Clone(n.s.Levels)
	levels[len(levels)-1].MeasuredOverPredicted = []float64{0.5, 1, 2}
	n = twoRacks(t, 4, &Settings{Levels: levels, MeasuredOverPredicted: all})
	for _, c := range []struct {
		dst              int
		coverage, lo, hi float64
	}{{1, 0.5, 1.8, 2.2}, {1, 0.9, 1.64, 2.36}, {7, 0.5, 1.5, 3}, {7, 0.9, 1.1, 3.8}} {
		if lo, hi := n.Interval(0, c.dst, 2, c.coverage); !near(lo, c.lo, 1e-12) || !near(hi, c.hi, 1e-12) {
			t.Errorf("Interval(0, %d, 2, %g) = %g, %g, want %g, %g", c.dst, c.coverage, lo, hi, c.lo, c.hi)
		}
	}
	slower := twoRacks(t, 4, &Settings{MeasuredOverPredicted: []float64{1.1, 1.2, 1.3}})
	if lo, hi := slower.Interval(0, 1, 2, 0.5); lo != 2 || !near(hi, 2.5, 1e-12) {
		t.Errorf("Interval of what was always slower than predicted = %g, %g, want one that holds the prediction: 2, 2.5", lo, hi)
	}
	if lo, _ := twoRacks(t, 4, nil).Interval(0, 1, 2, 0.9); !math.IsNaN(lo) {
		t.Errorf("Interval of a network that was not fitted = %g, want NaN", lo)
	}
}

func TestReadTransfers(t *testing.T) {
	ts, err := ReadTransfers(strings.NewReader(`{"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0.5},{"src":1,"dst":2,"bytes":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(ts) != 2 || ts[0] != (Transfer{0, 5, 10000000, 0.5}) || ts[1] != (Transfer{1, 2, 1, 0}) {
		t.Errorf("ReadTransfers = %v", ts)
	}
	for _, file := range []string{``, `{}`, `[]`, `{"transfers":[{"source":1}]}`, `{"transfers":[]} x`, `{"transfers":[{"src":1.5}]}`} {
		if _, err := ReadTransfers(strings.NewReader(file)); err == nil || !strings.HasPrefix(err.Error(), "model: read transfers: ") || !strings.HasSuffix(err.Error(), wantTransfers) {
			t.Errorf("ReadTransfers(%s) = %v, want an error that says what a file of transfers holds", file, err)
		}
	}
}

func FuzzReadTransfers(f *testing.F) {
	f.Add([]byte(`{"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0.5}]}`))
	f.Add([]byte(`{"transfers":[{"src":-1,"dst":1e3,"bytes":-1}]}`))
	n := fromSpec(f, "tree:2x2 rate=1Gbps")
	f.Fuzz(func(t *testing.T, file []byte) {
		ts, err := ReadTransfers(strings.NewReader(string(file)))
		if err != nil || len(ts) > 50 {
			return
		}
		times, err := n.Predict(nil, ts)
		if err != nil {
			return
		}
		for i, x := range times {
			if !(x >= ts[i].Start) {
				t.Errorf("%v is complete at %g", ts[i], x)
			}
		}
	})
}

// A predictor goes on after a prediction that failed, whether a transfer was
// refused before the playback or its flow in the middle of it.
func TestPredictAfterAnError(t *testing.T) {
	var arcs []topology.Arc
	for h, latency := range []float64{25e-6, 25e-6, 1} {
		arcs = topology.AppendLink(arcs, h, 3, latency, 1e8)
	}
	g, err := topology.NewGraph(3, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(3, nil, nil, nan)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{Graph: g, Hierarchy: h}, &Settings{Law: Law{RTTBias: 400}}) // 2 s to the power of -400 is 0
	if err != nil {
		t.Fatal(err)
	}
	good := []Transfer{{Src: 0, Dst: 1, Bytes: 1e8}}
	bad := append([]Transfer{{Src: 1, Dst: 0, Bytes: 1e8}}, Transfer{Src: 0, Dst: 2, Bytes: 1e6})
	want, err := n.Predict(nil, good)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := n.Predict(nil, bad); err == nil || !strings.Contains(err.Error(), "0->2") {
			t.Fatalf("Predict = %v, want an error that names 0->2", err)
		}
		got, err := n.Predict(nil, good)
		if err != nil || got[0] != want[0] {
			t.Fatalf("Predict after an error = %v, %v, want %v", got, err, want)
		}
	}
}

// By hand: where the last piece falls the mean slope counts, (3 - 1) / 30 s/B,
// and where that falls as well, none. No time is ever below 0. The bandwidth is what the longest message had: 40 B in 1 s and its gap.
func TestFallingGapsGoOnUpwards(t *testing.T) {
	for _, c := range []struct {
		name      string
		p         PLogP
		bytes     int64
		want      float64
		bandwidth float64
	}{
		{"the last piece falls", PLogP{Latency: 1, Sizes: []int64{10, 20, 40}, Gap: []float64{1, 5, 3}}, 70, 1 + 3 + 2, 10},
		{"all falls", PLogP{Latency: 1, Sizes: []int64{10, 40}, Gap: []float64{5, 1}}, 1 << 40, 2, 20},
		{"level", PLogP{Latency: 1, Sizes: []int64{10, 40}, Gap: []float64{2, 2}}, 1 << 40, 3, 40. / 3},
		{"between the points as measured", PLogP{Latency: 1, Sizes: []int64{10, 20, 40}, Gap: []float64{1, 5, 3}}, 30, 5, 10},
	} {
		if got := c.p.Time(c.bytes); !near(got, c.want, 1e-12) {
			t.Errorf("%s: Time(%d) = %g, want %g", c.name, c.bytes, got, c.want)
		}
		if got := c.p.Bandwidth(); got != c.bandwidth && !near(got, c.bandwidth, 1e-12) {
			t.Errorf("%s: Bandwidth() = %g, want %g", c.name, got, c.bandwidth)
		}
	}
}

// coupled is the network of a cluster whose links have couplings between fair and asymmetric sharing.
func coupled(t testing.TB, spec string) *Network {
	t.Helper()
	plain := fromSpec(t, spec)
	n, err := New(&topology.Result{Graph: plain.Graph(), Hierarchy: plain.Hierarchy()}, &Settings{
		Law: Law{Coupling: 0.5, RTTBias: 0.5}, Routing: topology.ChooseModulo,
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A fitted network's rates are kept to a thousandth: 99 of 100 transfers complete within that of the exact time, which is what
// Sharing.Tolerance says.
func TestPredictWithinTolerance(t *testing.T) {
	for _, spec := range []string{"tree:8x16 rate=10Gbps,1Gbps", "fattree:8 rate=1Gbps routing=modulo"} {
		n := coupled(t, spec)
		exact, err := n.NewPredictor(nil)
		if err == nil {
			err = exact.SetLaw(n.Settings().Law)
		}
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			ts := randomTransfers(rand.New(rand.NewPCG(1, seed)), n.Ranks(), 1000)
			got := predict(t, n, nil, ts)
			want, err := exact.Predict(nil, ts)
			if err != nil {
				t.Fatal(err)
			}
			off := make([]float64, len(got))
			for i := range off {
				off[i] = math.Abs(got[i]/want[i] - 1)
			}
			slices.Sort(off)
			if k := len(off) * 99 / 100; off[k] > fittedTolerance || off[len(off)-1] == 0 {
				t.Errorf("%s, seed %d: 99 %% within %g, worst %g: want %g, and a difference", spec, seed, off[k], off[len(off)-1], fittedTolerance)
			}
		}
	}
}

// Four hosts in two racks, of which a user calls the ranks a, b, c and d. By hand: the link of a host is called after it, and the
// uplink of a rack after its hosts; of two racks the one without the lowest host. No text has a name of a switch.
func TestUnknownBandwidthsAreToldInTheNamesOfTheUser(t *testing.T) {
	whole := fromSpec(t, "tree:2x2 rate=1Gbps").Graph()
	for _, c := range []struct {
		name    string
		unknown func(a topology.Arc) bool
		want    string
	}{
		{"a host", func(a topology.Arc) bool { return a.From == 0 }, "the bandwidth of the link of a is not known"},
		{"a host that receives", func(a topology.Arc) bool { return a.To == 3 }, "the bandwidth of the link of d is not known"},
		{"an uplink", func(a topology.Arc) bool { return whole.IsSwitch(a.From) && whole.IsSwitch(a.To) }, "the bandwidth of the uplink of c,d is not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			arcs := slices.Clone(whole.Arcs())
			for i := range arcs {
				if c.unknown(arcs[i]) {
					arcs[i].Bandwidth = nan
				}
			}
			g, err := whole.WithArcs(arcs)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.WithHostNames([]string{"a", "b", "c", "d"}); err != nil {
				t.Fatal(err)
			}
			n, err := FromGraph(g, topology.ChooseLowest)
			if err != nil {
				t.Fatal(err)
			}
			_, err = n.Predict(nil, []Transfer{{Src: 0, Dst: 3, Bytes: 1}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "measure NET --what throughput") {
				t.Errorf("Predict = %v, want an error with %q and the remedy", err, c.want)
			}
		})
	}
}
