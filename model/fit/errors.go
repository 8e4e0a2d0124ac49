package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// sureBandwidth is the standard error of ln bandwidth up to which a link counts as determined.
const sureBandwidth = 0.05

// blind is the weight, in squared derivatives of ln time, up to which no transfer tells of a
// parameter: one whose time changes by a thousandth of the parameter's change has as much.
const blind = 1e-6

// ridge keeps the inverse of the normal matrix defined where parameters are blind, whose
// errors are not taken from it.
const ridge = blind / 1000

// result reads the parameters, their errors and what is not determined.
func (f *fitter) result() *Result {
	out := &Result{Residual: math.NaN(), Links: f.links}
	if f.n.Ranks() == 1 {
		return out // there is nothing to determine
	}
	if len(f.patterns) == 0 {
		out.Warnings = append(out.Warnings, "no long transfers were timed: bandwidths, coupling and RTT bias are not determined")
		return out
	}
	abs := make([]float64, len(f.residual))
	for i, r := range f.residual {
		abs[i] = math.Abs(math.Expm1(r))
	}
	out.Residual = quantile(abs, 0.5)
	errors := f.errors()
	var bounded []string
	for l := range f.links {
		link := &f.links[l]
		if link.Given {
			continue
		}
		link.Bandwidth, link.RelativeError = math.Exp(f.theta[l]), errors[l]
		if link.isIdle = f.isIdle(l); link.isIdle { // what the prior says is no measurement
			link.Bandwidth = math.Exp(f.lowest[l])
		}
		link.Determined = link.RelativeError <= sureBandwidth
		link.isHidden = link.Determined && !f.holdsUp(l)
		if !link.Determined && !math.IsNaN(link.Bandwidth) {
			bounded = append(bounded, fmt.Sprintf("%s-%s at least about %s", f.n.Graph().Name(link.A), f.n.Graph().Name(link.B), quantity.Rate(link.Bandwidth)))
		}
	}
	if len(bounded) > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf(
			"%d of %d links hold hardly a transfer up, their bandwidths may be higher: %s", len(bounded), len(f.links), words.Few(bounded, 1)))
	}
	if len(f.several()) == 0 {
		out.Warnings = append(out.Warnings, "no transfers were timed while others were under way: they are taken to share links fairly")
	}
	out.Law = f.lawNow()
	for k, value := range [ofLaw]*float64{&out.Coupling, &out.Duplex, &out.Connection, &out.RTTBias} {
		p, unsure := lawParameters()[k], errors[len(f.links)+k] > lawParameters()[k].sure
		if unsure || (k == duplex || k == connection) && *value >= fullDuplex {
			*value = 0 // nothing speaks against fair sharing
		}
		if unsure && p.unsure != "" && f.law[k] && len(f.several()) > 0 {
			out.Warnings = append(out.Warnings, p.unsure)
		}
	}
	return out
}

// maxDense bounds the parameters for which the normal matrix is set up. The errors of more are found without correlations.
// A matrix of 400 is factored in some ten milliseconds.
const maxDense = 400

// errors are the standard errors of the parameters, +Inf where the data say
// nothing.
func (f *fitter) errors() []float64 {
	n := len(f.theta)
	errors := make([]float64, n)
	var inverse mat.SymDense
	dense := false
	if n <= maxDense {
		ridged := f.normal()
		for k := range n {
			ridged.SetSym(k, k, f.diagonal[k]+ridge)
		}
		var chol mat.Cholesky
		dense = chol.Factorize(ridged) && chol.InverseTo(&inverse) == nil
	}
	for k := range n {
		switch {
		case f.diagonal[k] <= blind:
			errors[k] = math.Inf(1)
		case dense:
			errors[k] = f.sigma * math.Sqrt(inverse.At(k, k))
		default:
			errors[k] = f.sigma / math.Sqrt(f.diagonal[k])
		}
	}
	return errors
}
