package plogp

import (
	"encoding/json"
	"fmt"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
)

// Params are what was measured of messages from one rank to another.
type Params struct {
	model.PairParams           // Recv is that of Dst
	RoundTrip        []float64 // by size: s, of a message that is answered by one of 0 bytes

	// Clamped says that the latency or a gap came out below 0 and was set to 0.
	Clamped bool

	// Unsteady are the sizes in bytes whose gap still changed by more than 1 % when
	// the longest row of messages was sent.
	Unsteady []int64

	// Falls are the sizes in bytes at which the gap is smaller by more than a
	// fifth than before: another protocol. Smaller falls are noise, and taken out.
	Falls []int64
}

// params makes the parameters of src -> dst of what src has measured, and of
// what dst has: a rank times the receipt of what the other one sends, at sizes of its own.
func params(src, dst int, own, other []point) Params {
	p := Params{PairParams: model.PairParams{Src: src, Dst: dst}}
	notBelow := func(x float64) float64 {
		if x < 0 {
			p.Clamped = true
			return 0
		}
		return x
	}
	p.Latency = notBelow(own[0].trip/2 - own[0].gap) // eq. 3.2
	var receiver model.PLogP
	for _, x := range other {
		receiver.Sizes, receiver.Recv = append(receiver.Sizes, int64(x.size)), append(receiver.Recv, x.receipt)
	}
	for _, x := range own {
		p.Sizes = append(p.Sizes, int64(x.size))
		p.Gap = append(p.Gap, notBelow(x.gap))
		p.Send = append(p.Send, x.sending)
		p.RoundTrip = append(p.RoundTrip, x.trip)
		if len(other) >= 2 {
			p.Recv = append(p.Recv, receiver.RecvAt(int64(x.size)))
		}
		if !x.steady {
			p.Unsteady = append(p.Unsteady, int64(x.size))
		}
	}
	for _, i := range monotone(p.Gap) {
		p.Falls = append(p.Falls, p.Sizes[i])
	}
	return p
}

// A Result holds the parameters of all directed pairs that were measured.
type Result struct {
	Ranks    int
	Pairs    []Params        // by Src, then Dst
	Stopped  harness.Stopped // why it ended early, or ""
	Notes    []string        // what was decided while measuring, each one sentence
	Warnings []string        // what is uncertain, each one sentence

	Rounds, TotalRounds int // done, planned

	// CallCost is what Go adds to each call of the library, in s, as rank 0 has found: see mpi.Timed. Of
	// calls a round trip has four, an overhead one. 0: little, or not known.
	CallCost float64

	measurements measurements
	settings     json.RawMessage
}

// take makes parameters of measurements for a result that knows its rounds. Pairs of which sizes are missing in a direction are left out.
func (r *Result) take(found measurements, s *settings) {
	r.CallCost, r.measurements = s.CallCost, found
	for _, pair := range found.pairs() {
		src, dst := pair[0], pair[1]
		if own, other := found[pair], found[[2]int{dst, src}]; min(len(own), len(other)) >= len(s.Sizes) {
			r.Pairs = append(r.Pairs, params(src, dst, own, other))
		}
	}
	if missing := len(found) - len(r.Pairs); missing > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d pairs were not measured at all sizes, and are left out", missing, len(found)))
	}
	switch {
	case r.Rounds < r.TotalRounds:
		r.Warnings = append(r.Warnings, fmt.Sprintf("the measurement ended after %d of %d rounds of pairs: give it more time", r.Rounds, r.TotalRounds))
	case r.Stopped != "":
		r.Warnings = append(r.Warnings, fmt.Sprintf("the %s ended the measurement before all additional sizes of the last pairs were measured", r.Stopped))
	}
	r.warn()
}

// warn says how much of what was measured is weak.
func (r *Result) warn() {
	add := func(text string, is func(*Params) bool) {
		count := 0
		for i := range r.Pairs {
			if is(&r.Pairs[i]) {
				count++
			}
		}
		if count > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d pairs: %s", count, len(r.Pairs), text))
		}
	}
	add("a latency or a gap came out below 0 and was set to 0: round trips and gaps of short messages hardly differ",
		func(p *Params) bool { return p.Clamped })
	add("the time per message of the longest row of messages still changed",
		func(p *Params) bool { return len(p.Unsteady) > 0 })
	add("the gap falls with the size by more than a fifth: the library takes another protocol there",
		func(p *Params) bool { return len(p.Falls) > 0 })
	r.warnOfCalls()
}

// tripCalls are those of a round trip, all in a row: send and receive on either rank.
const tripCalls = 4

// warnOfCalls says of how many measurements calls from Go are more than a small part. These times are read from Go, call by
// call.
func (r *Result) warnOfCalls() {
	const calls = "calls from Go, which add about %s to each, are"
	var trips, overheads []float64
	for _, points := range r.measurements {
		for _, x := range points {
			trips, overheads = append(trips, x.trip), append(overheads, x.sending, x.receipt)
		}
	}
	for _, text := range []string{
		pingpong.CallWarning(trips, "round trips", tripCalls*r.CallCost, calls),
		pingpong.CallWarning(overheads, "overheads", r.CallCost, calls),
	} {
		if text != "" {
			r.Warnings = append(r.Warnings, text)
		}
	}
}

// PairParams are the parameters of all pairs, as fit.Settings.Parameters has them.
func (r *Result) PairParams() []model.PairParams {
	all := make([]model.PairParams, len(r.Pairs))
	for i := range r.Pairs {
		all[i] = r.Pairs[i].PairParams
	}
	return all
}

// Observations are the one-way times in s, as fit.Network takes them: RTT(m) - RTT(0)/2. Without a
// library that asks before it sends, that is L + g(m).
func (r *Result) Observations() []fit.Observation {
	var all []fit.Observation
	for _, p := range r.Pairs {
		for i, m := range p.Sizes {
			all = append(all, fit.Observation{
				Transfers: []model.Transfer{{Src: p.Src, Dst: p.Dst, Bytes: m}},
				Seconds:   []float64{p.RoundTrip[i] - p.RoundTrip[0]/2},
			})
		}
	}
	return all
}
