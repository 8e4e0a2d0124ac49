package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/search"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/draw"
)

// methodsOfThesis are those of section 2.5, the static ones first. Of nested groups the cut of the highest score is
// taken.
func methodsOfThesis(score func(cluster.Labels) float64) []search.Family {
	return []search.Family{
		told("kmeans", func(k int) cluster.Clusterer { return kMeans{k} }),
		familyOf("kmedoids"),
		familyOf("average"),
		told("spectral", func(k int) cluster.Clusterer { return spectral{k, affinities} }),
		familyOf("hdbscan"),
		familyOf("components"),
		nestedBySSS(8, score),
		familyOf("dbscan"),
	}
}

// familyOf is the method of package cluster of that name, which there is.
func familyOf(name string) search.Family {
	all := search.Families()
	return all[slices.IndexFunc(all, func(f search.Family) bool { return f.Name == name })]
}

// told is a method that is told the number of clusters.
func told(name string, at func(k int) cluster.Clusterer) search.Family {
	f := familyOf("kmedoids")
	f.Name, f.At = name, func(x float64) cluster.Clusterer { return at(int(x)) }
	return f
}

// nestedBySSS is ssstree with the best of some orders of the ranks. Its parameter is searched in (0, 5), as in section 3.3.
func nestedBySSS(orders int, score func(cluster.Labels) float64) search.Family {
	return search.Family{
		Name: "ssstree", Parameter: "alpha",
		Space: func(mat.Symmetric) (low, high float64) { return 1e-300, 5 },
		At:    func(x float64) cluster.Clusterer { return sssTree{x, orders, score} },
	}
}

// accuracies makes table 3.1, the figures of accuracy, the spread of times and a dendrogram.
func accuracies(ctx context.Context, out *outcome.Outcome, runs []*reinfjellRun) error {
	if err := foundGroups(out.Section("Experiments (table 3.1) and the groups that a search finds"), runs); err != nil {
		return err
	}
	first := true
	for _, run := range runs {
		if run.figure == "" || run.truth == nil {
			continue
		}
		if err := run.accuracy(out.Section(fmt.Sprintf("Accuracy by method and repetitions: %s (figure %s)", run.noun, run.figure)), first); err != nil {
			return err
		}
		first = false
		if run.figure == "7.2" {
			if err := run.asPrinted(ctx, out); err != nil {
				return err
			}
		}
	}
	return matrices(out.Section("Spread by repetitions, and a dendrogram (figures 5.2 to 5.15)"), runs)
}

// foundGroups is table 3.1 with the groups that a search finds. It clusters RTT(0) of the most repetitions by average linkage, and takes
// the number of groups with the highest silhouette.
func foundGroups(s *outcome.Section, runs []*reinfjellRun) error {
	s.Say("Groups are those of agglomerative clustering on RTT(0) with the number of groups of the highest silhouette; share is that of ranks in the right one of the level that fits best. A silhouette tells of two groups or more, so one group is never found. Nodes and cores are the thesis', where it had the machine; ranks are ours.")
	t := s.Table("table-3.1", outcome.Text("system"), outcome.Text("purpose"), outcome.Number("nodes", ""), outcome.Number("cores", ""), outcome.Number("ranks", ""), outcome.Number("groups", ""), outcome.Number("share", ""))
	average := familyOf("average")
	for _, run := range runs {
		d, _, err := run.distances(len(run.reps)-1, plogp.RoundTrip)
		if err != nil {
			return err
		}
		found, err := average.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return cluster.Silhouette(d, l) })
		if err != nil {
			return err
		}
		share := math.NaN()
		for _, level := range run.truth {
			if x := truth.Matching(found.Labels, level.Labels); !(x <= share) {
				share = x
			}
		}
		t.Row(run.name, run.purpose, run.nodes, run.cores, d.SymmetricDim(), found.Labels.Clusters(), share)
		where, groups := fmt.Sprintf("that a search finds, %s %d/%d", run.name, run.nodes, run.cores), float64(found.Labels.Clusters())
		if run.groups > 0 {
			s.Compare(run.kind(), "groups "+where, "", float64(run.groups), groups)
		}
		if run.each > 0 {
			s.Compare(run.kind(), "ranks of a group "+where, "", float64(run.each), float64(d.SymmetricDim())/groups)
			s.Because("An input: four cores of BETZY's processors share a cache. The thesis prints no time between them, and the simulated machine has no such groups.")
		}
		if run.groups == 1 {
			s.Because("The silhouette, by which the number of groups is chosen, tells of two or more; the thesis does not say by what it found one on HPCLAB.")
		}
	}
	return nil
}

// distances are those of one number of repetitions, with the matrix they are made of.
func (run *reinfjellRun) distances(k int, of plogp.Distance) (mat.Symmetric, mat.Matrix, error) {
	m, err := run.results[k].Distances(plogp.View{Distance: of})
	if err != nil {
		return nil, nil, err
	}
	d, _, err := cluster.Combine(m)
	return d, m, err
}

// accuracy is the score of equation 3.10 of each method, by level and repetitions.
// first tells how, once for all.
func (run *reinfjellRun) accuracy(s *outcome.Section, first bool) error {
	if first {
		s.Say("Shares are those of equations 3.7 to 3.9, the best over 50 values of the method's parameter (3.10); kmeans, kmedoids, average and spectral are told the true number of groups. Distances are RTT(0), and for kmeans profiles of all parameters (3.5), whose overheads scatter most. The thesis prints its shares in figures alone: what its text says of them is compared, without kmeans, which its results do not name.")
	}
	s.Say("Share of the ranks in the right machine (M), node (N) and socket (S), with as many repetitions.")
	if !slices.ContainsFunc(run.truth, func(l truth.Level) bool { return l.Labels.Clusters() > 1 }) {
		s.Say("All ranks are in one group of each level, so that nothing can be wrong.")
	}
	columns := []outcome.Column{outcome.Text("method")}
	for _, level := range run.truth {
		for _, r := range run.reps {
			columns = append(columns, outcome.Number(fmt.Sprintf("%c %d", level.Name[0]-'a'+'A', r), ""))
		}
	}
	t := s.Table("figure-"+run.figure, columns...)
	shares := make(map[reinfjellKey]float64)
	var curves []draw.Series
	finest := run.truth[len(run.truth)-1].Name
	for x, method := range methodsOfThesis(nil) {
		row := []any{method.Name}
		curve := draw.Series{Name: method.Name}
		for _, level := range run.truth {
			for k, r := range run.reps {
				of := plogp.RoundTrip
				if method.Name == "kmeans" {
					of = plogp.Profile
				}
				d, _, err := run.distances(k, of)
				if err != nil {
					return err
				}
				f := methodsOfThesis(matching(level.Labels))[x]
				found, err := truth.Accuracy(&f, d, level.Labels)
				if err != nil {
					return err
				}
				row = append(row, found.Score)
				shares[reinfjellKey{method.Name, level.Name, r}] = found.Score
				if level.Name == finest {
					curve.X, curve.Y = append(curve.X, float64(r)), append(curve.Y, found.Score)
				}
			}
		}
		t.Row(row...)
		curves = append(curves, curve)
	}
	run.compare(s, shares)
	if run.name == "BETZY" {
		s.Because("An input: the simulated times have one kind of noise. What made single linkage (ssstree) join nodes in the thesis it does not tell. Hdbscan leaves out ranks of groups as small as these sockets are here; --full has sixteen ranks on each.")
	}
	if run.figure == "7.2" {
		s.Say("The thesis finds the shares of dbscan and spectral very low whatever R is (5.2, 5.9), and tells no number; the section below tries why. Ours by %s with R = %d are %.2f and %.2f.",
			finest, run.reps[0], shares[reinfjellKey{"dbscan", finest, run.reps[0]}], shares[reinfjellKey{"spectral", finest, run.reps[0]}])
	}
	picture, err := draw.Plot(fmt.Sprintf("Accuracy by %s, %s", finest, run.noun), draw.Axis{Name: "repetitions R", Log: true}, draw.Axis{Name: "share of the ranks"}, curves, "Equation 3.10: the best over the method's parameter.")
	return s.Figure("figure-"+run.figure, picture, err)
}

// matching is the share of ranks in their true groups.
func matching(known cluster.Labels) func(cluster.Labels) float64 {
	return func(l cluster.Labels) float64 { return truth.Matching(l, known) }
}

// A reinfjellKey is a method, a level and a number of repetitions.
type reinfjellKey struct {
	method, level string
	reps          int
}

// kind is that of a number that was measured: the conditions are the thesis' where all of its cores have a rank.
func (run *reinfjellRun) kind() outcome.Kind {
	return outcome.MeasuredIf(run.results[0].Ranks == run.nodes*run.cores)
}

// compare holds the least share of methods against what the text says of them. Where R was not measured, the most below it is taken.
func (run *reinfjellRun) compare(s *outcome.Section, shares map[reinfjellKey]float64) {
	for _, p := range run.printed {
		text, methods := strings.Join(p.methods, ", "), p.methods
		if methods == nil {
			text = "all but kmeans"
			for _, f := range methodsOfThesis(nil)[1:] {
				methods = append(methods, f.Name)
			}
		}
		reps := 0
		for _, r := range run.reps {
			if r <= p.reps {
				reps = r
			}
		}
		least := math.NaN()
		for _, m := range methods {
			if x, known := shares[reinfjellKey{m, p.level, reps}]; known && !(x >= least) {
				least = x
			}
		}
		what, kind := fmt.Sprintf("%s, least of %s, R = %d", p.level, text, p.reps), run.kind()
		if reps != p.reps {
			what, kind = fmt.Sprintf("%s; ours %d", what, reps), outcome.Otherwise
		}
		s.Compare(kind, what, "", p.share, least)
	}
}

// matrices tells the spread of the first machine's RTT(0) by repetitions (figure 5.2), and draws a dendrogram of the last one.
func matrices(s *outcome.Section, runs []*reinfjellRun) error {
	s.Say("Variance of RTT(0) over the pairs of one socket, or node, relative to its mean squared, by the repetitions of a measurement (figure 5.2). The dendrogram is that of average linkage with the most repetitions.")
	t := s.Table("figure-5.2", outcome.Text("system"), outcome.Number("R", ""), outcome.Number("variance", "%"))
	run := runs[0]
	var first, last float64
	for k, r := range run.reps {
		_, m, err := run.distances(k, plogp.RoundTrip)
		if err != nil {
			return err
		}
		last = run.variance(m)
		if k == 0 {
			first = last
		}
		t.Row(run.noun, r, 100*last)
	}
	if len(run.reps) > 1 && run.name == "FRAM" { // of another machine it is no comparison
		// The text says "less than half", from R = 8 to R = 128.
		s.Compare(outcome.AtMost, fmt.Sprintf("variance with R = %d over that with R = %d; printed of 128 and 8", run.reps[len(run.reps)-1], run.reps[0]), "", 0.5, last/first)
	}
	run = runs[len(runs)-1]
	d, _, err := run.distances(len(run.reps)-1, plogp.RoundTrip)
	if err != nil {
		return err
	}
	const ratio = 1.1 // of nested groups: all but equal heights
	h, err := cluster.Nested{Agglomerative: cluster.Agglomerative{Linkage: cluster.Average}, Ratio: ratio}.Hierarchy(d)
	if err != nil {
		return err
	}
	if picture, err := draw.Dendrogram("Average linkage of RTT(0), "+run.noun, h, nil); err == nil { // else no group has a latency
		return s.Figure("dendrogram", picture, nil)
	}
	return nil
}

// variance is that of the pairs of one finest group, each relative to the mean of its group.
func (run *reinfjellRun) variance(m mat.Matrix) float64 {
	n, _ := m.Dims()
	labels := make(cluster.Labels, n)
	if len(run.truth) > 0 {
		labels = run.truth[len(run.truth)-1].Labels
	}
	var values []float64
	for _, g := range labels.Groups() {
		for _, i := range g {
			for _, j := range g {
				if v := m.At(i, j); i != j && !math.IsNaN(v) {
					values = append(values, v)
				}
			}
		}
	}
	mean, variance := stat.MeanVariance(values, nil)
	return variance / (mean * mean)
}
