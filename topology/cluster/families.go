package cluster

import (
	"fmt"
	"math"
)

// A Family is a method of which one parameter is left open, with the space in which it is searched
// (Reinfjell 2023, section 3.3).
type Family struct {
	Name      string // as topocast reconstruct has it
	Parameter string // what the parameter is called

	// Static methods are told the number of clusters, which is the parameter.
	Static bool

	// Space is from where to where to search, the upper end left out.
	Space func(d *Distances) (low, high float64)

	// Whole says that only whole numbers count.
	Whole bool

	// At is the method with a value of the parameter. Methods that nest return their cut of the highest
	// score.
	At func(x float64, score func(Labels) float64) Clusterer
}

// least keeps an open end out of a space: where 0 would mean a default.
const least = 1e-300

// largestAlpha is the upper end of the space of SSSTree's Alpha (Reinfjell 2023, section 3.3).
const largestAlpha = 5

// Families are the methods with a parameter: the static ones of the thesis with numbers of clusters in
// [1, n), SSSTree and SSS with Alpha in (0, 5), DBSCAN, and Components after it, from the smallest to
// the largest distance. HDBSCAN's space is not given there: it is that of the smallest cluster, in [2, n).
func Families() []Family {
	clusters := func(d *Distances) (float64, float64) { return 1, float64(d.n) }
	static := func(name string, at func(k int) Clusterer) Family {
		return Family{
			Name: name, Parameter: "k", Static: true, Space: clusters, Whole: true,
			At: func(x float64, _ func(Labels) float64) Clusterer { return at(int(x)) },
		}
	}
	agglomerative := func(l Linkage) func(int) Clusterer {
		return func(k int) Clusterer { return Agglomerative{Linkage: l, K: k} }
	}
	alpha := func(*Distances) (float64, float64) { return least, largestAlpha }
	return []Family{
		static("kmeans", func(k int) Clusterer { return KMeans{K: k} }),
		static("kmedoids", func(k int) Clusterer { return KMedoids{K: k} }),
		static("average", agglomerative(Average)),
		static("complete", agglomerative(Complete)),
		static("single", agglomerative(Single)),
		static("spectral", func(k int) Clusterer { return Spectral{K: k} }),
		{
			Name: "hdbscan", Parameter: "k", Whole: true,
			Space: func(d *Distances) (float64, float64) { return 2, max(2, float64(d.n)) },
			At:    func(x float64, _ func(Labels) float64) Clusterer { return orAll{HDBSCAN{MinClusterSize: int(x)}} },
		},
		{
			Name: "dbscan", Parameter: "eps", Space: (*Distances).span,
			At: func(x float64, _ func(Labels) float64) Clusterer { return DBSCAN{Eps: max(x, least)} },
		},
		{
			Name: "components", Parameter: "eps", Space: (*Distances).span,
			At: func(x float64, _ func(Labels) float64) Clusterer { return Components{Threshold: x} },
		},
		{
			Name: "sss", Parameter: "eps", Space: alpha,
			At: func(x float64, _ func(Labels) float64) Clusterer { return SSS{Alpha: x} },
		},
		{
			Name: "ssstree", Parameter: "eps", Space: alpha,
			At: func(x float64, score func(Labels) float64) Clusterer {
				return Cut{SSSTree{SSS: SSS{Alpha: x}}, score}
			},
		},
	}
}

// orAll is one cluster of all objects where HDBSCAN finds none.
type orAll struct{ HDBSCAN }

func (h orAll) Cluster(d *Distances) (Labels, error) {
	l, err := h.HDBSCAN.Cluster(d)
	if err == nil && l.Clusters() == 0 {
		h.AllowSingle = true
		return h.HDBSCAN.Cluster(d)
	}
	return l, err
}

// span is from the smallest to the largest distance between different objects.
func (d *Distances) span() (low, high float64) {
	low = math.Inf(1)
	for i := range d.n {
		for _, v := range d.row(i)[:i] {
			low, high = min(low, v), max(high, v)
		}
	}
	return min(low, high), high
}

// UsualSteps is k, the number of values tried (Reinfjell 2023, section 3.3).
const UsualSteps = 50

// Found is what a search has found.
type Found struct {
	Value  float64 // of the parameter
	Labels Labels
	Score  float64
	Tried  int // values
}

// Search tries values of the parameter, from the low end of the family's space in equal steps, and keeps the one whose
// clusters have the highest score (Reinfjell 2023, section 3.3, linear search). There are at most UsualSteps values, and of
// whole numbers each if there are no more. Ties go to the lower value. Values for which the method returns an error
// are passed over; if none is left, the last error is returned.
func (f *Family) Search(d *Distances, score func(Labels) float64) (Found, error) {
	return f.search(d, score, func(_ Clusterer, l Labels) float64 { return score(l) })
}

// SearchBy is Search by a score that looks at the method with its parameter, too. Of methods that nest the
// cut of the highest silhouette is scored.
func (f *Family) SearchBy(d *Distances, score func(at Clusterer, l Labels) float64) (Found, error) {
	return f.search(d, func(l Labels) float64 { return Silhouette(d, l) }, score)
}

// search chooses cuts by one score and values by another.
func (f *Family) search(d *Distances, cut func(Labels) float64, score func(at Clusterer, l Labels) float64) (Found, error) {
	low, high := f.Space(d)
	steps := UsualSteps
	if f.Whole {
		steps = max(1, min(steps, int(high-low)))
	}
	found := Found{Score: math.Inf(-1), Tried: steps}
	var failed error
	for k := range steps {
		x := f.rounded(low + float64(k)*(high-low)/float64(steps))
		method := f.At(x, cut)
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
		return Found{}, fmt.Errorf("cluster: search: no value from %g to %g works: %w", low, high, failed)
	}
	return found, nil
}

func (f *Family) rounded(x float64) float64 {
	if f.Whole {
		return math.Floor(x)
	}
	return x
}

// Accuracy is the score of equation 3.10: the largest share of objects in their true groups (Matching) over the values
// of the parameter. Static methods are told the number of groups instead (section 3.2).
func (f *Family) Accuracy(d *Distances, truth Labels) (Found, error) {
	score := func(l Labels) float64 { return Matching(l, truth) }
	if !f.Static {
		return f.Search(d, score)
	}
	k := float64(truth.Clusters())
	labels, err := f.At(k, score).Cluster(d)
	if err != nil {
		return Found{}, err
	}
	return Found{k, labels, score(labels), 1}, nil
}
