package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/stats"
)

// Steps of the derivatives: of ln bandwidth, and of couplings and bias. Times of
// transfers that share have kinks where another ends first. So a step has to be well
// above rounding and well below what a fit is to tell (sureBandwidth, sureCoupling).
const (
	changeOfRate   = 0.01
	changeOfOthers = 0.02
)

// huberBend, in standard deviations, is where the cost of a residual goes from quadratic to linear. On normal residuals
// the fit is 84 % as efficient as least squares (Huber 1981, section 4.5). Times of TCP are far from normal: of transfers
// that share a link some end early by a tenth, and the others late by a hundredth. Least squares would take the link
// for faster than it is.
const huberBend = 0.7

// leastSpread is the least standard deviation that residuals are taken to have: exact
// times would make every one an outlier.
const leastSpread = 1e-6

// differentiate takes the derivatives of all patterns: by steps upward, or downward where a parameter of the
// law is at its upper end. It goes parameter by parameter, as another law costs the machine more than another pattern.
func (f *fitter) differentiate() {
	for i := range f.patterns {
		f.patterns[i].rows = nil // subsets of the patterns may have the old ones
	}
	for k, old := range f.theta {
		if !f.isSought(k) {
			continue
		}
		step := changeOfRate
		if at := k - len(f.links); at >= 0 {
			if step = changeOfOthers; old > lawParameters()[at].most-step {
				step = -step
			}
		}
		f.theta[k] = old + step
		at := 0
		for i := range f.patterns {
			p := &f.patterns[i]
			base := f.residual[at : at+len(p.Flows)]
			at += len(p.Flows)
			if _, matters := slices.BinarySearch(p.params, k); !matters {
				continue
			}
			by := f.residuals(nil, p)
			for x := range by {
				by[x] = (by[x] - base[x]) / step
			}
			p.rows = append(p.rows, fitRow{k, by})
		}
		f.theta[k] = old
	}
}

// spread is a robust standard deviation of the residuals about 0.
func (f *fitter) spread() float64 {
	return max(leastSpread, stats.SigmaPerMAD*quantileOff(f.residual, 0.5))
}

// huber is the cost of a residual, quadratic up to huberBend standard deviations,
// and the weight that it has in least squares.
func (f *fitter) huber(r float64) (cost, weight float64) {
	limit := huberBend * f.sigma
	if a := math.Abs(r); a > limit {
		return limit * (a - limit/2), limit / a
	}
	return r * r / 2, 1
}

func (f *fitter) cost() float64 {
	sum := 0.0
	for _, r := range f.residual {
		c, _ := f.huber(r)
		sum += c
	}
	return sum
}

// equations fills the diagonal of the normal matrix, and returns the gradient.
func (f *fitter) equations() []float64 {
	f.diagonal = make([]float64, len(f.theta))
	gradient := make([]float64, len(f.theta))
	f.eachRow(func(r, w float64, x int, rows []fitRow) {
		for _, row := range rows {
			gradient[row.param] -= w * row.by[x] * r
			f.diagonal[row.param] += w * row.by[x] * row.by[x]
		}
	})
	return gradient
}

// multiply sets image to the normal matrix J^T W J times x.
func (f *fitter) multiply(image, x []float64) {
	clear(image)
	f.eachRow(func(_, w float64, i int, rows []fitRow) {
		along := 0.0
		for _, row := range rows {
			along += row.by[i] * x[row.param]
		}
		for _, row := range rows {
			image[row.param] += w * along * row.by[i]
		}
	})
}

// normal is the normal matrix. O(parameters * transfers * parameters of a transfer).
func (f *fitter) normal() *mat.SymDense {
	n := len(f.theta)
	normal := mat.NewSymDense(n, nil)
	unit, column := make([]float64, n), make([]float64, n)
	for k := range n {
		unit[k] = 1
		f.multiply(column, unit)
		unit[k] = 0
		for i := range k + 1 {
			normal.SetSym(i, k, column[i])
		}
	}
	return normal
}

// eachRow visits the transfers with their residual, its weight, and the
// derivatives, of which entry x of each row is the transfer's.
func (f *fitter) eachRow(visit func(r, w float64, x int, rows []fitRow)) {
	at := 0
	for i := range f.patterns {
		p := &f.patterns[i]
		for x := range p.Flows {
			r := f.residual[at+x]
			_, w := f.huber(r)
			visit(r, w, x, p.rows)
		}
		at += len(p.Flows)
	}
}
