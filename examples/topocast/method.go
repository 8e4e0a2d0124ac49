package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
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
