package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/linkage"
	"github.com/topocast/topocast/topology/spanner"
)

// methodOptions are the flags that set methods of reconstruction; 0 is the
// method's own default.
type methodOptions struct {
	k              int
	eps            float64
	shared, duplex float64 // of greedy
}

func (o *methodOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.k, "k", 0, "number of groups: kmedoids needs it; average, complete, single (without it nested groups); hdbscan: ranks in the smallest group")
	cli.Want(f, "k", "at least 0", func() bool { return o.k >= 0 })
	number := func(to *float64, name, usage string) {
		f.Float64Var(to, name, 0, usage)
		cli.Want(f, name, "at least 0 and finite", func() bool { return *to >= 0 && !math.IsInf(*to, 1) })
	}
	number(&o.eps, "eps", "tolerance: relative for clique, greedy and witness; a distance in s for dbscan, and for components, which needs it")
	number(&o.shared, "shared-eps", "greedy: relative spread of latencies on shared memory (default 0.01, or --eps)")
	number(&o.duplex, "duplex-eps", "greedy: by how much the directions of a duplex channel may differ, relative (default 0.01, more where measurements are noisier, or --eps)")
}

// A need says what a method does with a flag.
type need int

const (
	refused need = iota
	optional
	needed
)

// check refuses a flag that the method would ignore, and the lack of one that it
// cannot do without.
func (n need) check(method, flag string, given bool) error {
	switch {
	case n == refused && given:
		return cli.BadInput("--%s: the method %s has no such setting", flag, method)
	case n == needed && !given:
		return cli.BadInput("--method %s: want --%s, too", method, flag)
	}
	return nil
}

// A method makes a Reconstructor of the options.
type method struct {
	name   string
	k, eps need
	make   func(o methodOptions) topology.Reconstructor
}

func methods() []method {
	agglomerative := func(l cluster.Linkage) func(methodOptions) topology.Reconstructor {
		return func(o methodOptions) topology.Reconstructor {
			if o.k > 0 {
				return cluster.Flat{Clusterer: cluster.Agglomerative{Linkage: l, K: o.k}}
			}
			return cluster.Nested{Agglomerative: cluster.Agglomerative{Linkage: l}}
		}
	}
	flat := func(f func(methodOptions) cluster.Clusterer) func(methodOptions) topology.Reconstructor {
		return func(o methodOptions) topology.Reconstructor { return cluster.Flat{Clusterer: f(o)} }
	}
	return []method{
		{"linkage", refused, refused, func(methodOptions) topology.Reconstructor { return &linkage.Robust{} }},
		{"clique", refused, optional, func(o methodOptions) topology.Reconstructor { return &clique.Switches{Epsilon: o.eps} }},
		{"greedy", refused, optional, func(o methodOptions) topology.Reconstructor {
			return &spanner.GreedyCycle{SharedSpread: cmp.Or(o.shared, o.eps), DuplexSpread: cmp.Or(o.duplex, o.eps)}
		}},
		{"witness", refused, optional, func(o methodOptions) topology.Reconstructor {
			return &spanner.Witness{Tolerance: o.eps}
		}},
		{"average", optional, refused, agglomerative(cluster.Average)},
		{"complete", optional, refused, agglomerative(cluster.Complete)},
		{"single", optional, refused, agglomerative(cluster.Single)},
		{"components", refused, needed, flat(func(o methodOptions) cluster.Clusterer { return cluster.DBSCAN{Eps: o.eps, MinPoints: 1} })},
		{"dbscan", refused, optional, flat(func(o methodOptions) cluster.Clusterer { return cluster.DBSCAN{Eps: o.eps} })},
		{"hdbscan", optional, refused, flat(func(o methodOptions) cluster.Clusterer { return cluster.HDBSCAN{MinClusterSize: o.k} })},
		{"kmedoids", needed, refused, flat(func(o methodOptions) cluster.Clusterer { return cluster.KMedoids{K: o.k} })},
	}
}

// checkRanks refuses a number of groups that the ranks cannot make. Of hdbscan --k is the size of a group.
func (o methodOptions) checkRanks(name string, ranks int) error {
	if name != "hdbscan" && o.k > ranks {
		return cli.BadInput("--k %d: there are %s, which make no more groups", o.k, words.Count(ranks, "rank"))
	}
	return nil
}

func methodNames() []string { return each(methods(), func(m method) string { return m.name }) }

func newMethod(name string, o methodOptions) (topology.Reconstructor, error) {
	all := methods()
	i := slices.Index(methodNames(), name)
	if i < 0 {
		return nil, cli.BadInput("--method %s: want one of %s", name, strings.Join(methodNames(), ", "))
	}
	if err := cmp.Or(all[i].k.check(name, "k", o.k != 0), all[i].eps.check(name, "eps", o.eps != 0)); err != nil {
		return nil, err
	}
	switch {
	case name == "clique" && o.eps >= 1:
		return nil, cli.BadInput("--eps %g: the method clique wants less than 1", o.eps)
	case name == "hdbscan" && o.k == 1:
		return nil, cli.BadInput("--k 1: the method hdbscan wants at least 2 ranks in a group")
	}
	if name != "greedy" && (o.shared != 0 || o.duplex != 0) {
		return nil, cli.BadInput("--shared-eps and --duplex-eps: the method %s has no such settings", name)
	}
	return all[i].make(o), nil
}

// parameterOptions are the flags that say by what of the PLogP parameters ranks are compared.
type parameterOptions struct {
	plogp.View
	fit int // how parameters depend on the size (Reinfjell 2023, section 3.2)
}

// The values of --fit.
const (
	fitPiecewise = "piecewise"
	fitLinear    = "linear"
)

func (o *parameterOptions) flags(f *pflag.FlagSet) {
	cli.Parse(f, &o.Distance, "distance", "", "of PLogP parameters: latency, time, time33, rtt or profile", plogp.ParseDistance)
	cli.Parse(f, &o.Bytes, "bytes", "0B", "with --distance: size of the message, such as "+cli.SizeForms, cli.ParseSize)
	cli.Choice(f, &o.fit, "fit", []string{fitPiecewise, fitLinear}, "with --distance: parameters are piecewise linear in the size, or linear")
}

// view is what the flags ask for; nil: --distance was not given.
func (o *parameterOptions) view(c *cobra.Command) (*plogp.View, error) {
	given := c.Flags().Changed("distance")
	err := cmp.Or(
		cli.RefuseUnless(given, c, "only with --distance", "bytes", "fit"),
		cli.RefuseUnless(!given, c, "with --distance, which is of parameters in s", "unit"),
		cli.RefuseUnless(!given, c, "with --distance: parameters are of one run", "reps"))
	if err != nil || !given {
		return nil, err
	}
	v := o.View
	v.Linear = o.fit > 0 // the second
	return &v, nil
}

// wantedSuccess is the share of right runs that is asked for where it says what precision that takes.
const wantedSuccess = 0.9

// printSuccess prints how probable it is that all measurements are within the tolerance (Bufe 2014, section 3.4). One outside
// leads the method clique astray. Of other methods it prints nothing.
func (l *latencies) printSuccess(w io.Writer, r topology.Reconstructor) error {
	method, ok := r.(*clique.Switches)
	n, _ := l.matrices[0].Dims()
	if !ok || n < 2 {
		return nil
	}
	p, of, err := method.Precision(l.matrices...)
	if err != nil {
		return err
	}
	needed := fmt.Sprintf("%.4g %%", 100*clique.NeededPrecision(wantedSuccess, n))
	pairs := words.Count(n*(n-1)/2, "pair")
	if math.IsNaN(p) {
		_, err = fmt.Fprintf(w, "\nOne repetition does not tell how many measurements are within the tolerance. For all of\n%s to be, in %s of runs, %s of them have to be (Bufe 2014, eq. 3.5).\n",
			pairs, quantity.Percent(wantedSuccess), needed)
		return err
	}
	_, err = fmt.Fprintf(w, "\nOf %s %.4g %% are within the tolerance of their pair's median: in one repetition\nall of %s are with a probability of %s (Bufe 2014, eq. 3.5);\nfor %s %s of measurements have to be.\n",
		words.Count(of, "measurement"), 100*p, pairs, quantity.Percent(clique.SuccessProbability(p, n)), quantity.Percent(wantedSuccess), needed)
	return err
}
