package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// methodOptions are the flags that set methods of reconstruction.
type methodOptions struct {
	k   int
	eps float64
}

func (o *methodOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.k, "k", 0, "number of groups, for average, complete, single (0: nested groups), kmedoids and spectral")
	f.Float64Var(&o.eps, "eps", 0, "tolerance: relative for clique, greedy and witness; a distance in s for components and dbscan; alpha for sss")
}

// A method makes a Reconstructor of the options.
type method struct {
	name string
	make func(o methodOptions) topology.Reconstructor
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
		{"linkage", func(methodOptions) topology.Reconstructor { return &topology.Linkage{} }},
		{"clique", func(o methodOptions) topology.Reconstructor { return &topology.CliqueSwitch{Epsilon: o.eps} }},
		{"greedy", func(o methodOptions) topology.Reconstructor {
			return &topology.GreedyCycle{SharedSpread: o.eps, DuplexSpread: o.eps}
		}},
		{"witness", func(o methodOptions) topology.Reconstructor {
			return &topology.GreedyCycle{Witness: true, Tolerance: o.eps}
		}},
		{"average", agglomerative(cluster.Average)},
		{"complete", agglomerative(cluster.Complete)},
		{"single", agglomerative(cluster.Single)},
		{"components", flat(func(o methodOptions) cluster.Clusterer { return cluster.Components{Threshold: o.eps} })},
		{"dbscan", flat(func(o methodOptions) cluster.Clusterer { return cluster.DBSCAN{Eps: o.eps} })},
		{"hdbscan", flat(func(methodOptions) cluster.Clusterer { return cluster.HDBSCAN{} })},
		{"kmedoids", flat(func(o methodOptions) cluster.Clusterer { return cluster.KMedoids{K: o.k} })},
		{"spectral", flat(func(o methodOptions) cluster.Clusterer { return cluster.Spectral{K: o.k} })},
		{"sss", flat(func(o methodOptions) cluster.Clusterer { return cluster.SSS{Alpha: o.eps} })},
		{"ssstree", func(o methodOptions) topology.Reconstructor { return cluster.SSSTree{SSS: cluster.SSS{Alpha: o.eps}} }},
	}
}

func methodNames() []string {
	var names []string
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

func newMethod(name string, o methodOptions) (topology.Reconstructor, error) {
	all := methods()
	i := slices.IndexFunc(all, func(m method) bool { return m.name == name })
	if i < 0 {
		return nil, badInput("--method %s: want one of %s", name, strings.Join(methodNames(), ", "))
	}
	return all[i].make(o), nil
}
