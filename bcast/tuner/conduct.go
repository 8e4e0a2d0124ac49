package tuner

// A Variant says how a collective operation is performed, in a form that ranks can tell each other.
type Variant struct {
	Index    int  `json:"i"`           // of an algorithm, in a list that all ranks have; Incumbent: none
	Segment  int  `json:"s,omitempty"` // bytes; 0: the message is sent whole
	Blocking bool `json:"b,omitempty"` // transfers are carried out one after the other, rather than some at once
}

// Incumbent is the Index of the variant that stays unless another one wins.
const Incumbent = -1

// A Round is what is timed next. In a round each variant broadcasts from Roots, back to back, one variant after the other.
type Round struct {
	Variants []Variant `json:"v,omitempty"` // in the order in which they run, at least one
	Roots    []int     `json:"r,omitempty"` // of the broadcasts of each variant
	Head     bool      `json:"h,omitempty"` // only the head of the buffer is broadcast, and the times do not count
}

// A Session says what to time, and judges the times. It touches no communicator: Conduct performs the rounds and hands
// the samples back. Rank 0 alone holds the session.
type Session interface {
	// Next is the next round at the time now, in s. It is false at the end of the session.
	Next(now float64) (Round, bool)

	// Add takes the samples of the round that Next has returned last, in the order of its variants.
	Add(r Round, samples []Sample)
}

// Conduct is collective: it performs the rounds of sessions. On rank 0 it calls lead, which hands run one session after the
// other. After an error run does nothing. The other ranks follow: rank 0 tells them each round, and the end. On every rank
// perform carries out one variant of a round, and returns on rank 0 what that took.
func (w *Stopwatch) Conduct(lead func(run func(Session)), perform func(v Variant, r Round) (Sample, error)) error {
	if !w.tree.IsRoot() {
		for {
			if samples, err := w.round(Round{}, perform); samples == nil {
				return err
			}
		}
	}
	var failed error
	lead(func(s Session) {
		for failed == nil {
			r, on := s.Next(w.Now())
			if !on {
				return
			}
			var samples []Sample
			if samples, failed = w.round(r, perform); failed == nil {
				s.Add(r, samples)
			}
		}
	})
	if failed == nil {
		_, failed = w.round(Round{}, perform)
	}
	return failed
}

// round is collective: it performs a round of rank 0 on all ranks. A round without variants is the end, and has no samples.
func (w *Stopwatch) round(r Round, perform func(v Variant, r Round) (Sample, error)) (samples []Sample, err error) {
	var order struct {
		Round
		Compare bool `json:"c,omitempty"` // the clocks first
	}
	if w.tree.IsRoot() {
		order.Round, order.Compare = r, w.clocks.stale()
	}
	if err := w.tell(&order); err != nil || len(order.Variants) == 0 {
		return nil, err
	}
	if order.Compare {
		if err := w.clocks.compare(); err != nil {
			return nil, err
		}
	}
	for _, v := range order.Variants {
		s, err := perform(v, order.Round)
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return samples, nil
}
