package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology/linkage"
)

const (
	allRepetitions = 2
	// Most hosts of which all pairs are read: 2 million pairs, and two matrices of 32 MB.
	mostAll = 2048
)

// withoutTree finds what is no tree of equal links by all its pairs.
func (r *Result) withoutTree(l *ledger, rng *rand.Rand) error {
	if l.hosts > mostAll {
		return fmt.Errorf("adaptive: %d hosts that are no nested groups of equal links: only all pairs tell how they are wired: %w", l.hosts, errNoTree)
	}
	hosts := make([]int32, l.hosts)
	for h := range hosts {
		hosts[h] = int32(h)
	}
	all, err := readAll(l, hosts, allRepetitions, rng)
	if err != nil {
		return fmt.Errorf("adaptive: all pairs: %w", err)
	}
	if r.Topology, err = linkage.Reconstruct(all...); err != nil {
		return err
	}
	r.allPairs = true
	if l.hosts > fewHosts {
		r.Topology.Warnings = append(r.Topology.Warnings, "the hosts are no nested groups of equal links: all pairs were read")
	}
	return nil
}

// readAll reads all pairs of the given hosts so many times, in rounds of disjoint pairs by the circle method. It returns
// latencies in s, NaN on the diagonal and where there is none.
func readAll(l *ledger, hosts []int32, repetitions int, rng *rand.Rand) ([]mat.Matrix, error) {
	size := len(hosts)
	var all []mat.Matrix
	for range repetitions {
		latencies := mat.NewDense(size, size, slices.Repeat([]float64{math.NaN()}, size*size))
		rounds := harness.CircleOf(rng.Perm(size))
		for _, round := range rng.Perm(len(rounds)) {
			l.open()
			pairs := rounds[round]
			for _, p := range pairs {
				l.add(hosts[p[0]], hosts[p[1]])
			}
			z, err := l.read()
			if err != nil {
				return nil, err
			}
			for i, p := range pairs {
				d := math.Exp(z[i])
				latencies.Set(p[0], p[1], d)
				latencies.Set(p[1], p[0], d)
			}
		}
		all = append(all, latencies)
	}
	return all, nil
}
