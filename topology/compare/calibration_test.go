package compare_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// An outcome counts what is said of measured machines: runs, those in which what was done to
// the machine is found, and findings of something else.
type outcome struct{ runs, hits, others int }

func (o *outcome) share() float64 { return float64(o.hits) / float64(o.runs) }

// foundLinks counts what Links says of machines that are as specified ("x1"), have one
// link slower by a factor, or two hosts plugged in for each other ("swap"), with so much noise. The
// measured graph is what linkage.Robust makes of three noisy measurements.
func foundLinks(t testing.TB, sigma float64, seeds uint64) map[string]*outcome {
	t.Helper()
	count := map[string]*outcome{}
	for k, spec := range []string{
		"tree:4x8 latency=3us,1us", "tree:4x8 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us",
		"tree:2x4x8 latency=2.4us,1.5us,1us", "tree:6x3 latency=2us,1us", "tree:[2,5,9] latency=3us,1us", "star:12 latency=1us",
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, uint64(k)))
			for _, times := range []float64{1, 1.3, 1.5, 2, 3, 0} {
				g, name, want := c.Graph, fmt.Sprintf("x%g", times), ""
				arcs := g.Arcs()
				link := arcs[rng.IntN(len(arcs))]
				swap := [2]int{rng.IntN(g.Hosts()), rng.IntN(g.Hosts())}
				switch {
				case times > 1:
					want = string(compare.LinkSlow)
					g = scaled(t, g, link, times)
				case times == 0:
					if g.Out(swap[0])[0].To == g.Out(swap[1])[0].To {
						continue
					}
					name, want = "swap", "moved"
				}
				var repetitions []mat.Matrix
				for range 3 {
					repetitions = append(repetitions, measurements(t, rng, g, swap, times == 0, sigma))
				}
				m, err := (&linkage.Robust{}).Reconstruct(repetitions...)
				if err != nil {
					t.Fatal(err)
				}
				cmp, err := compare.Links(m.Graph, c.Graph, &compare.LinkSettings{Noise: m.Fit.Noise})
				if err != nil {
					t.Fatal(err)
				}
				if count[name] == nil {
					count[name] = &outcome{}
				}
				f := count[name]
				f.runs++
				hit := false
				for _, finding := range cmp.Findings {
					if string(finding.Kind) == want {
						l := compare.LinkState{U: -2}
						if finding.Link >= 0 {
							l = cmp.Links[finding.Link]
						}
						if times == 0 || min(l.U, l.V) == min(link.From, link.To) && max(l.U, l.V) == max(link.From, link.To) {
							hit = true
							continue
						}
					}
					f.others++
				}
				if hit {
					f.hits++
				}
			}
		}
	}
	return count
}

// Links twice as slow, and hosts plugged in for each other, are all found with up to 5 % of noise, and of
// links one and a half times as slow nine of ten; nothing else is said, and nothing of a machine that
// is as specified.
func TestCompareLinksFindsWhatIsWrong(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, sigma := range []float64{0.01, 0.03, 0.05} {
		if sigma < 0.05 && !tooltest.Long() {
			continue
		}
		least := map[string]float64{"x1": 0, "x1.3": 0.9, "x1.5": 1, "x2": 1, "x3": 1, "swap": 1}
		if sigma == 0.05 {
			least["x1.3"], least["x1.5"] = 0.5, 0.9
		}
		count := foundLinks(t, sigma, seeds)
		for name, share := range least {
			if f := count[name]; f.share() < share || f.others > 0 {
				t.Errorf("noise %g, %s: found in %d of %d runs, want %g of all, and %d other findings, want none", sigma, name, f.hits, f.runs, share, f.others)
			}
		}
	}
}

// BenchmarkCompareLinks shows what the thresholds of the comparison buy: the share of what was done
// to machines that is found, and false findings a run.
func BenchmarkCompareLinks(b *testing.B) {
	for b.Loop() {
		for _, sigma := range []float64{0.01, 0.03, 0.05} {
			runs, others := 0, 0
			for name, f := range foundLinks(b, sigma, 6) {
				if name != "x1" {
					b.ReportMetric(f.share(), fmt.Sprintf("found-%s-%.0f%%", name, 100*sigma))
				}
				others += f.others
				runs += f.runs
			}
			b.ReportMetric(float64(others)/float64(runs), fmt.Sprintf("others-%.0f%%", 100*sigma))
		}
	}
}

// scaled is the graph with one link slower, both ways.
func scaled(t testing.TB, g *topology.Graph, link topology.Arc, times float64) *topology.Graph {
	t.Helper()
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
		t.Fatal(err)
	}
	return out
}

// measurements are noisy ones of a machine, of which two hosts may have changed places.
func measurements(t testing.TB, rng *rand.Rand, g *topology.Graph, swap [2]int, swapped bool, sigma float64) *mat.Dense {
	t.Helper()
	exact, err := (&gen.Cluster{Graph: g}).Latencies()
	if err != nil {
		t.Fatal(err)
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
		t.Fatal(err)
	}
	return m
}

// foundSuspects counts the same from measured latencies as they are: what is slow, odd, missing or elsewhere where nothing is
// wrong ("same"), of a host whose link takes 2.5 times as long ("slow"), and of two hosts in each other's
// place ("swap", two hits a run). Nobody suspects what is faster than it should be.
func foundSuspects(t testing.TB, sigma float64, seeds uint64) map[string]*outcome {
	t.Helper()
	count := map[string]*outcome{"same": {}, "slow": {}, "swap": {}}
	for k, spec := range []string{
		"tree:2x3 latency=3us,1us", "tree:3x3 latency=2us,1us", "tree:2x5 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us",
		"tree:6x3 latency=2us,1us", "tree:[2,5,9] latency=3us,1us", "star:12 latency=1us", "torus:3x3 hosts=3 latency=1us",
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range seeds {
			for _, kind := range []string{"same", "slow", "swap"} {
				rng := rand.New(rand.NewPCG(seed, uint64(k)))
				g, swap := c.Graph, [2]int{rng.IntN(c.Graph.Hosts()), rng.IntN(c.Graph.Hosts())}
				if g.Out(swap[0])[0].To == g.Out(swap[1])[0].To && kind == "swap" {
					continue
				}
				if kind == "slow" {
					g = scaled(t, g, g.Out(swap[0])[0], 2.5)
				}
				m := measurements(t, rng, g, swap, kind == "swap", sigma)
				cmp, err := compare.LinksOfLatencies(m, c.Graph, &compare.LinkSettings{Tolerance: 0.5})
				if err != nil {
					t.Fatal(err)
				}
				o := count[kind]
				o.runs++
				hits := map[string]bool{}
				for _, f := range cmp.Findings {
					host := strings.Join(f.Hosts, "-")
					if f.Link >= 0 {
						host = strings.Join(cmp.Links[f.Link].Below, "-")
					}
					slow := kind == "slow" && (f.Kind == compare.LinkSlow || f.Kind == "odd") && host == g.Name(swap[0])
					moved := kind == "swap" && f.Kind == "moved" && (host == g.Name(swap[0]) || host == g.Name(swap[1]))
					switch {
					case slow || moved:
						hits[host] = true
					case f.Kind != compare.LinkFast:
						o.others++
					}
				}
				o.hits += len(hits)
			}
		}
	}
	return count
}

// Of slow links and of hosts in each other's place 97 % are suspected, with 10 % of noise too. Others
// are suspected in one run of five at most, and with 10 % of noise in one of three.
func TestCompareSuspectsWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for sigma, most := range map[float64]float64{0.02: 0.2, 0.05: 0.2, 0.1: 0.33} {
		if sigma != 0.05 && !tooltest.Long() {
			continue
		}
		count := foundSuspects(t, sigma, 10)
		slow, swap := count["slow"], count["swap"]
		if slow.share() < 0.97 || swap.share() < 2*0.97 {
			t.Errorf("noise %g: %d of %d slow links and %d of %d hosts in another's place suspected, want 97 %%", sigma, slow.hits, slow.runs, swap.hits, 2*swap.runs)
		}
		others, runs := 0, 0
		for _, o := range count {
			others += o.others
			runs += o.runs
		}
		if float64(others) > most*float64(runs) {
			t.Errorf("noise %g: %d others suspected in %d runs, want at most %g a run", sigma, others, runs, most)
		}
	}
}

// BenchmarkCompareSuspects shows the same.
func BenchmarkCompareSuspects(b *testing.B) {
	for b.Loop() {
		for _, sigma := range []float64{0.02, 0.05, 0.1} {
			count := foundSuspects(b, sigma, 10)
			slow, swap := count["slow"], count["swap"]
			b.ReportMetric(slow.share(), fmt.Sprintf("found-slow-%.0f%%", 100*sigma))
			b.ReportMetric(swap.share()/2, fmt.Sprintf("found-swap-%.0f%%", 100*sigma))
			others, runs := 0, 0
			for _, f := range count {
				others += f.others
				runs += f.runs
			}
			b.ReportMetric(float64(others)/float64(runs), fmt.Sprintf("others-%.0f%%", 100*sigma))
		}
	}
}
