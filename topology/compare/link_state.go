package compare

import (
	"math"
	"slices"
)

// A Verdict is what a comparison says of a link, or of what differs.
type Verdict string

// The verdicts of links.
const (
	LinkMissing Verdict = "missing"      // specified, but not found
	LinkSlow    Verdict = "slow"         // slower than specified
	LinkFast    Verdict = "fast"         // faster
	LinkSame    Verdict = "same"         // within the tolerance
	LinkUnknown Verdict = "not measured" // on one side, or both
)

// rank is 0 of the worst verdict of a link.
func (v Verdict) rank() int {
	return slices.Index([]Verdict{LinkMissing, LinkSlow, LinkFast, LinkSame, LinkUnknown}, v)
}

// A Quantity is a property of a link on both sides of a comparison.
type Quantity struct {
	Measured  float64 // NaN if not known
	Reference float64 // NaN if not known
	// Slower is how many times as slow the link is as the reference has it, or
	// as most links of its class where the reference says nothing. What all links
	// of the class have in common is taken out. NaN: not known. It is
	// below 1 for a link that has become faster.
	Slower  float64
	Unseen  bool    // of a latency: so small a share of the paths over the link that measurements do not show it; Slower is at most what it says
	Verdict Verdict // LinkSame, LinkSlow, LinkFast or LinkUnknown
}

// A LinkClass is the links of one level.
type LinkClass struct {
	Name               string
	Links              int
	Latency, Bandwidth Shared
}

// Shared is what the links of a class have in common.
type Shared struct {
	Slower float64 // how many times as slow the middle link is as the reference has it; NaN: the reference says nothing
	Spread float64 // of the links about it, a robust standard deviation of the logarithm; NaN of fewer than three
}

// A LinkState is what a comparison says of one link of the reference.
type LinkState struct {
	U, V  int // vertices of the reference; U = V for the inside of a host; -1 of a switch if the link is a bundle of links
	Class int // index into LinkComparison.Classes
	Name  string

	// Below names the hosts that hang on the link, at its V: those which it
	// alone joins to the others, or the smaller part. It is nil if there is
	// another way; Ends names the hosts on the two vertices themselves.
	Below []string
	Ends  [2][]string

	Latency   Quantity    // s
	Bandwidth [2]Quantity // B/s, from U to V and back
	Verdict   Verdict     // the worst of these; or LinkMissing
}

// quantities are all that was compared of the link.
func (l *LinkState) quantities() [3]Quantity {
	return [3]Quantity{l.Latency, l.Bandwidth[0], l.Bandwidth[1]}
}

// times is how many times as slow the link is, or as fast if it is LinkFast, by
// the quantity that is off the most; NaN if nothing is known of it.
func (l *LinkState) times() float64 {
	times := math.NaN()
	for _, q := range l.quantities() {
		x := q.Slower
		if l.Verdict == LinkFast {
			x = 1 / x
		}
		if q.Verdict != LinkUnknown && !(x <= times) {
			times = x
		}
	}
	return times
}

// weightSteps are the steps per 1 in which weights are compared: rounding in the fit, of
// less than 1e-5, decides no order.
const weightSteps = 1e4

// weight is what the link is sorted by: a link that is slow in its latency and in its bandwidth
// counts for both, as the bandwidth alone may be that of another link on the same path.
func (l *LinkState) weight() float64 {
	if l.Verdict != LinkSlow || l.Latency.Verdict != LinkSlow {
		return l.times()
	}
	weight := 1.0
	for _, q := range l.Bandwidth {
		if q.Verdict == LinkSlow {
			weight = max(weight, q.Slower)
		}
	}
	return weight * l.Latency.Slower
}
