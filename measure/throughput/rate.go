package throughput

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// A flow is what one rank saw of one sample: when messages of a size in B had
// arrived, in s since the step began.
type flow struct {
	bytes    float64
	rtt      float64 // s, of an empty round trip
	arrivals []float64
	met      float64 // s since the step began, when the sender's answer had come: a round trip, or more if it was late; 0: not known
}

// A receiver asks for its messages, which takes a round trip until the first may
// come; libraries ask once more for consent to a long one. How many round trips pass before bytes
// flow is seen from the arrivals, but for these bounds. Messages that overtake each
// other arrive in bunches, of which a line says little: then no more than those two may have passed. They
// count from when the sender was there: barriers
// let ranks go some latencies apart, which are many round trips of neighbours.
const (
	fewestTrips  = 0.5
	bunchedTrips = 2
	mostTrips    = 3
	bunch        = 0.1 // of the mean time between messages: those that come closer are a bunch
)

// start is when the bytes of a flow began to arrive, in s: where the line through the
// arrivals has no message.
func (f *flow) start() float64 {
	late := max(0, f.met-f.rtt)
	lo, hi := late+fewestTrips*f.rtt, late+mostTrips*f.rtt
	if f.bunched() {
		hi = late + bunchedTrips*f.rtt
	}
	if n := len(f.arrivals); n > 1 {
		count := make([]float64, n)
		for i := range count {
			count[i] = float64(i + 1)
		}
		zero, _ := stat.LinearRegression(count, f.arrivals, nil, false)
		hi = min(hi, max(lo, zero))
	}
	if hi < f.arrivals[0] {
		return hi
	}
	return f.arrivals[0] / 2
}

// bunched tells whether some messages have arrived together.
func (f *flow) bunched() bool {
	n := len(f.arrivals)
	for i := 1; i < n; i++ {
		if f.arrivals[i]-f.arrivals[i-1] < bunch*f.arrivals[n-1]/float64(n) {
			return true
		}
	}
	return false
}

// end is when the last message had arrived.
func (f *flow) end() float64 { return f.arrivals[len(f.arrivals)-1] }

// at is how many bytes had arrived at a time, when those of one message flow evenly between
// the arrival before and its own.
func (f *flow) at(t float64) float64 {
	before := f.start()
	for i, a := range f.arrivals {
		if t < a {
			return f.bytes * (float64(i) + max(0, t-before)/(a-before))
		}
		before = a
	}
	return f.bytes * float64(len(f.arrivals))
}

// together is the rate in B/s of flows that ran at the same time.
//
// The rate up to some moment is what had arrived in full by then, over the time since the
// first flow began. It is never more than what the flows share lets through. So the moment is
// the one that gives the most, of those when half of all had come. Where some flows end before others, what is
// left may not fill the link. A message that was held up says nothing of the others.
//
// Flows of which other links let little through have not brought a message when
// the others end: when the first one does, the parts of messages that are on their way
// count, too.
func together(flows []flow) float64 {
	begin, firstEnd := math.Inf(1), math.Inf(1)
	type arrival struct{ at, bytes float64 }
	var all []arrival
	for i := range flows {
		begin, firstEnd = min(begin, flows[i].start()), min(firstEnd, flows[i].end())
		for _, at := range flows[i].arrivals {
			all = append(all, arrival{at, flows[i].bytes})
		}
	}
	slices.SortFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	rate, bytes := 0.0, 0.0
	for i, a := range all {
		if bytes += a.bytes; 2*(i+1) >= len(all) {
			rate = max(rate, bytes/(a.at-begin))
		}
	}
	bytes = 0
	for i := range flows {
		bytes += flows[i].at(firstEnd)
	}
	return max(rate, bytes/(firstEnd-begin))
}

// chosen is the index of the sample that counts, given the rate of each: the second
// highest of three and more, else the highest. Disturbances only slow down; the highest of many
// may be a fault of the clock.
func chosen(rates []float64) int {
	order := make([]int, len(rates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	if len(order) >= spareHighest {
		return order[1]
	}
	return order[0]
}

// spareHighest samples are enough to pass over the highest.
const spareHighest = 3
