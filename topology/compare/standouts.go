package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// What makes a suspect. Plateaus are those of BenchmarkCompareSuspects and
// BenchmarkCompareLinks, and of the tests.
const (
	// suspectHost is how many times the usual residual a host has that is listed. Machines of
	// 6 to 60 hosts had 2 % of noise and of outliers. 2, 3, 4 and 6 name 2, 0.8, 0.35 and 0.07 hosts
	// a run for an outlier alone, and all find as many of those that are wrong.
	suspectHost = 3

	// floorShare is the least residual that is taken for usual, as a share: exact
	// readings leave none, and three times nothing would be a fault. 0.003 changes nothing, and
	// 0.03 names fewer hosts for an outlier alone.
	floorShare = 0.01

	// fewHosts is the number of hosts from which one can stand out: of three, one that is
	// off is off to all, and so are the others. 3 to 6 change nothing.
	fewHosts = 4

	// mostOff is the logarithm at which what one reading is off is cut, so that an
	// outlier is not its host's fault. With 0.1, 0.25, 0.5, 1 and 3 as many of those are named
	// that are wrong, and 0.03, 0.2, 0.8, 1.6 and 2.1 others a run.
	mostOff = 0.5

	// placeGain is how much of what remains unexplained may remain on another switch. A
	// host that is plugged in elsewhere leaves noise alone there, and one that is not
	// leaves as much or more. With 0.75 and 0.9 all are found in 5 % of noise and nearly all
	// in 10 %; 0.5 misses a sixth and more than a half, 1 sends some to where a fault is by
	// chance. That the gain be worth eight readings of what remains was a second
	// condition: it missed a seventh of exchanged hosts in machines of 6 to 20, for nothing.
	placeGain = 0.75

	// placeWork bounds the readings looked at to try every host on every switch: seconds.
	// Beyond, only hosts that stand out are tried elsewhere.
	placeWork = 1 << 30
)

// A standout is a host that its place in the reference does not explain.
type standout struct {
	host  int
	place int     // the switch that explains it, -1 if none does
	score float64 // how many times as much its place leaves unexplained as the better one, or as is usual
	off   float64 // mean of |ln reading/fit|, clipped at mostOff
}

// standouts fits the reference's links to the readings and finds the hosts that
// it leaves unexplained, by their numbers. The error wraps latencyfit.ErrNothingToFit if the
// readings allow no fit.
func (c *comparer) standouts() (*latencyfit.Result, []standout, error) {
	g, k := c.reference, c.reference.Hosts()
	d, count := mat.NewDense(max(1, k), max(1, k), nil), 0
	for i := range k {
		for j := range k {
			d.Set(i, j, c.mean[i*k+j])
			if i != j && !math.IsNaN(c.mean[i*k+j]) {
				count++
			}
		}
	}
	if count == 0 {
		return nil, nil, fmt.Errorf("compare: %w", latencyfit.ErrNothingToFit)
	}
	links, err := latencyfit.Latencies(g, nil, d, &latencyfit.Settings{Bytes: c.bytes})
	if err != nil {
		return nil, nil, fmt.Errorf("compare: %w", err)
	}
	if k < fewHosts {
		return links, nil, nil // too few for one to stand out
	}
	fitted := links.Graph.HostDistances()
	off := make([]float64, k) // mean of |ln reading/fit|, clipped: outliers are not the host's
	var usual []float64
	for i := range k {
		sum, n := 0.0, 0
		for j := range k {
			if v, f := c.mean[i*k+j], fitted[i*k+j]; i != j && v > 0 && f > 0 && !math.IsInf(f, 1) {
				if x := math.Abs(math.Log((v - c.cost(links, i, j)) / f)); !math.IsNaN(x) {
					sum += min(mostOff, x)
					n++
				}
			}
		}
		off[i] = math.NaN()
		if n > 0 {
			off[i] = sum / float64(n)
			usual = append(usual, off[i])
		}
	}
	if len(usual) == 0 {
		return links, nil, nil
	}
	typical := max(floorShare, stats.LowerMedian(usual))
	var all []standout
	distances := c.switchDistances(links.Graph)
	everywhere := k*k*len(distances) <= placeWork
	for h := range k {
		odd := off[h] > suspectHost*typical
		if !odd && !everywhere {
			continue
		}
		if place, ratio := c.betterPlace(links, distances, h); place >= 0 {
			all = append(all, standout{h, place, ratio, off[h]})
		} else if odd {
			all = append(all, standout{h, -1, off[h] / typical, off[h]})
		}
	}
	return links, all, nil
}

// cost is the transfer time between two hosts on the path of least latency, as
// latencyfit.Latencies takes it out.
func (c *comparer) cost(links *latencyfit.Result, i, j int) float64 {
	if c.bytes == 0 {
		return 0
	}
	if c.costs == nil {
		k := c.reference.Hosts()
		c.costs = make([]float64, k*k)
		message, finder := &latencyfit.Settings{Bytes: c.bytes}, topology.NewPaths(links.Graph, nil)
		parallel.Rows(k, func(i int) {
			copy(c.costs[i*k:(i+1)*k], message.TransferTimes(links.Graph, finder.Tree(i)))
		})
	}
	return c.costs[i*c.reference.Hosts()+j]
}

// switchDistances are the distances from every switch to all vertices.
func (c *comparer) switchDistances(g *topology.Graph) [][]float64 {
	finder := topology.NewPaths(g, nil)
	all := make([][]float64, g.Vertices()-g.Hosts())
	parallel.Rows(len(all), func(s int) {
		all[s] = make([]float64, g.Vertices())
		finder.From(g.Hosts()+s, all[s])
	})
	return all
}

// betterPlace returns the switch on which a host explains its readings better
// than on its own, by a quarter, or -1; and how much more is left unexplained where
// it is. The link of the host is as long as its readings want it.
func (c *comparer) betterPlace(fitted *latencyfit.Result, distances [][]float64, h int) (place int, ratio float64) {
	g := fitted.Graph
	if len(g.Out(h)) != 1 || !g.IsSwitch(g.Out(h)[0].To) {
		return -1, 0
	}
	k, own := g.Hosts(), g.Out(h)[0].To
	var to []int
	var values []float64
	for j := range k {
		if v := c.mean[h*k+j]; j != h && !math.IsNaN(v) {
			to = append(to, j)
			values = append(values, v-c.cost(fitted, h, j))
		}
	}
	if len(to) < fewLinks {
		return -1, 0
	}
	usual := stats.LowerMedian(slices.Clone(values))
	links, scratch := make([]float64, len(to)), make([]float64, len(to))
	unexplained := func(s int) float64 {
		for x, j := range to {
			links[x] = values[x] - distances[s-k][j]
		}
		copy(scratch, links)
		link, sum := stats.LowerMedian(scratch), 0.0
		for _, l := range links {
			sum += min(usual, math.Abs(l-link)) // clips outliers
		}
		return sum
	}
	now := unexplained(own)
	place, least := -1, now
	for s := k; s < g.Vertices(); s++ {
		if x := unexplained(s); s != own && x < least {
			place, least = s, x
		}
	}
	// What is left of exact readings is rounding, of which one place leaves less than another by chance.
	if least = max(least, floorShare*usual*float64(len(to))); place < 0 || least > placeGain*now {
		return -1, 0
	}
	return place, now / least
}
