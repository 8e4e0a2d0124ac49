package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/tooltest"
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

// fitTruth is a two-rack machine with known parameters, and its reconstruction
// without bandwidths.
func fitTruth(t testing.TB, r *rand.Rand, perRack int, settings *model.Settings) (truth *model.Network, seen *topology.Result) {
	hosts := 2 * perRack
	var known, bare []topology.Arc
	link := func(a, b int, latency, bandwidth float64) {
		known, bare = topology.AppendLink(known, a, b, latency, bandwidth), topology.AppendLink(bare, a, b, latency, nan)
	}
	for h := range hosts {
		link(h, hosts+h/perRack, 20e-6, 117.5e6*(0.8+0.4*r.Float64()))
	}
	link(hosts, hosts+1, 100e-6, 235e6)
	var groups []topology.Group
	for rack := range 2 {
		g := topology.Group{Latency: 40e-6, Confidence: nan}
		for i := range perRack {
			g.Hosts = append(g.Hosts, rack*perRack+i)
		}
		groups = append(groups, g)
	}
	h, err := topology.NewHierarchy(hosts, []topology.Level{{Name: "rack", Latency: 40e-6, Confidence: nan}}, groups, 140e-6)
	if err != nil {
		t.Fatal(err)
	}
	build := func(arcs []topology.Arc) *topology.Result {
		g, err := topology.NewGraph(hosts, 2, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return &topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}
	}
	seen = build(bare)
	all := build(known)
	if truth, err = model.New(all, settings); err != nil {
		t.Fatal(err)
	}
	return truth, seen
}

// observe times patterns on a network, with relative noise.
func observe(t testing.TB, n *model.Network, r *rand.Rand, noise float64, patterns [][]model.Transfer) []Observation {
	var out []Observation
	for _, ts := range patterns {
		if len(ts) == 0 {
			continue
		}
		times, err := n.Predict(nil, ts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range times {
			times[i] = (times[i] - ts[i].Start) * math.Exp(noise*r.NormFloat64())
		}
		out = append(out, Observation{Transfers: ts, Seconds: times})
	}
	return out
}

// fitPatterns are single transfers around each rack and across, and random
// patterns, of 20 MB.
func fitPatterns(r *rand.Rand, hosts, random int) [][]model.Transfer {
	var out [][]model.Transfer
	for i := range hosts {
		for _, d := range []int{1, hosts / 2} {
			for range 3 {
				out = append(out, []model.Transfer{{Src: i, Dst: (i + d) % hosts, Bytes: 20e6}})
			}
			out = append(out, []model.Transfer{{Src: i, Dst: (i + d) % hosts, Bytes: 8}})
		}
	}
	for k := range random {
		out = append(out, model.RandomPattern(r, hosts, 1+k%3, 20e6))
	}
	return out
}

func TestFitRecoversKnownParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	r := rand.New(rand.NewPCG(11, 1))
	const perRack = 5
	truth, seen := fitTruth(t, r, perRack, &model.Settings{
		Law: model.Law{Coupling: 0.7, RTTBias: 0.4},
	})
	observations := observe(t, truth, r, 0.03, fitPatterns(r, 2*perRack, 60))
	fit, err := Network(seen, observations, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range fit.Network.Graph().Arcs() {
		want := truth.Graph().Arcs()[i].Bandwidth
		if !near(a.Bandwidth, want, 0.02) {
			t.Errorf("bandwidth of %d->%d = %g, want %g within 2 %%", a.From, a.To, a.Bandwidth, want)
		}
	}
	if math.Abs(fit.Coupling-0.7) > 0.05 {
		t.Errorf("coupling = %.3f, want 0.7 within 0.05", fit.Coupling)
	}
	if math.Abs(fit.RTTBias-0.4) > 0.1 {
		t.Errorf("RTT bias = %.3f, want 0.4 within 0.1", fit.RTTBias)
	}
	if len(fit.Warnings) > 0 {
		t.Errorf("Warnings = %q, want none", fit.Warnings)
	}
	// Single transfers of 20 MB within a rack take that over the slower link.
	if got := fit.Network.Levels()[0].Bandwidth(); got < 90e6 || got > 130e6 {
		t.Errorf("bandwidth of level 0 = %g", got)
	}

	held := observe(t, truth, r, 0.03, fitPatterns(r, 2*perRack, 40)[8*2*perRack:])
	inside, total := 0, 0
	p, err := fit.Network.NewPredictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range held {
		got, err := p.Prediction(o.Transfers, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range o.Seconds {
			if total++; got.Interval[i][0] <= x && x <= got.Interval[i][1] {
				inside++
			}
		}
	}
	if share := float64(inside) / float64(total); share < 0.85 || share > 0.95 {
		t.Errorf("%.3f of %d held-out transfers in the 90 %% interval, want 0.85 to 0.95", share, total)
	}
}

// Sharing has no more parameters than transfers speak for: of a fair machine neither coupling nor RTT bias, of a coupled
// one no RTT bias.
func TestNetworkChoosesTheSharing(t *testing.T) {
	for _, coupling := range []float64{0, 0.5} {
		r := rand.New(rand.NewPCG(15, 1))
		truth, seen := fitTruth(t, r, 4, &model.Settings{
			Law: model.Law{Coupling: coupling},
		})
		fit, err := Network(seen, observe(t, truth, r, 0.01, fitPatterns(r, 8, 40)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(fit.Coupling-coupling) > 0.05 || coupling == 0 && fit.Coupling != 0 {
			t.Errorf("coupling = %.3f, want %g within 0.05", fit.Coupling, coupling)
		}
		if fit.RTTBias != 0 {
			t.Errorf("coupling %g: RTT bias %g, want 0", coupling, fit.RTTBias)
		}
	}
}

func TestFitWarnsOfWhatIsNotDetermined(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const perRack = 3
	truth, seen := fitTruth(t, r, perRack, &model.Settings{})
	// Only in the first rack, one after the other.
	var patterns [][]model.Transfer
	for i := range perRack {
		for range 4 {
			patterns = append(patterns, []model.Transfer{{Src: i, Dst: (i + 1) % perRack, Bytes: 20e6}})
		}
	}
	const alone = "no transfers were timed while others were under way"
	fit, err := Network(seen, observe(t, truth, r, 0.03, patterns), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(fit.Warnings, "\n"); !strings.Contains(text, alone) || strings.Contains(text, "coupling") || strings.Contains(text, "RTT bias") {
		t.Errorf("Warnings of single transfers:\n%s\nwant one of %q for all about sharing", text, alone)
	}
	// Two together, in one direction.
	patterns = append(patterns, []model.Transfer{{Src: 0, Dst: 1, Bytes: 20e6}, {Src: 0, Dst: 2, Bytes: 20e6}})
	fit, err = Network(seen, observe(t, truth, r, 0.03, patterns), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(fit.Warnings, "\n")
	if strings.Contains(text, alone) {
		t.Errorf("Warnings:\n%s\nsay that no transfers were timed together", text)
	}
	for _, want := range []string{
		"the bandwidths of 4 of 7 links were not measured",
		"few transfers against the stream: the coupling of links", "the RTT bias is not determined",
		"level 1: single transfers of 0 sizes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Warnings:\n%s\nwant %q among them", text, want)
		}
	}
	for _, a := range fit.Network.Graph().Arcs() {
		first := max(a.From, a.To) == 2*perRack && min(a.From, a.To) < perRack
		if a.Estimated == first {
			t.Errorf("link %d-%d: estimated: %v, want that of all but the first rack's hosts", a.From, a.To, a.Estimated)
		}
	}
	if _, err := fit.Network.Predict(nil, []model.Transfer{{Src: 0, Dst: 3, Bytes: 1}}); err != nil {
		t.Errorf("Predict over an estimated link: %v", err)
	}
}

func TestFitOfNothingKeepsTheNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	_, seen := fitTruth(t, r, 2, &model.Settings{})
	fit, err := Network(seen, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fit.Network.Time(0, 1, 0); !near(got, 40e-6, 1e-9) {
		t.Errorf("Time(0, 1, 0) = %g, want 40e-6", got)
	}
	if len(fit.Warnings) != 3 {
		t.Errorf("Warnings = %q, want three", fit.Warnings)
	}
}

func TestFitRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	_, seen := fitTruth(t, r, 2, &model.Settings{})
	good := []model.Transfer{{Src: 0, Dst: 1, Bytes: 1e6}}
	for _, c := range []struct {
		name string
		o    Observation
		want string
	}{
		{"no transfers", Observation{}, "observation 0: 0 transfers"},
		{"too few times", Observation{Transfers: good, Seconds: nil}, "1 transfers, 0 times"},
		{"an unknown rank", Observation{Transfers: []model.Transfer{{Src: 0, Dst: 9, Bytes: 1}}, Seconds: []float64{1}}, "transfer 0 (0->9, 1 bytes)"},
		{"a NaN time", Observation{Transfers: good, Seconds: []float64{nan}}, "took NaN s"},
		{"a time of zero", Observation{Transfers: good, Seconds: []float64{0}}, "took 0 s"},
	} {
		if _, err := Network(seen, []Observation{c.o}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Fit = %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// Without long transfers no law is fitted: the one that is given stays, for the graph without the switch of the
// uncertain group of hosts 0 and 1.
func TestNetworkKeepsTheLawWithoutUncertainSwitches(t *testing.T) {
	var arcs []topology.Arc
	for host, at := range []int{5, 5, 4, 4} {
		arcs = topology.AppendLink(arcs, host, at, 1e-6, nan)
	}
	g, err := topology.NewGraph(4, 2, nil, topology.AppendLink(arcs, 4, 5, 2e-6, nan))
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(4, []topology.Level{{Latency: 2e-6, Confidence: 0.5}}, []topology.Group{{Hosts: []int{0, 1}, Latency: 2e-6, Confidence: 0.5}}, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	law := model.Law{Coupling: 1}
	fitted, err := Network(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil, &Settings{Network: model.Settings{Law: law}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fitted.Network.Settings().Law; fitted.Network.Graph().Vertices() != 5 || got != law {
		t.Errorf("law %+v on %d vertices, want the given one on 5", got, fitted.Network.Graph().Vertices())
	}
}

// The steps found by conjugate gradients are those of the normal equations.
func TestFitStepsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	truth, seen := fitTruth(t, r, 4, &model.Settings{Law: model.Law{Coupling: 0.5}})
	base, err := model.New(seen, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitter(base, observe(t, truth, r, 0.03, fitPatterns(r, 8, 20)), nil)
	if err != nil {
		t.Fatal(err)
	}
	f.allResiduals()
	f.sigma = f.spread()
	f.differentiate()
	gradient := f.equations()
	for _, damping := range []float64{1e-6, 1e-2, 1} {
		equations := f.normal()
		for k := range f.theta {
			equations.SetSym(k, k, f.damped(k, damping))
		}
		var chol mat.Cholesky
		var dense mat.VecDense
		if !chol.Factorize(equations) {
			t.Fatalf("damping %g: the equations are singular", damping)
		}
		if err := chol.SolveVecTo(&dense, mat.NewVecDense(len(gradient), gradient)); err != nil {
			t.Fatal(err)
		}
		for k, got := range f.step(gradient, damping) {
			if want := dense.AtVec(k); math.Abs(want-got) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("damping %g: step of parameter %d = %g by gradients, %g by the equations", damping, k, got, want)
			}
		}
	}
}

// BenchmarkFit fits machines of many hosts to single transfers: each host to
// 8 others, of five sizes.
func BenchmarkFit(b *testing.B) {
	for _, hosts := range []int{64, 1024} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			r := rand.New(rand.NewPCG(17, 1))
			truth, seen := fitTruth(b, r, hosts/2, &model.Settings{})
			var patterns [][]model.Transfer
			for i := range hosts {
				for d := 1; d < hosts; d += max(1, hosts/8) {
					for _, bytes := range []int64{8, 1e4, 1e6, 1e7} {
						patterns = append(patterns, []model.Transfer{{Src: i, Dst: (i + d) % hosts, Bytes: bytes}})
					}
				}
			}
			observations := observe(b, truth, r, 0.03, patterns)
			for b.Loop() {
				if _, err := Network(seen, observations, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Other machines, with other coupling and bias, are recovered as well.
func TestFitRecoversOtherMachines(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	for seed := range uint64(2) { // the third is TestFitRecoversKnownParameters
		r := rand.New(rand.NewPCG(seed, 33))
		coupling, bias := r.Float64(), 0.6*r.Float64()
		truth, seen := fitTruth(t, r, 5, &model.Settings{
			Law: model.Law{Coupling: coupling, RTTBias: bias},
		})
		fit, err := Network(seen, observe(t, truth, r, 0.03, fitPatterns(r, 10, 60)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range fit.Network.Graph().Arcs() {
			if want := truth.Graph().Arcs()[i].Bandwidth; !near(a.Bandwidth, want, 0.02) {
				t.Errorf("seed %d: bandwidth of %d->%d = %g, want %g within 2 %%", seed, a.From, a.To, a.Bandwidth, want)
			}
		}
		if math.Abs(fit.Coupling-coupling) > 0.05 {
			t.Errorf("seed %d: coupling = %.3f, want %.3f within 0.05", seed, fit.Coupling, coupling)
		}
		if math.Abs(fit.RTTBias-bias) > 0.1 {
			t.Errorf("seed %d: RTT bias = %.3f, want %.3f within 0.1", seed, fit.RTTBias, bias)
		}
	}
}

// BenchmarkFitPatterns fits machines of two racks to 30 patterns of transfers that share links, as
// discover measures them.
func BenchmarkFitPatterns(b *testing.B) {
	for _, hosts := range []int{16, 64} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			r := rand.New(rand.NewPCG(17, 2))
			truth, seen := fitTruth(b, r, hosts/2, &model.Settings{})
			observations := observe(b, truth, r, 0.03, fitPatterns(r, hosts, 30))
			for b.Loop() {
				if _, err := Network(seen, observations, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
