package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// BenchmarkCompareLinks shows what the thresholds of the comparison buy: what is
// said of measured machines that are as specified (false findings a run), have one
// link slower by a factor, or two hosts plugged in for each other (share found, and
// what else was said). The measured graph is what Linkage makes of noisy readings.
func BenchmarkCompareLinks(b *testing.B) {
	type tally struct{ runs, hits, others int }
	specs := []string{
		"tree:4x8 latency=3us,1us", "tree:4x8 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us",
		"tree:2x4x8 latency=2.4us,1.5us,1us", "tree:6x3 latency=2us,1us", "tree:[2,5,9] latency=3us,1us", "star:12 latency=1us",
	}
	for b.Loop() {
		for _, sigma := range []float64{0.01, 0.03, 0.05} {
			count := map[string]*tally{}
			runs, others := 0, 0
			for k, spec := range specs {
				c, err := gen.Parse(spec)
				if err != nil {
					b.Fatal(err)
				}
				for seed := range uint64(6) {
					rng := rand.New(rand.NewPCG(seed, uint64(k)))
					for _, times := range []float64{1, 1.3, 1.5, 2, 3, 0} {
						g, want := c.Graph, ""
						arcs := g.Arcs()
						link := arcs[rng.IntN(len(arcs))]
						swap := [2]int{rng.IntN(g.Hosts()), rng.IntN(g.Hosts())}
						switch {
						case times > 1:
							want = string(topology.FoundSlow)
							g = scaled(b, g, link, times)
						case times == 0:
							if g.Out(swap[0])[0].To == g.Out(swap[1])[0].To {
								continue
							}
							want = string(topology.FoundMoved)
						}
						var repetitions []mat.Matrix
						for range 3 {
							repetitions = append(repetitions, readings(b, rng, g, swap, times == 0, sigma))
						}
						m, err := (&topology.Linkage{}).Reconstruct(repetitions...)
						if err != nil {
							b.Fatal(err)
						}
						cmp, err := topology.CompareLinks(m.Graph, c.Graph, &topology.LinkSettings{Noise: m.Fit.Noise})
						if err != nil {
							b.Fatal(err)
						}
						name := fmt.Sprintf("x%g", times)
						if times == 0 {
							name = "swap"
						}
						t := count[name]
						if t == nil {
							t = &tally{}
							count[name] = t
						}
						t.runs++
						hit := false
						for _, f := range cmp.Findings {
							if string(f.Kind) == want {
								l := topology.LinkState{U: -2}
								if f.Link >= 0 {
									l = cmp.Links[f.Link]
								}
								if times == 0 || l.U == min(link.From, link.To) && l.V == max(link.From, link.To) || l.V == min(link.From, link.To) && l.U == max(link.From, link.To) {
									hit = true
									continue
								}
							}
							t.others++
						}
						if hit {
							t.hits++
						}
					}
				}
			}
			for name, t := range count {
				if name != "x1" {
					b.ReportMetric(float64(t.hits)/float64(t.runs), fmt.Sprintf("found-%s-%.0f%%", name, 100*sigma))
				}
				others += t.others
				runs += t.runs
			}
			b.ReportMetric(float64(others)/float64(runs), fmt.Sprintf("others-%.0f%%", 100*sigma))
		}
	}
}

// scaled is the graph with one link slower, both ways.
func scaled(b *testing.B, g *topology.Graph, link topology.Arc, times float64) *topology.Graph {
	b.Helper()
	names := make([]string, g.Vertices())
	for v := range names {
		names[v] = g.Name(v)
	}
	arcs := append([]topology.Arc(nil), g.Arcs()...)
	for i := range arcs {
		if on(&arcs[i], link.From, link.To) {
			arcs[i].Latency *= times
		}
	}
	out, err := topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), names, arcs)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// readings are noisy ones of a machine, of which two hosts may have changed places.
func readings(b *testing.B, rng *rand.Rand, g *topology.Graph, swap [2]int, swapped bool, sigma float64) *mat.Dense {
	b.Helper()
	exact, err := (&gen.Cluster{Graph: g}).Latencies()
	if err != nil {
		b.Fatal(err)
	}
	place := make([]int, g.Hosts())
	for h := range place {
		place[h] = h
	}
	if swapped {
		place[swap[0]], place[swap[1]] = swap[1], swap[0]
	}
	m, err := gen.Noise{Sigma: sigma, Outliers: 0.02}.Apply(rng, gen.RelabelMatrix(exact, place))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// BenchmarkCompareSuspects shows the same of Compare, from readings as they are: suspects
// where nothing is wrong, a slow link of a host, or two hosts in each other's place.
func BenchmarkCompareSuspects(b *testing.B) {
	specs := []string{
		"tree:2x3 latency=3us,1us", "tree:3x3 latency=2us,1us", "tree:2x5 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us",
		"tree:6x3 latency=2us,1us", "tree:[2,5,9] latency=3us,1us", "star:12 latency=1us", "torus:3x3 hosts=3 latency=1us",
	}
	for b.Loop() {
		for _, sigma := range []float64{0.02, 0.05, 0.1} {
			runs, found, others := map[string]int{}, map[string]int{}, 0
			for k, spec := range specs {
				c, err := gen.Parse(spec)
				if err != nil {
					b.Fatal(err)
				}
				for seed := range uint64(10) {
					for _, kind := range []string{"same", "slow", "swap"} {
						rng := rand.New(rand.NewPCG(seed, uint64(k)))
						g, swap := c.Graph, [2]int{rng.IntN(c.Graph.Hosts()), rng.IntN(c.Graph.Hosts())}
						if g.Out(swap[0])[0].To == g.Out(swap[1])[0].To && kind == "swap" {
							continue
						}
						if kind == "slow" {
							g = scaled(b, g, g.Out(swap[0])[0], 2.5)
						}
						m := readings(b, rng, g, swap, kind == "swap", sigma)
						bare, err := topology.NewGraph(g.Hosts(), 0, nil, nil)
						if err != nil {
							b.Fatal(err)
						}
						cmp, err := topology.Compare(bare, m, c.Graph, nil)
						if err != nil {
							b.Fatal(err)
						}
						runs[kind]++
						for _, s := range cmp.Suspects {
							if kind == "slow" && s.U == swap[0] || kind == "swap" && slices.Contains(swap[:], s.U) && strings.Contains(s.Reason, "are those of a host on") {
								found[kind]++
								continue
							}
							others++
						}
					}
				}
			}
			b.ReportMetric(float64(found["slow"])/float64(runs["slow"]), fmt.Sprintf("found-slow-%.0f%%", 100*sigma))
			b.ReportMetric(float64(found["swap"])/float64(2*runs["swap"]), fmt.Sprintf("found-swap-%.0f%%", 100*sigma))
			b.ReportMetric(float64(others)/float64(runs["same"]+runs["slow"]+runs["swap"]), fmt.Sprintf("others-%.0f%%", 100*sigma))
		}
	}
}
