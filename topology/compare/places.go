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

// What makes a host stand out; BenchmarkCompareLinks shows what it buys.
const (
	suspectHost = 3    // times the usual residual: twice names the hosts of single outliers, too
	floorShare  = 0.01 // least residual, as a share, that is usual: exact measurements leave none
	fewHosts    = 4    // of three hosts one that is off is off to all, and so are the others
	mostOff     = 0.5  // what one measurement is off at most, ln: an outlier is not its host's fault
	fewLinks    = 3    // links of a kind from which there is a middle: of two either may be it

	// placeGain is the share of what a host leaves unexplained that may remain on another switch. A
	// host that is plugged in there leaves noise alone, and one that is not leaves as much or more.
	placeGain = 0.75

	// placeWork bounds the measurements looked at to try every host on every switch. Beyond, only hosts
	// that stand out are tried elsewhere.
	placeWork = 1 << 30
)

// An outlierHost is a host that its place in the reference does not explain.
type outlierHost struct {
	host  int
	place int     // the switch that explains it, -1 if none does
	score float64 // how many times as much its place leaves unexplained as the better one, or as is usual
	off   float64 // mean of |ln measured/fitted|, clipped at mostOff
}

// findPlaces fits the reference's links to the measured latencies and finds the hosts that
// it leaves unexplained, by their numbers, and how badly it explains all. The error wraps latencyfit.ErrNothingToFit if they
// allow no fit.
func (c *linkComparer) findPlaces() ([]outlierHost, error) {
	k := c.wired.Hosts()
	var err error
	if c.fit, err = latencyfit.Latencies(c.wired, nil, mat.NewDense(k, k, slices.Clone(c.paid)), nil); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	fitted := c.fit.Graph.HostDistances()
	off := make([]float64, k) // mean of |ln measured/fitted|, clipped: outliers are not the host's
	var usual, all []float64
	for i := range k {
		sum, n := 0.0, 0
		for j := range k {
			if v, f := c.paid[i*k+j], fitted[i*k+j]; i != j && v > 0 && f > 0 && !math.IsInf(f, 1) {
				x := math.Abs(math.Log(v / f))
				all = append(all, x)
				sum += min(mostOff, x)
				n++
			}
		}
		if off[i] = sum / float64(n); n > 0 {
			usual = append(usual, off[i])
		}
	}
	if len(usual) == 0 {
		return nil, nil
	}
	c.out.Misfit = stats.Quantile(all, misfitQuantile)
	if k < fewHosts {
		return nil, nil
	}
	typical := max(floorShare, stats.LowerMedian(usual))
	var out []outlierHost
	distances := c.switchDistances()
	everywhere := k*k*len(distances) <= placeWork
	for h := range k {
		odd := off[h] > suspectHost*typical
		if !odd && !everywhere {
			continue
		}
		if place, ratio := c.betterPlace(distances, h); place >= 0 {
			out = append(out, outlierHost{h, place, ratio, off[h]})
		} else if odd {
			out = append(out, outlierHost{h, -1, off[h] / typical, off[h]})
		}
	}
	return out, nil
}

// switchDistances are the fitted distances from every switch to all vertices.
func (c *linkComparer) switchDistances() [][]float64 {
	g := c.fit.Graph
	finder := topology.NewPaths(g, nil)
	all := make([][]float64, g.Vertices()-g.Hosts())
	parallel.Rows(len(all), func(s int) {
		all[s] = make([]float64, g.Vertices())
		finder.From(g.Hosts()+s, all[s])
	})
	return all
}

// betterPlace returns the switch on which a host explains its measurements better
// than on its own, by a quarter, or -1; and how much more is left unexplained where
// it is. The link of the host is as long as its measurements want it.
func (c *linkComparer) betterPlace(distances [][]float64, h int) (place int, ratio float64) {
	g := c.fit.Graph
	k, own := g.Hosts(), switchOf(g, h)
	if own < 0 {
		return -1, 0
	}
	var to []int
	var values []float64
	for j := range k {
		if v := c.paid[h*k+j]; j != h && !math.IsNaN(v) {
			to = append(to, j)
			values = append(values, v)
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
	// What is left of exact measurements is rounding, of which one place leaves less than another by chance.
	if least = max(least, floorShare*usual*float64(len(to))); place < 0 || least > placeGain*now {
		return -1, 0
	}
	return place, now / least
}
