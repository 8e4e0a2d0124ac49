package model

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Steps of the derivatives: of ln bandwidth, and of couplings and bias. Times of
// transfers that share have kinks where another ends first, so that a step has to be well
// above rounding and well below what a fit is to tell (sureBandwidth, sureCoupling).
const (
	changeOfRate   = 0.01
	changeOfOthers = 0.02
)

// huberBend, in standard deviations, is where the cost of a residual goes from quadratic to
// linear: with 1.345 the fit is 95 % as efficient as least squares on normal residuals, with 1.5 it is
// 96 % (Holland and Welsch 1977).
const huberBend = 1.5

// leastSpread is the least standard deviation that residuals are taken to have: exact
// times would make every one an outlier.
const leastSpread = 1e-6

// The search of Levenberg and Marquardt: where the damping, as a share of the diagonal, begins, how
// it changes, and when to end. It only leads the way: fits end where no step gains. Half and twice
// of any number here, and of the steps, the bend and the bounds above and below, passes the tests.
const (
	firstDamping  = 1e-2
	leastDamping  = 1e-6
	dampingDown   = 5
	dampingUp     = 4
	dampingTries  = 8     // 4^8 = 65,536 times the damping is a step of nothing
	gainSettled   = 1e-5  // of the cost: less is no gain
	stepSolved    = 1e-16 // square of a step's residual, as a share of the first
	gradientSteps = 200   // of conjugate gradients: a step that is not exact is a step, too
)

// mostOfRate bounds a step of ln bandwidth, a factor of 1.6, within which derivatives still say
// something; mostBias bounds the RTT bias: shares as RTT^-2 are beyond every law of TCP (Mathis et al.
// 1997 has 1).
const (
	mostOfRate = 0.5
	mostBias   = 2
)

// differentiate fills the jacobian: by steps up, or downward where a coupling is at its upper end.
func (f *fitter) differentiate() {
	f.jacobian = f.jacobian[:0]
	at := 0
	for i := range f.patterns {
		p := &f.patterns[i]
		base := f.residual[at : at+len(p.flows)]
		at += len(p.flows)
		var rows []fitRow
		for _, k := range p.params {
			old := f.theta[k]
			if math.IsNaN(old) {
				continue
			}
			step := changeOfOthers
			switch {
			case k < len(f.links):
				step = changeOfRate
			case k < len(f.theta)-1 && old > 1-changeOfOthers:
				step = -changeOfOthers
			}
			f.theta[k] = old + step
			by := f.residuals(nil, p)
			f.theta[k] = old
			for x := range by {
				by[x] = (by[x] - base[x]) / step
			}
			rows = append(rows, fitRow{k, by})
		}
		f.jacobian = append(f.jacobian, rows)
	}
}

// spread is a robust standard deviation of the residuals about 0.
func (f *fitter) spread() float64 {
	abs := make([]float64, len(f.residual))
	for i, r := range f.residual {
		abs[i] = math.Abs(r)
	}
	return max(leastSpread, stats.SigmaPerMAD*quantile(abs, 0.5))
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

// equations fills the normal matrix and its diagonal, and returns the gradient.
func (f *fitter) equations() []float64 {
	n := len(f.theta)
	f.diagonal = make([]float64, n)
	if f.normal = nil; n <= maxDense {
		f.normal = mat.NewSymDense(n, nil)
	}
	gradient := make([]float64, n)
	f.eachRow(func(r, w float64, x int, rows []fitRow) {
		for a, row := range rows {
			gradient[row.param] -= w * row.by[x] * r
			f.diagonal[row.param] += w * row.by[x] * row.by[x]
			if f.normal == nil {
				continue
			}
			for _, other := range rows[a:] {
				f.normal.SetSym(row.param, other.param, f.normal.At(row.param, other.param)+w*row.by[x]*other.by[x])
			}
		}
	})
	return gradient
}

// eachRow visits the transfers with their residual, its weight, and the
// derivatives, of which entry x of each row is the transfer's.
func (f *fitter) eachRow(visit func(r, w float64, x int, rows []fitRow)) {
	at := 0
	for i, rows := range f.jacobian {
		for x := range f.patterns[i].flows {
			r := f.residual[at+x]
			_, w := f.huber(r)
			visit(r, w, x, rows)
		}
		at += len(f.patterns[i].flows)
	}
}

// damping of Levenberg and Marquardt, with a floor for parameters that nothing tells of.
func (f *fitter) damped(k int, damping float64) float64 {
	return f.diagonal[k]*(1+damping) + blind
}

// step solves the damped normal equations; nil if they are singular.
func (f *fitter) step(gradient []float64, damping float64) []float64 {
	n := len(f.theta)
	if f.normal == nil {
		return f.stepByGradients(gradient, damping)
	}
	a := mat.NewSymDense(n, nil)
	a.CopySym(f.normal)
	for k := range n {
		a.SetSym(k, k, f.damped(k, damping))
	}
	var chol mat.Cholesky
	var x mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&x, mat.NewVecDense(n, gradient)) != nil {
		return nil
	}
	return x.RawVector().Data
}

// stepByGradients solves the same equations by conjugate gradients, scaled by
// the diagonal, without setting them up.
func (f *fitter) stepByGradients(gradient []float64, damping float64) []float64 {
	n := len(f.theta)
	x, residual := make([]float64, n), slices.Clone(gradient)
	scaled, direction, product := make([]float64, n), make([]float64, n), make([]float64, n)
	first, before := 0.0, 0.0
	for range gradientSteps {
		size := 0.0
		for k := range n {
			scaled[k] = residual[k] / f.damped(k, damping)
			size += residual[k] * scaled[k]
		}
		if size <= stepSolved*first {
			break
		}
		if first == 0 {
			first = size
			copy(direction, scaled)
		} else {
			floats.Scale(size/before, direction)
			floats.Add(direction, scaled)
		}
		before = size
		for k := range n {
			product[k] = (f.damped(k, damping) - f.diagonal[k]) * direction[k]
		}
		f.eachRow(func(_, w float64, i int, rows []fitRow) {
			along := 0.0
			for _, row := range rows {
				along += row.by[i] * direction[row.param]
			}
			for _, row := range rows {
				product[row.param] += w * along * row.by[i]
			}
		})
		length := size / floats.Dot(direction, product)
		floats.AddScaled(x, length, direction)
		floats.AddScaled(residual, -length, product)
	}
	return x
}

// search goes down until a step gains less than gainSettled, or steps are used up.
func (f *fitter) search(steps int) {
	if len(f.patterns) == 0 {
		return
	}
	f.allResiduals()
	damping := firstDamping
	for range steps {
		f.sigma = f.spread()
		before := f.cost()
		f.differentiate()
		gradient := f.equations()
		gained := false
		for range dampingTries {
			step := f.step(gradient, damping)
			if step == nil {
				damping *= dampingUp
				continue
			}
			old := slices.Clone(f.theta)
			f.move(step)
			f.allResiduals()
			if after := f.cost(); after < before {
				gained = before-after > gainSettled*before
				damping = max(leastDamping, damping/dampingDown)
				break
			}
			f.theta = old
			f.allResiduals()
			damping *= dampingUp
		}
		if !gained {
			break
		}
	}
	f.sigma = f.spread()
	f.differentiate()
	f.equations()
}

// move takes a step and stays where the
// parameters mean something.
func (f *fitter) move(step []float64) {
	for k := range f.theta {
		d := step[k]
		switch last := len(f.theta) - 1; {
		case k < len(f.links):
			f.theta[k] += max(-mostOfRate, min(mostOfRate, d))
		case k < last:
			f.theta[k] = max(0, min(1, f.theta[k]+d))
		default:
			f.theta[k] = max(-mostBias, min(mostBias, f.theta[k]+d))
		}
	}
}
