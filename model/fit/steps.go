package fit

import (
	"slices"

	"github.com/topocast/topocast/internal/conjugate"
)

// The search of Levenberg and Marquardt: where the damping, as a share of the diagonal, begins, how
// it changes, and when to end.
const (
	firstDamping  = 1e-2
	leastDamping  = 1e-6
	dampingDown   = 5
	dampingUp     = 4
	dampingTries  = 8 // 4^8 = 65,536 times the damping is a step of nothing
	mostSteps     = 30
	gainSettled   = 1e-5  // of the cost: less is no gain
	stepSolved    = 1e-16 // square of a step's residual, as a share of the first
	gradientSteps = 200   // of conjugate gradients: a step that is not exact is a step, too
)

// mostOfRate bounds a step of ln bandwidth, a factor of 1.6, within which derivatives still say something.
const mostOfRate = 0.5

// damped is the damping of Levenberg and Marquardt, with a floor for parameters that nothing tells of.
func (f *fitter) damped(k int, damping float64) float64 {
	curvature := f.diagonal[k]
	if f.isPrior(k) {
		curvature += f.priorWeight()
	}
	return curvature*(1+damping) + blind
}

// step solves the damped normal equations by conjugate gradients, without setting them up.
func (f *fitter) step(gradient []float64, damping float64) []float64 {
	inverse := make([]float64, len(f.theta))
	for k := range inverse {
		inverse[k] = 1 / f.damped(k, damping)
	}
	product := func(image, x []float64) {
		f.multiply(image, x)
		for k := range x {
			image[k] += (f.damped(k, damping) - f.diagonal[k]) * x[k]
		}
	}
	return conjugate.Solve(slices.Clone(gradient), inverse, product, stepSolved, gradientSteps)
}

// search goes down until a step gains less than gainSettled, or its steps are used up. It leaves the derivatives of
// all patterns where it ends.
func (f *fitter) search() {
	if len(f.patterns) == 0 {
		return
	}
	f.descend(f.differentiate)
	f.settle()
}

// settle takes the residuals and derivatives of all patterns where the parameters are.
func (f *fitter) settle() {
	f.allResiduals()
	f.sigma = f.spread()
	f.differentiate()
	f.equations()
}

// follow is a search along the derivatives that were taken last, which are most of its time.
func (f *fitter) follow() { f.descend(func() {}) }

func (f *fitter) descend(differentiate func()) {
	f.allResiduals()
	damping := firstDamping
	for range mostSteps {
		f.sigma = f.spread()
		before := f.whole()
		differentiate()
		gradient := f.equations()
		f.pull(gradient)
		gained := false
		for range dampingTries {
			step := f.step(gradient, damping)
			old, were := slices.Clone(f.theta), slices.Clone(f.residual)
			f.move(step)
			f.allResiduals()
			if after := f.whole(); after < before {
				gained = before-after > gainSettled*before
				damping = max(leastDamping, damping/dampingDown)
				break
			}
			f.theta, f.residual = old, were
			damping *= dampingUp
		}
		if !gained {
			break
		}
	}
	f.sigma = f.spread()
}

// move takes a step and stays where the parameters mean something.
func (f *fitter) move(step []float64) {
	for k, d := range step {
		switch {
		case !f.isSought(k):
		case k < len(f.links):
			f.theta[k] += max(-mostOfRate, min(mostOfRate, d))
		default:
			p := lawParameters()[k-len(f.links)]
			f.theta[k] = max(p.least, min(p.most, f.theta[k]+d))
		}
	}
}
