package spanner

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
)

// channelGraph makes the graph of the arcs between n hosts, whose latencies are the cells of
// m, in s. A channel whose directions differ by no more than the ratio 1+duplex has both, also if a path
// explained one of them: that was noise. Of another the faster arc alone stays, and warnings name it.
func channelGraph(n int, m []float64, arcs []witness.Pair, duplex float64) (g *topology.Graph, warnings []string, err error) {
	has := make([]bool, n*n)
	for _, a := range arcs {
		has[a.From*n+a.To] = true
	}
	var kept []topology.Arc
	slow := 0
	const most = 10
	for _, a := range arcs {
		there, back := m[a.From*n+a.To], m[a.To*n+a.From]
		both := has[a.To*n+a.From]
		alike := max(there, back) <= min(there, back)*(1+duplex)
		switch {
		case alike && !both:
			kept = append(kept, topology.Arc{From: a.To, To: a.From, Latency: back, Bandwidth: math.NaN(), Probability: 1})
		case alike:
		case both && there > back:
			continue // the other direction says so
		default:
			if slow++; slow <= most {
				warnings = append(warnings, simplexWarning(a, there, back))
			}
		}
		kept = append(kept, topology.Arc{From: a.From, To: a.To, Latency: there, Bandwidth: math.NaN(), Probability: 1})
	}
	if slow > most {
		warnings = append(warnings, fmt.Sprintf("%d more channels are simplex", slow-most))
	}
	if g, err = topology.NewGraph(n, 0, nil, kept); err != nil {
		return nil, nil, err
	}
	if n > 4 && 2*g.NumArcs() > n*(n-1) {
		warnings = append(warnings, fmt.Sprintf("%d of %d possible arcs were found: hosts are behind switches, measurements are too noisy, or every message pays much at its ends", g.NumArcs(), n*(n-1)))
	}
	return g, warnings, nil
}

func simplexWarning(a witness.Pair, there, back float64) string {
	switch {
	case math.IsNaN(back):
		return fmt.Sprintf("channel %d->%d is simplex: %d->%d was not measured", a.From, a.To, a.To, a.From)
	case back > there:
		return fmt.Sprintf("channel %d->%d is simplex: %d->%d takes %.3g times as long", a.From, a.To, a.To, a.From, back/there)
	}
	return fmt.Sprintf("channel %d->%d is simplex: a path explains %d->%d", a.From, a.To, a.To, a.From)
}

// checkShare refuses a setting that is no share: below 0 or not finite.
func checkShare(method, name string, value float64) error {
	if !(value >= 0) || math.IsInf(value, 0) {
		return fmt.Errorf("spanner: %s: %s %g: want at least 0 and finite", method, name, value)
	}
	return nil
}
