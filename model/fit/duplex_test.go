package fit

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

const (
	starRate    = 1.15e9 // B/s
	starLatency = 10e-6  // s, of each link
)

// star is hosts on one switch; with a bandwidth of NaN as it is seen before a fit.
func star(t testing.TB, hosts int, bandwidth float64) *topology.Result {
	t.Helper()
	var arcs []topology.Arc
	for h := range hosts {
		arcs = topology.AppendLink(arcs, h, hosts, starLatency, bandwidth)
	}
	g, err := topology.NewGraph(hosts, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(hosts, nil, nil, 2*starLatency)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}
}

func duplexNetwork(t testing.TB, hosts int, duplex, connection float64) *model.Network {
	t.Helper()
	r := star(t, hosts, starRate)
	settings := &model.Settings{Law: model.Law{Duplex: duplex, Connection: connection}}
	for h := range hosts {
		settings.Locations = append(settings.Locations, model.Location{Host: fmt.Sprintf("h%d", h)})
	}
	n, err := model.New(r, settings)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// bothWays are transfers of the same pairs both ways; toNext sends each host's to the next.
func bothWays(pairs ...[2]int) (ts []model.Transfer) {
	for _, p := range pairs {
		ts = append(ts, model.Transfer{Src: p[0], Dst: p[1], Bytes: 4e6}, model.Transfer{Src: p[1], Dst: p[0], Bytes: 4e6})
	}
	return ts
}

func toNext(hosts []int) (ts []model.Transfer) {
	for i, h := range hosts {
		ts = append(ts, model.Transfer{Src: h, Dst: hosts[(i+1)%len(hosts)], Bytes: 4e6})
	}
	return ts
}

// By hand: alone a transfer takes its bytes over the rate. In a ring each host sends and
// receives as much, which takes twice as long over the duplex factor; both ways over one
// connection likewise, where its own factor is less.
func TestDirectionsShareALinkAndAConnection(t *testing.T) {
	const alone = 4e6 / starRate
	for _, c := range []struct {
		name               string
		duplex, connection float64
		transfers          []model.Transfer
		want               float64 // s, without latency
	}{
		{"alone", 1.46, 1, toNext([]int{0, 1})[:1], alone},
		{"a ring of four", 1.46, 1, toNext([]int{0, 1, 2, 3}), alone * 2 / 1.46},
		{"both ways over one connection", 1.46, 1, bothWays([2]int{0, 1}), 2 * alone},
		{"both ways over two connections", 1.46, 1.2, bothWays([2]int{0, 1}, [2]int{3, 2}), alone * 2 / 1.2},
		{"the host holds up more than the connection", 1.1, 1.5, bothWays([2]int{0, 1}), alone * 2 / 1.1},
		{"no limit of hosts", 0, 1, toNext([]int{0, 1, 2}), alone},
		{"no limit of connections", 1.46, 0, bothWays([2]int{0, 1}), alone * 2 / 1.46},
		{"full duplex", 2, 2, bothWays([2]int{0, 1}), alone},
		{"one sends to two, which is one direction", 1, 1, []model.Transfer{{Src: 0, Dst: 1, Bytes: 4e6}, {Src: 0, Dst: 2, Bytes: 4e6}}, 2 * alone},
	} {
		n := duplexNetwork(t, 4, c.duplex, c.connection)
		var file bytes.Buffer
		if err := n.Write(&file); err != nil {
			t.Fatal(err)
		}
		read, err := model.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		view, err := read.View([]model.Location{{Host: "h0", Core: 0}, {Host: "h1", Core: 0}, {Host: "h2", Core: 0}, {Host: "h3", Core: 0}})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []*model.Network{n, read, view} {
			for range 2 { // a predictor is used again
				times, err := n.Predict(nil, c.transfers)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range times {
					if !near(x-2*starLatency, c.want, 1e-9) {
						t.Errorf("%s: transfer %d takes %g s, want %g", c.name, i, x-2*starLatency, c.want)
					}
				}
			}
		}
	}
}

func TestDuplexFactorsAreChecked(t *testing.T) {
	r := star(t, 3, starRate)
	for _, c := range []struct {
		duplex, connection float64
	}{{0.9, 0}, {2.1, 0}, {nan, 0}, {0, 0.5}, {0, nan}} {
		if _, err := model.New(r, &model.Settings{Law: model.Law{Duplex: c.duplex, Connection: c.connection}}); err == nil {
			t.Errorf("New accepts %+v", c)
		}
	}
}

// starPatterns are transfers alone and together: one way, both ways, in rings, and at random.
func starPatterns(r *rand.Rand, hosts, each int) (out [][]model.Transfer) {
	for h := range hosts {
		for range 3 {
			out = append(out, []model.Transfer{{Src: h, Dst: (h + 1) % hosts, Bytes: 4e6}}, []model.Transfer{{Src: (h + 1) % hosts, Dst: h, Bytes: 4e6}})
		}
	}
	for range each {
		order := r.Perm(hosts)
		out = append(out, bothWays([2]int{order[0], order[1]}, [2]int{order[2], order[3]}), toNext(order[:3+r.IntN(hosts-3)]))
		oneWay := toNext(order)
		out = append(out, []model.Transfer{oneWay[0], oneWay[2], oneWay[4]})
		out = append(out, model.RandomPattern(r, hosts, 1+r.IntN(3), 4e6))
	}
	return slices.DeleteFunc(out, func(ts []model.Transfer) bool { return len(ts) == 0 })
}

func TestFitRecoversWhatDirectionsShare(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	for seed, c := range []struct{ duplex, connection float64 }{{1.46, 1}, {1.2, 0}, {0, 0}} {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		truth := duplexNetwork(t, 7, c.duplex, c.connection)
		fit, err := Network(star(t, 7, nan), observe(t, truth, r, 0.03, starPatterns(r, 7, 7)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"a host's link", fit.Duplex, c.duplex}, {"a connection", fit.Connection, c.connection}} {
			if !near(x.got, x.want, 0.05) && !(x.want == 0 && x.got > 1.9) {
				t.Errorf("truth %+v: duplex factor of %s is %.3g, want %.3g within 5 %%", c, x.what, x.got, x.want)
			}
		}
	}
}

// saturation reads a file of testdata/saturation: of each step the calls, of each call what each of its
// ranks saw, in s.
func saturation(t testing.TB, name string, steps []int, calls int, ranks func(step int) []int) map[int][]map[int]float64 {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "saturation", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[int][]float64)
	for _, row := range rows[1:] {
		rank, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		ms, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		times[rank] = append(times[rank], ms/1e3)
	}
	out := make(map[int][]map[int]float64)
	for _, step := range steps {
		for k := range calls {
			call := make(map[int]float64)
			for _, rank := range ranks(step) {
				call[rank] = times[rank][k]
			}
			out[step] = append(out[step], call)
		}
		for _, rank := range ranks(step) {
			times[rank] = times[rank][calls:]
		}
	}
	return out
}

// Twelve hosts on one switch (see its README): the lower half of the steps of each kind is
// fitted, without any of alltoall; the medians of the others are predicted, and alltoall
// as its library does it with long messages, in steps: in each a rank sends to the
// one that is so many farther, and receives from the one that is so many before.
func TestFitExplainsContentionThatOthersMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	const hosts, half, calls = 12, 6, 10
	paired := func(step int) (ranks []int) {
		for r := range hosts {
			if r%half <= step {
				ranks = append(ranks, r)
			}
		}
		return ranks
	}
	send := func(src, dst int) model.Transfer { return model.Transfer{Src: src, Dst: dst, Bytes: 4e6} }
	all := []int{0, 1, 2, 3, 4, 5}
	var fitted []Observation
	type measurement struct {
		name     string
		patterns [][]model.Transfer // one after the other
		seconds  float64
	}
	var held []measurement
	for _, k := range []struct {
		name  string
		steps []int
		of    func(r int) []model.Transfer // of rank r and its partner
	}{
		{"send", all, func(r int) []model.Transfer { return []model.Transfer{send(r, r+half)} }},
		{"sendrecv_same", all, func(r int) []model.Transfer { return []model.Transfer{send(r, r+half), send(r+half, r)} }},
		{"sendrecv_diff", []int{1, 3, 5}, func(r int) []model.Transfer { return []model.Transfer{send(r, r+half), send((r^1)+half, r)} }},
	} {
		seen := saturation(t, "taurus_"+k.name+".csv", k.steps, calls, paired)
		for i, step := range k.steps {
			var pattern []model.Transfer
			for r := range step + 1 {
				pattern = append(pattern, k.of(r)...)
			}
			var longest []float64
			for _, call := range seen[step] {
				o, last := Observation{Transfers: pattern}, 0.0
				for _, x := range pattern {
					o.Seconds = append(o.Seconds, call[x.Dst])
					last = max(last, call[x.Dst])
				}
				longest = append(longest, last)
				if i < len(k.steps)/2 {
					fitted = append(fitted, o)
				}
			}
			if i >= len(k.steps)/2 {
				held = append(held, measurement{fmt.Sprintf("%s of %d pairs", k.name, step+1), [][]model.Transfer{pattern}, stats.MiddleMedian(longest)})
			}
		}
	}
	among := func(step int) (ranks []int) {
		for r := range 2 * (step + 1) {
			ranks = append(ranks, r)
		}
		return ranks
	}
	for step, seen := range saturation(t, "taurus_alltoall.csv", all, 3, among) {
		ranks := among(step)
		x := measurement{name: fmt.Sprintf("alltoall of %d", len(ranks))}
		for farther := 1; farther < len(ranks); farther++ {
			var pattern []model.Transfer
			for _, r := range ranks {
				pattern = append(pattern, send(r, (r+farther)%len(ranks)))
			}
			x.patterns = append(x.patterns, pattern)
		}
		var longest []float64
		for _, call := range seen {
			longest = append(longest, slices.Max(slices.Collect(maps.Values(call))))
		}
		x.seconds = stats.MiddleMedian(longest)
		held = append(held, x)
	}
	slices.SortFunc(held, func(a, b measurement) int {
		return cmp.Or(cmp.Compare(len(a.patterns), len(b.patterns)), cmp.Compare(a.name, b.name))
	})

	fit, err := Network(star(t, hosts, nan), fitted, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("duplex factor of hosts %.3f, of connections %.3f", fit.Duplex, fit.Connection)
	worst := map[string]float64{}
	for _, x := range held {
		line := fmt.Sprintf("%-24s measured %6.2f ms", x.name, x.seconds*1e3)
		for _, law := range []string{"fair", "asymmetric", "fitted"} {
			p, err := fit.Network.NewPredictor(nil)
			if err != nil {
				t.Fatal(err)
			}
			if coupling, is := map[string]float64{"fair": 0, "asymmetric": 1}[law]; is {
				if err := p.SetLaw(model.Law{Coupling: coupling, RTTBias: fit.RTTBias}); err != nil {
					t.Fatal(err)
				}
			}
			sum := 0.0
			for _, pattern := range x.patterns {
				times, err := p.Predict(nil, pattern)
				if err != nil {
					t.Fatal(err)
				}
				sum += slices.Max(times)
			}
			off := sum/x.seconds - 1
			worst[law] = max(worst[law], math.Abs(off))
			line += fmt.Sprintf(", %s %+.1f %%", law, 100*off)
		}
		t.Log(line)
	}
	if worst["fitted"] > 0.1 {
		t.Errorf("the fitted law is off by %.1f %%, want 10 %% at most", 100*worst["fitted"])
	}
	// Neither knows that a host moves less both ways than twice one way.
	for _, law := range []string{"fair", "asymmetric"} {
		if worst[law] < 0.4 {
			t.Errorf("the %s law is off by %.1f %%: is there anything to fit?", law, 100*worst[law])
		}
	}
}
