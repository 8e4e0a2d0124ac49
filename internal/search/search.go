// Package search finds the parameter of a clustering method that gives the best clusters, as Reinfjell 2023, section 3.3, does.
package search

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
)

// A Family is a method of which one parameter is left open, with the space in which it is searched
// (Reinfjell 2023, section 3.3).
type Family struct {
	Name      string // as topocast reconstruct has it
	Parameter string // what the parameter is called

	// Static methods are told the number of clusters, which is the parameter.
	Static bool

	// Space is from where to where to search, the upper end left out.
	Space func(d mat.Symmetric) (low, high float64)

	// Whole says that only whole numbers count.
	Whole bool

	// At is the method with a value of the parameter.
	At func(x float64) cluster.Clusterer
}

// least keeps an open end out of a space: where 0 would mean a default.
const least = 1e-300

// Families are the methods with a parameter. The number of clusters is searched in [1, n). The distance of DBSCAN and of
// connected components, which are DBSCAN with MinPoints 1, is searched from the smallest distance to the largest. The thesis
// gives no space for HDBSCAN: its smallest cluster is searched in [2, n).
func Families() []Family {
	told := func(name string, at func(k int) cluster.Clusterer) Family {
		return Family{
			Name: name, Parameter: "k", Static: true, Whole: true,
			Space: func(d mat.Symmetric) (float64, float64) { return 1, float64(d.SymmetricDim()) },
			At:    func(x float64) cluster.Clusterer { return at(int(x)) },
		}
	}
	within := func(name string, minPoints int) Family {
		return Family{
			Name: name, Parameter: "eps", Space: span,
			At: func(x float64) cluster.Clusterer { return cluster.DBSCAN{Eps: max(x, least), MinPoints: minPoints} },
		}
	}
	return []Family{
		told("kmedoids", func(k int) cluster.Clusterer { return cluster.KMedoids{K: k} }),
		told("average", func(k int) cluster.Clusterer { return cluster.Agglomerative{Linkage: cluster.Average, K: k} }),
		told("complete", func(k int) cluster.Clusterer { return cluster.Agglomerative{Linkage: cluster.Complete, K: k} }),
		told("single", func(k int) cluster.Clusterer { return cluster.Agglomerative{Linkage: cluster.Single, K: k} }),
		{
			Name: "hdbscan", Parameter: "k", Whole: true,
			Space: func(d mat.Symmetric) (float64, float64) { return 2, max(2, float64(d.SymmetricDim())) },
			At:    func(x float64) cluster.Clusterer { return orAll{cluster.HDBSCAN{MinClusterSize: int(x)}} },
		},
		within("dbscan", 0),
		within("components", 1),
	}
}

// orAll is one cluster of all objects where HDBSCAN finds none.
type orAll struct{ cluster.HDBSCAN }

func (h orAll) Cluster(d mat.Symmetric) (cluster.Labels, error) {
	l, err := h.HDBSCAN.Cluster(d)
	if err == nil && l.Clusters() == 0 {
		l = make(cluster.Labels, d.SymmetricDim())
	}
	return l, err
}

// span is from the smallest to the largest distance between different objects.
func span(d mat.Symmetric) (low, high float64) {
	low = math.Inf(1)
	for i := range d.SymmetricDim() {
		for j := range i {
			low, high = min(low, d.At(i, j)), max(high, d.At(i, j))
		}
	}
	return min(low, high), high
}

// mostSteps is k, the number of values tried (Reinfjell 2023, section 3.3).
const mostSteps = 50

// Found is what a search has found.
type Found struct {
	Value  float64 // of the parameter
	Labels cluster.Labels
	Score  float64
	Tried  int // values
}

// Search tries values of the parameter, from the low end of the family's space in equal steps (Reinfjell 2023, section
// 3.3, linear search). It keeps the one whose clusters have the highest score; ties go to the lower value. There are at most 50
// values, and of whole numbers each if there are no more. Values for which the method returns an error are passed over.
// If none is left, the last error is returned. The score sees the method with its parameter, too.
func (f *Family) Search(d mat.Symmetric, score func(at cluster.Clusterer, l cluster.Labels) float64) (Found, error) {
	low, high := f.Space(d)
	steps := mostSteps
	if f.Whole {
		steps = max(1, min(steps, int(high-low)))
	}
	found := Found{Score: math.Inf(-1), Tried: steps}
	var failed error
	for k := range steps {
		x := low + float64(k)*(high-low)/float64(steps)
		if f.Whole {
			x = math.Floor(x)
		}
		method := f.At(x)
		labels, err := method.Cluster(d)
		if err != nil {
			failed = err
			continue
		}
		if s := score(method, labels); s > found.Score {
			found.Value, found.Labels, found.Score = x, labels, s
		}
	}
	if found.Labels == nil {
		return Found{}, fmt.Errorf("search: no value from %g to %g works: %w", low, high, failed)
	}
	return found, nil
}
