package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/search"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// searchOptions are the flags of the search for a method's parameter (Reinfjell 2023, section 3.3).
type searchOptions struct {
	search bool
	score  int // of scores
}

func (o *searchOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.search, "search", false, "try 50 values of the method's parameter and keep the best")
	names := each(scores(), func(s quality) string { return s.name })
	cli.Choice(f, &o.score, "score", names, "with --search: what is best, "+words.Or(names))
}

// check is for flags that do not go together.
func (o *searchOptions) check(c *cobra.Command, name string, m methodOptions) error {
	switch {
	case !o.search:
		return cli.RefuseUnless(false, c, "only with --search", "score")
	case m.k != 0 || m.eps != 0:
		return cli.BadInput("--search: finds --k or --eps itself")
	}
	_, err := family(name)
	return err
}

// A quality says how good a clustering is without knowing the right one.
type quality struct {
	name string
	of   func(d mat.Symmetric, noise float64, at cluster.Clusterer, l cluster.Labels) (float64, error)
}

// scores are those that a search can go by.
func scores() []quality {
	return []quality{
		{"silhouette", func(d mat.Symmetric, _ float64, _ cluster.Clusterer, l cluster.Labels) (float64, error) {
			return cluster.Silhouette(d, l), nil
		}},
		{"dbcv", func(d mat.Symmetric, _ float64, _ cluster.Clusterer, l cluster.Labels) (float64, error) {
			return cluster.DBCV(d, l, 1), nil // distances are along one line
		}},
		{"stability", stability},
	}
}

// resamples of a stability.
const resamples = 20

// stability is the share of ranks whose clusters come out again exactly when every distance is multiplied by
// exp(noise*N(0,1)), in the mean of the resamples. It is 0 for one cluster and for ranks that are all alone, which always do.
func stability(d mat.Symmetric, noise float64, at cluster.Clusterer, l cluster.Labels) (float64, error) {
	n, groups := d.SymmetricDim(), l.Groups()
	if len(groups) < 2 || len(groups) == n {
		return 0, nil
	}
	rng, noisy, same := rand.New(rand.NewPCG(1, 0)), mat.NewDense(n, n, nil), 0
	for range resamples {
		for i := range n {
			for j := range i {
				v := d.At(i, j) * math.Exp(noise*rng.NormFloat64())
				noisy.Set(i, j, v)
				noisy.Set(j, i, v)
			}
		}
		disturbed, err := cluster.NewDistances(noisy)
		if err != nil {
			return 0, err
		}
		again, err := at.Cluster(disturbed)
		if err != nil {
			return 0, err
		}
		for _, g := range again.Groups() {
			if slices.ContainsFunc(groups, func(first []int) bool { return slices.Equal(first, g) }) {
				same += len(g)
			}
		}
	}
	return float64(same) / float64(resamples*n), nil
}

// leastNoise is that of measurements whose directions agree.
const leastNoise = 0.005

// noiseOf is the relative noise of a measurement, as the two directions of pairs differ.
func noiseOf(m mat.Matrix) float64 {
	n, _ := m.Dims()
	var apart stats.Differences
	for i := range n {
		for j := range i {
			apart.Add(m.At(i, j), m.At(j, i))
		}
	}
	if len(apart) == 0 {
		return leastNoise
	}
	return max(leastNoise, stats.SigmaOfOne(apart))
}

// A searched method has found its parameter.
type searched struct {
	family search.Family
	score  string
	found  search.Found
	method topology.Reconstructor
}

// family is a method with its parameter left open.
func family(name string) (search.Family, error) {
	all := search.Families()
	names := each(all, func(f search.Family) string { return f.Name })
	if i := slices.Index(names, name); i >= 0 {
		return all[i], nil
	}
	return search.Family{}, cli.BadInput("--search: the method %s has no parameter to search for: want %s", name, words.Or(names))
}

// search finds the parameter of a method for the latencies.
func (o *searchOptions) find(name string, l *latencies, options methodOptions) (*searched, error) {
	f, err := family(name)
	if err != nil {
		return nil, err
	}
	d, _, err := cluster.Combine(l.matrices...)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	quality := scores()[o.score]
	s := &searched{family: f, score: quality.name}
	noise := noiseOf(l.matrices[0])
	var failed error
	s.found, err = f.Search(d, func(at cluster.Clusterer, labels cluster.Labels) float64 {
		v, err := quality.of(d, noise, at, labels)
		if err != nil {
			failed = err
		}
		return v
	})
	if err = cmp.Or(err, failed); err != nil {
		return nil, cli.BadInput("%w", err)
	}
	if f.Whole {
		options.k = int(s.found.Value)
	} else {
		options.eps = s.found.Value
	}
	s.method, err = newMethod(name, options)
	return s, err
}

// print says what was found; without a search nothing.
func (s *searched) print(w io.Writer) error {
	if s == nil {
		return nil
	}
	value := fmt.Sprintf("%.4g", s.found.Value)
	if s.family.Whole {
		value = fmt.Sprint(int(s.found.Value))
	}
	_, err := fmt.Fprintf(w, "\nsearched: of %d values of --%s, %s has the highest %s, %.3f\n", s.found.Tried, s.family.Parameter, value, s.score, s.found.Score)
	return err
}
