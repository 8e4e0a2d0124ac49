package model

import (
	"fmt"
	"math"
)

// A Law says how concurrent transfers share links. The zero value is fair sharing of full-duplex links. fit.Network
// finds the law of a machine.
type Law struct {
	// Coupling says how much the two directions of a link disturb each other, in [0, 1]: 0 is fair sharing, 1 the
	// asymmetric property of Zhu et al. 2014. Real machines lie in between. See contention.Sharing.
	Coupling float64 `json:"coupling,omitempty"`
	// Duplex says how many times the bandwidth of one direction both directions of a host's link carry together. It is
	// from 1, half duplex, to 2, full duplex; 0: no limit. A host's card, bus or memory often moves less than both
	// directions of its link would.
	Duplex float64 `json:"duplex,omitempty"`
	// Connection says the same of two ranks that send to each other, and of the path between them. Many libraries
	// serve the two directions of a connection in turns.
	Connection float64 `json:"connection_duplex,omitempty"`
	// RTTBias b gives transfers that share a link shares as 1/RTT^b.
	RTTBias float64 `json:"rtt_bias,omitempty"`
}

// fullDuplex is how many times one direction's bandwidth both directions together carry
// if nothing but the link holds them up.
const fullDuplex = 2

// isDuplexLimit tells whether a duplex factor limits anything.
func isDuplexLimit(u float64) bool { return u > 0 && u < fullDuplex }

// limitsDirections tells whether both directions of links or connections share something.
func (l *Law) limitsDirections() bool { return isDuplexLimit(l.Duplex) || isDuplexLimit(l.Connection) }

// check refuses a law whose parameters are out of range.
func (l *Law) check() error {
	if !(l.Coupling >= 0 && l.Coupling <= 1) {
		return fmt.Errorf("coupling is %g: want in [0, 1]", l.Coupling)
	}
	for _, x := range []struct {
		name   string
		factor float64
	}{{"hosts' links", l.Duplex}, {"connections", l.Connection}} {
		if x.factor != 0 && !(x.factor >= 1 && x.factor <= fullDuplex) {
			return fmt.Errorf("duplex factor of %s is %g: want 0, or in [1, %d]", x.name, x.factor, fullDuplex)
		}
	}
	if math.IsNaN(l.RTTBias) || math.IsInf(l.RTTBias, 0) {
		return fmt.Errorf("RTT bias %g: want it finite", l.RTTBias)
	}
	return nil
}

// bothWays is what two directions of the given bandwidths in B/s carry at once by a duplex factor:
// at least what one carries alone.
func bothWays(forth, back, u float64) float64 {
	return max(forth, back, u/fullDuplex*(forth+back))
}
