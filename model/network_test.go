package model

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

var nan = math.NaN()

// near tells whether two values agree to a relative tolerance; NaN agrees with NaN.
func near(got, want, tolerance float64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) && math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= tolerance*math.Max(math.Abs(got), math.Abs(want))
}

// twoRacks is a tree of two racks of hosts; latencies in s of messages of 8 bytes.
func twoRacks(t testing.TB, perRack int, s *Settings) *Network {
	t.Helper()
	hosts := 2 * perRack
	var groups []topology.Group
	var arcs []topology.Arc
	for rack, latency := range []float64{10e-6, 14e-6} {
		g := topology.Group{Level: 0, Latency: latency, Confidence: nan}
		for i := range perRack {
			host := rack*perRack + i
			g.Hosts = append(g.Hosts, host)
			arcs = topology.AppendLink(arcs, host, hosts+rack, latency/2, nan)
		}
		groups = append(groups, g)
	}
	g, err := topology.NewGraph(hosts, 2, nil, topology.AppendLink(arcs, hosts, hosts+1, 18e-6, nan))
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(hosts, []topology.Level{{Name: "rack", Latency: 12e-6, Confidence: nan}}, groups, 30e-6)
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(&topology.Result{
		Graph: g, Hierarchy: h, Warnings: []string{"one measurement per pair"},
		Fit: topology.Fit{Family: topology.FamilyTree, R2: 0.98, Residual: nan, TreeLikeness: nan, Noise: nan},
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func locations(n int) []Location {
	at := make([]Location, n)
	for i := range at {
		at[i] = Location{Host: fmt.Sprintf("node%02d", i/2), Core: i % 2}
	}
	return at
}

func TestTime(t *testing.T) {
	bandwidth := &Settings{LevelBandwidth: []float64{1e9, 1e8}, Measured: Metadata{Bytes: 8}}
	for _, c := range []struct {
		name     string
		s        *Settings
		src, dst int
		bytes    int64
		want     float64
	}{
		{"a rank to itself", bandwidth, 3, 3, 100, 0},
		// Groups keep their own latency; 8 bytes were measured.
		{"the measured size in the fast rack", bandwidth, 0, 1, 8, 10e-6},
		{"the measured size in the slow rack", bandwidth, 5, 4, 8, 14e-6},
		{"the measured size between racks", bandwidth, 0, 7, 8, 30e-6},
		{"no bytes", bandwidth, 0, 1, 0, 10e-6 - 8/1e9},
		{"a megabyte in a rack", bandwidth, 1, 0, 1e6, 10e-6 + (1e6-8)/1e9},
		{"beyond the largest size by the last slope", bandwidth, 0, 7, 1e9, 30e-6 + (1e9-8)/1e8},
		{"no bandwidth, the measured size", &Settings{Measured: Metadata{Bytes: 8}}, 0, 7, 8, 30e-6},
		{"no bandwidth, beyond it", &Settings{Measured: Metadata{Bytes: 8}}, 0, 7, 9, nan},
		{"a rank outside", bandwidth, 0, 8, 8, nan},
		{"a negative rank", bandwidth, -1, 0, 8, nan},
		{"a negative size", bandwidth, 0, 1, -8, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := twoRacks(t, 4, c.s)
			if got := n.Time(c.src, c.dst, c.bytes); !near(got, c.want, 1e-12) {
				t.Errorf("Time(%d, %d, %d) = %g, want %g", c.src, c.dst, c.bytes, got, c.want)
			}
		})
	}
}

func TestPLogPInterpolates(t *testing.T) {
	p := PLogP{Latency: 1, Sizes: []int64{10, 20, 40}, Gap: []float64{1, 3, 4}}
	for _, c := range []struct {
		bytes int64
		want  float64
	}{{0, 2}, {10, 2}, {15, 3}, {20, 4}, {30, 4.5}, {40, 5}, {60, 7}} { // beyond: the 30 bytes from 10 to 40 took 3 s
		if got := p.Time(c.bytes); !near(got, c.want, 1e-15) {
			t.Errorf("Time(%d) = %g, want %g", c.bytes, got, c.want)
		}
	}
	if got := p.Bandwidth(); got != 8 { // 40 B in 5 s
		t.Errorf("Bandwidth() = %g, want 8", got)
	}
}

func TestTimeOnAGraph(t *testing.T) {
	// A ring of four switches with one host each, hand-numbered 0..3 and 4..7.
	var arcs []topology.Arc
	for i := range 4 {
		arcs = topology.AppendLink(arcs, i, 4+i, 1e-6, 1e8)
		arcs = topology.AppendLink(arcs, 4+i, 4+(i+1)%4, 3e-6, float64(i+1)*1e7)
	}
	g, err := topology.NewGraph(4, 4, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	n, err := FromGraph(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src, dst int
		bytes    int64
		want     float64
	}{
		{0, 1, 0, 5e-6},            // 1 + 3 + 1 us
		{0, 1, 1e7, 1 + 5e-6},      // the trunk 0-1 has 10^7 B/s
		{0, 3, 1e7, 0.25 + 5e-6},   // the trunk 3-0 has 4 * 10^7 B/s
		{1, 3, 1e7, 1.0/2 + 8e-6},  // either way is 8 us; by 2, the lower predecessor is 0 or 2
		{3, 0, 4e7, 1.0 + 5e-6},    // symmetric
		{2, 3, 3e7, 1.0 + 5e-6},    // the trunk 2-3 has 3 * 10^7 B/s
		{0, 0, 1e7, 0},             // nothing to send
		{3, 2, 3e14, 1e7 + 5.0e-6}, // long
	} {
		got := n.Time(c.src, c.dst, c.bytes)
		if c.src == 1 && c.dst == 3 { // two shortest paths: either bandwidth is right
			if near(got, 1+8e-6, 1e-6) {
				continue
			}
		}
		if !near(got, c.want, 1e-6) {
			t.Errorf("Time(%d, %d, %d) = %g, want %g", c.src, c.dst, c.bytes, got, c.want)
		}
	}
}

func TestTimeOnADisconnectedGraphIsInfinite(t *testing.T) {
	g, err := topology.NewGraph(2, 0, nil, []topology.Arc{{From: 0, To: 1, Latency: 1e-6, Bandwidth: 1e9, Probability: 1}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := FromGraph(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Time(1, 0, 100); !math.IsInf(got, 1) {
		t.Errorf("Time against the only arc = %g, want +Inf", got)
	}
}

func TestTimeDoesNotAllocate(t *testing.T) {
	n := twoRacks(t, 4, &Settings{LevelBandwidth: []float64{1e9, 1e8}})
	if got := testing.AllocsPerRun(100, func() { n.Time(0, 7, 1000) }); got != 0 {
		t.Errorf("Time allocates %g times", got)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Settings
		want string
	}{
		{"bandwidths of the wrong number", Settings{LevelBandwidth: []float64{1}}, "1 bandwidths, want 2"},
		{"a bandwidth of zero", Settings{LevelBandwidth: []float64{1, 0}}, "bandwidth of level 1 is 0 B/s"},
		{"levels of the wrong number", Settings{Levels: []LevelParams{}}, "0 levels of parameters, want 2"},
		{"a NaN gap", Settings{Levels: []LevelParams{{PLogP: PLogP{Sizes: []int64{1}, Gap: []float64{nan}}}, {PLogP: Hockney{1, 1}.PLogP()}}}, "gap at 1 bytes is NaN"},
		{"sizes that fall", Settings{Levels: []LevelParams{{PLogP: PLogP{Sizes: []int64{2, 1}, Gap: []float64{1, 1}}}, {}}}, "size 1 is 1 bytes"},
		{"too few locations", Settings{Locations: locations(3)}, "3 locations for 8 ranks"},
		{"an infinite spread", Settings{Levels: []LevelParams{{PLogP: Hockney{1, 1}.PLogP(), Spread: math.Inf(1)}, {PLogP: Hockney{1, 1}.PLogP()}}}, "level 0: spread +Inf"},
		{"a coupling above 1", Settings{Law: Law{Coupling: 2}}, "coupling is 2"},
		{"a coupling of NaN", Settings{Law: Law{Coupling: nan}}, "coupling is NaN"},
		{"ratios of a level that fall", Settings{Levels: []LevelParams{{PLogP: Hockney{1, 1}.PLogP(), MeasuredOverPredicted: []float64{2, 1}}, {PLogP: Hockney{1, 1}.PLogP()}}}, "level 0: ratios [2 1]"},
		{"ratios that fall", Settings{MeasuredOverPredicted: []float64{2, 1}}, "ratios [2 1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := twoRacks(t, 4, nil)
			_, err := New(&topology.Result{Graph: n.Graph(), Hierarchy: n.Hierarchy()}, &c.s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestInfiniteFitIsWritten(t *testing.T) {
	r := uncertainTree(t, 1)
	inf := math.Inf(1)
	r.Fit = topology.Fit{R2: -inf, Residual: inf, TreeLikeness: inf, Noise: inf, Levels: []float64{inf}}
	n, err := New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := n.Reconstruction().Fit; !math.IsNaN(f.R2+f.Residual+f.TreeLikeness) || !math.IsNaN(f.Noise) || !math.IsNaN(f.Levels[0]) {
		t.Errorf("Fit() = %+v, want NaN for all that is infinite", f)
	}
	if err := n.Write(io.Discard); err != nil {
		t.Errorf("Write = %v", err)
	}
}

func fullSettings() *Settings {
	return &Settings{
		Levels: []LevelParams{
			{PLogP: PLogP{Latency: 1e-6, Sizes: []int64{0, 1000}, Gap: []float64{0, 1e-6}, Send: []float64{1e-7, 2e-7}, Recv: []float64{1e-7, 3e-7}}, Spread: 0.03},
			{PLogP: PLogP{Latency: nan, Sizes: []int64{8}, Gap: []float64{0}}, Spread: nan, MeasuredOverPredicted: []float64{0.5, 2}},
		},
		Locations:   locations(8),
		Degradation: &Degradation{Distance: []float64{nan, 1, 1.5}, Access: []float64{nan, 1, nan, 3}, Hosts: 4},
		Resources: []Resource{
			{Kind: topology.KindCache, Bytes: 32 << 20, Bandwidth: nan, Groups: [][]int{{0, 1}, {4, 5}}},
			{Kind: topology.KindNUMA, Bandwidth: 20e9, Groups: [][]int{{6, 7}}, FromSystem: true},
		},
		Routing:               topology.ChooseHashed,
		Law:                   Law{Coupling: 0.5, Duplex: 1.5, Connection: 1.25, RTTBias: 0.5},
		MeasuredOverPredicted: []float64{0.9, 1, 1.2},
		Measured:              Metadata{Date: "2026-01-02T03:04:05Z", Tool: "test", Bytes: 8, Notes: map[string]string{"b": "2", "a": "1"}},
	}
}

func TestNetworkFileRoundTrip(t *testing.T) {
	for name, s := range map[string]*Settings{"bare": nil, "full": fullSettings()} {
		t.Run(name, func(t *testing.T) {
			n := twoRacks(t, 4, s)
			path := filepath.Join(t.TempDir(), "network.json")
			if err := n.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			var first, second bytes.Buffer
			if err := n.Write(&first); err != nil {
				t.Fatal(err)
			}
			if err := back.Write(&second); err != nil {
				t.Fatal(err)
			}
			if first.String() != second.String() {
				t.Errorf("written again:\n%s\nwant\n%s", second.String(), first.String())
			}
			for src := range 8 {
				for dst := range 8 {
					for _, bytes := range []int64{0, 8, 9, 1e6} {
						if got, want := back.Time(src, dst, bytes), n.Time(src, dst, bytes); !near(got, want, 0) {
							t.Errorf("Time(%d, %d, %d) = %g, want %g", src, dst, bytes, got, want)
						}
					}
				}
				if back.Location(src) != n.Location(src) {
					t.Errorf("Location(%d) = %v, want %v", src, back.Location(src), n.Location(src))
				}
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", " \n", "no content"},
		{"a cut file", `{"format":"topocast/network","ver`, "unexpected end"},
		{"another format", `{"format":"topocast/measurement","version":1}`, `format is "topocast/measurement"`},
		{"another tool's file", `{"nodes":[]}`, `format is ""`},
		{"a list", `[1,2]`, "is an array: want an object"},
		{"a later version", `{"format":"topocast/network","version":6}`, "version is 6"},
		{"version 0", `{"format":"topocast/network"}`, "version is 0"},
		{"an unknown key", `{"format":"topocast/network","version":5,"levls":[]}`, `unknown field "levls"`},
		{"a metadata key that is unknown", `{"format":"topocast/network","version":5,"measured":{"byts":8}}`, `unknown field "byts"`},
		{"no hierarchy", `{"format":"topocast/network","version":5}`, "hierarchy: no content"},
		{"more after the end", `{"format":"topocast/network","version":5} {}`, "after top-level value"},
		{"a platform file with a bad link", `{"graph":{"hosts":["a"],"links":[{"a":"a","b":"c"}]}}`, `called "c"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Read(%s) = %v, want one line with %q", c.file, err, c.want)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Load = %v, want an error with %s", err, path)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []*Settings{nil, fullSettings()} {
		var b bytes.Buffer
		if err := twoRacks(f, 4, s).Write(&b); err != nil {
			f.Fatal(err)
		}
		text, _, _ := bytes.Cut(b.Bytes(), []byte(checksumKey)) // or hardly anything would be read
		f.Add(append(text, '}'))
	}
	f.Add([]byte(`{"graph":{"hosts":["a","b"],"switches":["s"],"links":[{"a":"a","b":"s","latency_us":1,"bandwidth_MBps":1},{"a":"b","b":"s"}]}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		if n.Ranks() > 1 {
			for _, bytes := range []int64{0, 1000, 1 << 40} {
				if x := n.Time(0, n.Ranks()-1, bytes); x < 0 {
					t.Fatalf("Time of %d bytes = %g", bytes, x)
				}
			}
			ts := []Transfer{{Src: 0, Dst: n.Ranks() - 1, Bytes: 1000}, {Src: n.Ranks() - 1, Dst: 0, Bytes: 1}}
			for range 2 { // an error must not spoil the next prediction
				times, err := n.Predict(nil, ts)
				for _, x := range times {
					if err == nil && !(x >= 0) {
						t.Fatalf("Predict = %v", times)
					}
				}
			}
		}
		var b bytes.Buffer
		if err := n.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err != nil {
			t.Fatalf("our own file is refused: %v", err)
		}
	})
}

// BenchmarkTime asks for random pairs of a machine of 16,384 ranks.
func BenchmarkTime(b *testing.B) {
	for _, perRack := range []int{32, 8192} {
		n := twoRacks(b, perRack, &Settings{LevelBandwidth: []float64{1e9, 1e8}})
		b.Run(fmt.Sprintf("ranks=%d", n.Ranks()), func(b *testing.B) {
			b.ReportAllocs()
			x, sum := uint32(1), 0.0
			for b.Loop() {
				x = x*1664525 + 1013904223
				sum += n.Time(int(x>>16)%n.Ranks(), int(x>>3)%n.Ranks(), int64(x&0xfffff))
			}
			_ = sum
		})
	}
}

// BenchmarkFileSize reports the bytes per rank of the file.
func BenchmarkFileSize(b *testing.B) {
	for _, ranks := range []int{64, 1024, 4096, 16384} {
		n := twoRacks(b, ranks/2, &Settings{LevelBandwidth: []float64{1e9, 1e8}, Locations: locations(ranks)})
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			var buf bytes.Buffer
			for b.Loop() {
				buf.Reset()
				if err := n.Write(&buf); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(buf.Len())/float64(ranks), "bytes/rank")
		})
	}
}
