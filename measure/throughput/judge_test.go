package throughput

import (
	"math"
	"testing"

	"github.com/topocast/topocast/topology"
)

// TestDisturbedMeasurementsTellNothing: two hosts alone on a switch, of whose links nothing tells which is the faster one. A
// measurement that something else has held up, at half of the rate, does not say that a link carries no more.
func TestDisturbedMeasurementsTellNothing(t *testing.T) {
	g := parse(t, "star:2").Graph
	routes, err := topology.NewRoutes(g, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	c := &campaign{g: g, routes: routes, r: &Result{}}
	for _, a := range g.Arcs() {
		c.r.Links = append(c.r.Links, Link{From: a.From, To: a.To, Rate: math.NaN()})
	}
	for _, x := range []struct {
		from, to int
		rate     float64
	}{{0, 1, 1e9}, {1, 0, 1e9}, {0, 1, 0.5e9}} {
		for _, ends := range [][2]int{{x.from, 2}, {2, x.to}} {
			c.r.Links[g.ArcIndex(ends[0], ends[1])].take(len(c.r.measurements), x.rate)
		}
		c.r.measurements = append(c.r.measurements, measurement{Pairs: [][2]int{{x.from, x.to}}, Rate: x.rate})
	}
	c.judge()
	for _, l := range c.r.Links {
		if l.Rate != 1e9 || !l.AtLeast {
			t.Errorf("%d->%d: %g B/s, at least: %v; want 1e9, true", l.From, l.To, l.Rate, l.AtLeast)
		}
	}
}
