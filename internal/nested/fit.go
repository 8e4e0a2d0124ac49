package nested

import (
	"math"

	"github.com/topocast/topocast/internal/conjugate"
	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A Fit is the lengths of a tree's edges that explain measurements between all
// pairs of its leaves best: Length[v] is that of the edge above vertex v, and
// the latency between two leaves is the sum along the path.
//
// It is least squares without a matrix. Row e of the normal equations is the
// sum, over the pairs that cross e, of their path lengths. Two passes
// over the tree give it for all e in O(E). The right side, the sum of their
// measurements, comes from row sums and sums per lowest common ancestor in O(n^2).
// Conjugate gradients with the diagonal as preconditioner solve it.
//
// Two edges above the only two children of the root can only be told as a sum; the
// fit splits them in proportion to the preconditioner. All other edges of a
// tree whose inner vertices have two children or more are determined.
type Fit struct {
	Tree   *Tree
	Groups []int32 // parents before children
	Length []float64
	depth  []float64 // sum of lengths from the root
	edges  []int32   // vertices but the root, parents before children
	sizes  []float64 // hosts below each vertex

	inverse []float64 // of the diagonal of the normal equations, by edge
}

// NewFit starts from the lengths that the levels of t suggest: half a
// level from a host to its switch, half the step from switch to switch.
func NewFit(t *Tree) *Fit {
	f := &Fit{
		Tree: t, Groups: t.Groups(),
		Length: make([]float64, len(t.Parent)),
		depth:  make([]float64, len(t.Parent)),
	}
	for _, v := range f.Groups {
		up := math.Exp(t.LevelOf(v))
		for _, c := range t.Kids(v) {
			low := 0.0
			if t.IsGroup(c) {
				low = math.Exp(t.LevelOf(c))
			}
			f.Length[c] = max(0, (up-low)/2)
		}
	}
	f.descend()
	return f
}

// descend sets depth from length.
func (f *Fit) descend() {
	for _, v := range f.Groups {
		for _, c := range f.Tree.Kids(v) {
			f.depth[c] = f.depth[v] + f.Length[c]
		}
	}
}

// Between is the fitted latency of two leaves with the given lowest common
// ancestor.
func (f *Fit) Between(i, j int, join int32) float64 {
	return f.depth[i] + f.depth[j] - 2*f.depth[join]
}

// Joins writes into join[j] the lowest common ancestor of leaf i and each
// other leaf j. O(n).
func (t *Tree) Joins(i int, join []int32) {
	from := int32(i)
	for v := t.Parent[i]; v >= 0; from, v = v, t.Parent[v] {
		for p := t.Lo[v]; p < t.Lo[from]; p++ {
			join[t.Order[p]] = v
		}
		for p := t.Hi[from]; p < t.Hi[v]; p++ {
			join[t.Order[p]] = v
		}
	}
}

// HuberClip is the relative residual beyond which measurements pull no harder: Huber's
// loss with its bend at 10 % of the fit. With 2 % of gross outliers plain least
// squares is worthless, with it the error of fitted latencies is that of the noise.
const HuberClip = 0.1

// What ends the fits of lengths.
const (
	// HuberSteps bounds the steps of pseudo-data. Eight settle noisy trees, tori and rings with
	// 2 % of outliers: fitted latencies are within 1e-4 of those after 200. But a step moves a
	// path by HuberClip at most, so that steps and HuberClip say how far from the start a fit may go:
	// by 1.1^12 = 3.1 times. With 10 steps, or a clip of 0.09, an exact tree is not reached from the
	// levels of linkage.Robust. With 14, or a clip of 0.12, a wiring that is not that of the measurements is bent
	// until it fits one half of them well. Then nothing warns of a bad fit. compare.Links finds the same with 8 to 24.
	HuberSteps = 12

	// HuberSettled is the change of any length that is none, in mean lengths.
	HuberSettled = 1e-4
)

// Robust fits by Huber's loss through pseudo-data (Huber 1981, section 7.8): measurements
// are pulled to within HuberClip of the present fit, and fitted by least squares,
// until nothing changes. O(n^2) per step.
func (f *Fit) Robust(r *measured.Symmetric) { f.RobustInOrder(r.InOrder(f.Tree.Order, nil)) }

// Of what a group joins to one host the first steps look at some measurements, spread evenly: as many tell
// the lengths within some thousandths, and the last steps look at all. Without sampling thousands of
// hosts take three times as long.
const (
	huberSample = 256 // measurements between a host and what one group joins it to
	huberFull   = 3   // last steps, and those after the lengths change by less than huberRough
	huberRough  = 10 * HuberSettled
)

// RobustInOrder is Robust for measurements in the order of the tree's leaves.
func (f *Fit) RobustInOrder(r *measured.Symmetric) {
	old := make([]float64, len(f.Length))
	sampled := r.N() > huberSample
	for k := range HuberSteps {
		sampled = sampled && k < HuberSteps-huberFull
		copy(old, f.Length)
		f.step(r, sampled)
		var change, sum float64
		for v, x := range f.Length {
			change = max(change, math.Abs(x-old[v]))
			sum += math.Abs(x)
		}
		change /= sum / float64(len(f.Groups)+f.Tree.N)
		if !sampled && change <= HuberSettled || sum == 0 {
			break
		}
		sampled = sampled && change > huberRough
	}
	for v, x := range f.Length {
		f.Length[v] = max(0, x)
	}
	f.descend()
}

// What makes links inside a group follow the measurements there alone.
const (
	nearHosts  = 3     // of two hosts one measurement is no evidence
	nearNoise  = 0.005 // the least noise: timers have ticks
	nearMisfit = 3     // standard deviations by which links miss the measurements inside
)

// NearLinks fits the links of hosts in a group without groups to the measurements inside it alone, where these contradict
// the whole fit and are more exact. The whole fit follows all measurements of a host, and what is noise of far ones may be
// longer than a link inside a socket. Noise is the relative standard deviation of a measurement. Distances from the group
// to others stay, in the mean. O(n^2).
func (f *Fit) NearLinks(r *measured.Symmetric, noise float64) {
	t := f.Tree
	noise = max(noise, nearNoise)
	for _, v := range f.Groups {
		hosts := t.Kids(v)
		if v == t.Root || !t.HostsOnly(v) || len(hosts) < nearHosts {
			continue
		}
		// Noise grows with latency. The mean of the far measurements of a host is more exact than one inside if there are
		// enough of them.
		if far := math.Exp(t.LevelOf(t.Root) - t.LevelOf(v)); far < math.Sqrt(float64(t.N-len(hosts))) {
			continue
		}
		fitted := make([]float64, len(hosts))
		for k, i := range hosts {
			fitted[k] = f.Length[i]
		}
		// One outlier moves no median.
		if !(stats.Median(starMisfits(r, hosts, fitted)) > nearMisfit*noise) {
			continue
		}
		near := starLinks(r, hosts)
		if near == nil || stat.Mean(starMisfits(r, hosts, near), nil) > nearMisfit*noise {
			continue
		}
		for k, i := range hosts {
			f.Length[i] = near[k]
		}
		f.Length[v] = max(0, f.Length[v]+stat.Mean(fitted, nil)-stat.Mean(near, nil))
	}
	f.descend()
}

// starLinks are the links to one switch, in s, that explain the measurements between m hosts best, by least squares. The sum
// of all links is that of all measurements over m-1. The link of a host is the sum of its measurements less the sum of all
// links, over m-2. It is nil where a pair was not measured, or a link would not be longer than 0.
func starLinks(r *measured.Symmetric, hosts []int32) []float64 {
	sums, total := make([]float64, len(hosts)), 0.0
	for k, i := range hosts {
		for l, j := range hosts[:k] {
			x := float64(r.At(int(i), int(j)))
			if !(x > 0) {
				return nil
			}
			sums[k] += x
			sums[l] += x
			total += x
		}
	}
	for k := range sums {
		sums[k] = (sums[k] - total/float64(len(hosts)-1)) / float64(len(hosts)-2)
		if !(sums[k] > 0) {
			return nil
		}
	}
	return sums
}

// starMisfits are by how much links to one switch miss the measurements between hosts, relative to these.
func starMisfits(r *measured.Symmetric, hosts []int32, links []float64) (missed []float64) {
	for k, i := range hosts {
		for l, j := range hosts[:k] {
			if x := float64(r.At(int(i), int(j))); x > 0 {
				missed = append(missed, math.Abs(links[k]+links[l]-x)/x)
			}
		}
	}
	return missed
}

// step moves the lengths by the least squares solution for the clipped residuals of
// measurements in the order of the leaves.
func (f *Fit) step(r *measured.Symmetric, sampled bool) {
	t := f.Tree
	n := t.N
	sum := make([]float64, len(t.Parent)) // over pairs with one end below v, then crossing v
	both := make([]float64, len(t.Parent))
	depth, sumAt := make([]float64, n), make([]float64, n) // by place
	for p, i := range t.Order {
		depth[p] = f.depth[i]
	}
	at := 0.0 // where samples begin, evenly spread
	for p, i := range t.Order {
		row, own := r.Row(p), 0.0
		// Up the tree: what v joins to the host, of those before it.
		for from, v := i, t.Parent[i]; v >= 0; from, v = v, t.Parent[v] {
			lo, hi := t.Lo[v], t.Lo[from]
			if lo == hi {
				continue
			}
			base := depth[p] - 2*f.depth[v]
			var joined float64
			if length := int(hi - lo); sampled && length > huberSample {
				at += stats.Golden
				at -= math.Floor(at)
				joined = f.sampledSums(row[lo:hi], depth[lo:hi], sumAt[lo:hi], base, at)
			} else {
				joined = clippedSums(row[lo:hi], depth[lo:hi], sumAt[lo:hi], base)
			}
			both[v] += joined
			own += joined
		}
		sumAt[p] += own
	}
	for p, i := range t.Order {
		sum[i] = sumAt[p]
	}
	// Children before parents: add up.
	for k := len(f.Groups) - 1; k >= 0; k-- {
		v := f.Groups[k]
		for _, c := range t.Kids(v) {
			sum[v] += sum[c]
			both[v] += both[c]
		}
	}
	for v := range sum {
		sum[v] -= 2 * both[v]
	}
	f.solve(sum)
	f.descend()
}

// clippedSums adds to sums by how much each measurement exceeds its fit, base and depth, as far as HuberClip
// lets it, and returns the total.
func clippedSums(row []float32, depth, sums []float64, base float64) (total float64) {
	depth, sums = depth[:len(row)], sums[:len(row)]
	for q, x := range row {
		fit := base + depth[q]
		rest, bound := math.Abs(float64(x))-fit, math.Abs(HuberClip*fit)
		// To within the bound without a branch, which nothing foresees where noise is wide.
		rest = (math.Abs(rest+bound) - math.Abs(rest-bound)) / 2
		sums[q] += rest
		total += rest
	}
	return total
}

// sampledSums is clippedSums of huberSample measurements or a few more, beginning at a share of the
// way from one to the next, each of which stands for as many.
func (f *Fit) sampledSums(row []float32, depth, sums []float64, base, at float64) (total float64) {
	stride := len(row) / huberSample
	first := int(at * float64(stride))
	weight := float64(len(row)) / float64((len(row)-first+stride-1)/stride)
	for q := first; q < len(row); q += stride {
		fit := base + depth[q]
		rest, bound := math.Abs(float64(row[q]))-fit, math.Abs(HuberClip*fit)
		rest = weight * max(-bound, min(bound, rest))
		sums[q] += rest
		total += rest
	}
	return total
}

// Conjugate gradients end when the residual is a ten-thousandth of the first, as the next step
// corrects what is left: robust looks at changes of the same size. On trees of
// thousands of hosts that takes some tens of iterations; the bound is for rounding that never gets there.
const (
	solved    = 1e-4 * 1e-4 // of the residual's square
	solveMost = 200
)

// solve adds to the lengths the solution of the normal equations for b.
func (f *Fit) solve(b []float64) {
	t := f.Tree
	size := len(t.Parent)
	if f.edges == nil {
		f.sizes, f.inverse = make([]float64, size), make([]float64, size)
		for _, p := range f.Groups {
			f.edges = append(f.edges, t.Kids(p)...)
		}
		for _, v := range f.edges {
			s := float64(t.Size(v))
			f.sizes[v], f.inverse[v] = s, 1/(s*(float64(t.N)-s))
		}
	}
	in, out := make([]float64, size), make([]float64, size)
	more := conjugate.Solve(b, f.inverse, func(image, x []float64) { f.normal(image, x, in, out) }, solved, solveMost)
	floats.Add(f.Length, more)
}

// normal sets image to the normal matrix times x: for each edge, the sum over
// the pairs of leaves that cross it of their path lengths under x. in[v] sums
// the ways from the leaves below v to v, out[v] those from the others to v.
func (f *Fit) normal(image, x, in, out []float64) {
	t := f.Tree
	for _, v := range f.edges {
		in[v] = 0
	}
	in[t.Root] = 0
	for k := len(f.edges) - 1; k >= 0; k-- {
		c := f.edges[k]
		in[t.Parent[c]] += in[c] + f.sizes[c]*x[c]
	}
	out[t.Root] = 0
	n := float64(t.N)
	for _, c := range f.edges {
		v, s := t.Parent[c], f.sizes[c]
		// To v from everywhere, less the way from below c, plus the edge.
		out[c] = out[v] + in[v] - in[c] - s*x[c] + (n-s)*x[c]
		image[c] = (n-s)*in[c] + s*out[c]
	}
}
