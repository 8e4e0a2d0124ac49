package contention

import (
	"fmt"
	"math"
)

// Sharing says how flows share channels, and how the two directions of a link
// disturb each other. The zero value is fair sharing.
//
// A flow moves data over its data channels and acknowledgements over its
// reverse channels. Filling raises all flows together until a channel is used
// up; then its members stop, and the others go on.
type Sharing struct {
	// Coupling is in [0, 1]. 0 is fair max-min sharing of full-duplex links. With 1 a flow is a member of its
	// reverse channels too, so that it stops when one of them is used up: the asymmetric property of Zhu et al.
	// 2014, section 5.2.
	//
	// In between, a flow that is stopped by a reverse channel gets at most fair^(1-k) * asymmetric^k of its rates under
	// both, for a coupling k. What it leaves others share fairly, so that no channel is over-committed.
	Coupling float64
	// AckWeight is the share of its own rate that a flow takes of its reverse channels where it is a member of them. With
	// a Coupling of 1, 0 is the asymmetric property and 0.05 SimGrid's cross traffic. With a lower one
	// acknowledgements take nothing of what is shared fairly.
	AckWeight float64
	// Tolerance is the share by which the level of a channel may change before other channels
	// follow. No channel is over-committed by more than this share. At most 0.01.
	//
	// With tens of thousands of flows under way, an event changes the rates of thousands of them.
	// Most of these changes are below a thousandth. A tolerance of 0.001 leaves them out until they add up.
	// With fair sharing, tests find no completion that is off by more than ten tolerances.
	// The mean of all is off by less than a quarter of one. With coupling, another channel may stop a flow
	// where two are that close. Single flows may then complete at a time that is off by some per cent.
	//
	// 0 is exact, but for Solver.Times while more than 10,000 flows are under way, and more than two
	// per channel: it tolerates 0.001 then. 1e-12 is always exact.
	Tolerance float64
}

// maxTolerance of Sharing: beyond it, what stops a flow would be a guess.
const maxTolerance = 0.01

// mix is the rate that a coupling k between fair and asymmetric sharing makes of the two rates:
// fair^(1-k) * asymmetric^k.
func mix(fair, asymmetric, k float64) float64 { return asymmetric * math.Pow(fair/asymmetric, 1-k) }

func (s *Sharing) validate() error {
	if !(s.AckWeight >= 0) || math.IsInf(s.AckWeight, 0) {
		return fmt.Errorf("the weight of acknowledgements is %g: want at least 0 and finite", s.AckWeight)
	}
	if !(s.Coupling >= 0 && s.Coupling <= 1) {
		return fmt.Errorf("the coupling is %g: want in [0, 1]", s.Coupling)
	}
	if !(s.Tolerance >= 0 && s.Tolerance <= maxTolerance) {
		return fmt.Errorf("the tolerance is %g: want in [0, %g]", s.Tolerance, maxTolerance)
	}
	return nil
}
