package predict

import (
	"math"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/quantity"
)

// A Plan is how one broadcast is done.
type Plan struct {
	Algorithm      schedule.Algorithm // nil: native
	Index          int                // of the algorithm, in the list that was searched
	Segment        int                // bytes; 0: the message is sent whole
	Blocking       bool               // steps are carried out one after the other, rather than some at once
	Predicted      float64            // s, by the network; NaN if that leaves a time of the schedule to be guessed
	Measured       float64            // s, median of the slowest rank; NaN if it was not timed
	MeasuredNative float64            // s, the same of native
}

// Name is the name of the algorithm, or "native".
func (p Plan) Name() string {
	if p.Algorithm == nil {
		return "native"
	}
	return p.Algorithm.Name()
}

// String describes the plan in a line of text.
func (p Plan) String() string {
	s := p.How()
	for _, t := range []struct {
		name  string
		value float64
	}{{"predicted", p.Predicted}, {"measured", p.Measured}, {"native", p.MeasuredNative}} {
		if !math.IsNaN(t.value) {
			s += ", " + t.name + " " + quantity.Seconds(t.value)
		}
	}
	return s
}

// How is the plan without its times.
func (p Plan) How() string {
	if p.Algorithm == nil {
		return "native"
	}
	s := schedule.Text(p.Algorithm)
	if p.Segment > 0 {
		s += ", segments of " + quantity.Bytes(p.Segment)
	} else {
		s += ", whole message"
	}
	if p.Blocking {
		s += ", blocking"
	}
	return s
}
