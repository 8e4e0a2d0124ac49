package linkage

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
)

// isTree tells whether the distances between switches are those of a tree, by
// the four-point condition: of the three ways to pair four switches the two
// longer sums are equal. It looks at a sample of quadruples, of which a few may fail.
func (q *quotient) isTree() bool {
	k := len(q.blocks)
	if k < 4 { // three points are always on a tree
		return false
	}
	rng := rand.New(rand.NewPCG(uint64(k), 2))
	failed, seen := 0, 0
	for range quadruples {
		a, b, c, d := rng.IntN(k), rng.IntN(k), rng.IntN(k), rng.IntN(k)
		if a == b || a == c || a == d || b == c || b == d || c == d {
			continue
		}
		sums := []float64{
			q.latency[a*k+b] + q.latency[c*k+d],
			q.latency[a*k+c] + q.latency[b*k+d],
			q.latency[a*k+d] + q.latency[b*k+c],
		}
		v := q.variance(a, b) + q.variance(c, d) + q.variance(a, c) + q.variance(b, d) + q.variance(a, d) + q.variance(b, c)
		slices.Sort(sums)
		if math.IsNaN(sums[0]) { // sorted first
			continue
		}
		seen++
		if sums[2]-sums[1] > fourPointSigmas*math.Sqrt(v)+fourPointShare*sums[2] {
			failed++
		}
	}
	return seen > 0 && float64(failed) <= fourPointFailures*float64(seen)
}

// What the four points and the search for hidden switches go by. With two readings a pair and
// 1 to 5 % of noise trees fail the four points in at most 0.3 % of the quadruples, tori and
// dragonflies in 5.5 % or more, at three sigmas beside the share. Each passes the tests at 0.33 to 3
// times its value.
const (
	quadruples        = 2000 // of which a share of 0.3 % is told from 5.5 % by ten standard errors
	fourPointFailures = 0.02 // of the quadruples of a tree, between the two shares above
)

// The tolerance of the search for hidden switches: hiddenSigmas standard errors, as clique.Switches
// wants the noise below a sixth of its Epsilon, on top of what links of one kind vary by, and
// below the step between levels.
const (
	hiddenSigmas = 6
	hiddenLeast  = 0.03
	hiddenMost   = 0.3
)

// hiddenPasses is how many times, at least, all distances between switches are looked at.
const hiddenPasses = 8

// hiddenWork bounds the search for hidden switches: well below a second.
const hiddenWork = 1 << 27

// findHidden looks for switches without hosts, if the distances are those of a
// tree and the links more than one has. It runs Bufe's Algorithms 2 and 3 on the
// links, with six standard errors of a typical distance as tolerance. A search that
// takes more than hiddenWork is given up, and the links stay as they are.
func (q *quotient) findHidden() error {
	k := len(q.blocks)
	// Dropping virtual links looks at each over all vertices.
	if len(q.links) < k || max(len(q.links), hiddenPasses*k)*k > hiddenWork || !q.isTree() {
		return nil
	}
	var relative []float64
	var arcs []topology.Arc
	for _, p := range q.links {
		l := q.latency[p.From*k+p.To]
		if l > 0 {
			relative = append(relative, math.Sqrt(q.variance(p.From, p.To))/l)
		}
		arcs = topology.AppendLink(arcs, p.From, p.To, l, math.NaN())
	}
	typical := stats.Median(relative)
	if math.IsNaN(typical) {
		return nil
	}
	g, err := topology.NewGraph(k, 0, nil, arcs)
	if err != nil {
		return err
	}
	reduced, work, err := clique.Reduce(g, min(hiddenMost, hiddenLeast+hiddenSigmas*typical), hiddenWork)
	q.work += work
	switch {
	case errors.Is(err, clique.ErrUnfinished):
		return nil // the links as they are
	case err != nil:
		return err
	case reduced.Vertices() > k:
		q.hidden = reduced
	}
	return nil
}
