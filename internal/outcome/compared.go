package outcome

import "math"

// A Kind says what a Comparison can show.
type Kind int

const (
	// Measured is a number that the experiment gave under the conditions that the source states: its machine, ranks,
	// message sizes and repetitions. It is repeated if it is within 10 %. Shares of agreement count this kind only.
	Measured Kind = iota
	// Otherwise is a number that the experiment gave under other conditions, which the section names.
	Otherwise
	// Computed is a number that follows from equations and tables of the source. Nothing is measured.
	Computed
	// Input is a number by which the simulated machine was made. That it comes out again says that the machine is
	// the source's, and repeats nothing.
	Input
	// AtLeast and AtMost are bounds: they hold or do not.
	AtLeast
	AtMost
	// About is a number that the source rounds in words: it holds if ours is within a quarter of it.
	About
)

// String is the name of the kind in files.
func (k Kind) String() string {
	return []string{"measured", "other conditions", "computed", "input", "at least", "at most", "about"}[k]
}

// MeasuredIf is Measured if the conditions are the source's, and Otherwise if they are not.
func MeasuredIf(same bool) Kind {
	if same {
		return Measured
	}
	return Otherwise
}

// bound says that the kind is one of which a number holds or does not.
func (k Kind) bound() bool { return k >= AtLeast }

// A Comparison is a number that the source prints beside ours.
type Comparison struct {
	What    string
	Unit    string // as of a Column
	Kind    Kind
	Printed float64
	Ours    float64 // NaN: not reproduced
}

// Compare adds a number that the source prints, and ours. NaN: it was not reproduced.
func (s *Section) Compare(kind Kind, what, unit string, printed, ours float64) {
	s.Compared = append(s.Compared, Comparison{what, unit, kind, printed, ours})
}

// Off is by how much our number differs, relative to the printed one; NaN if that is 0, or if there is none of ours.
func (c Comparison) Off() float64 {
	if c.Printed == 0 {
		return math.NaN()
	}
	return (c.Ours - c.Printed) / math.Abs(c.Printed)
}

const (
	margin = 0.10 // how close to the printed number one is repeated
	around = 0.25 // how close one is About the printed number
)

// Holds says that a number is repeated, or that a bound holds. NaN is neither.
func (c Comparison) Holds() bool {
	const rounding = 1 + 1e-9 // 0.55 is within 10 % of 0.5
	within := func(share float64) bool { return math.Abs(c.Ours-c.Printed) <= share*rounding*math.Abs(c.Printed) }
	switch c.Kind {
	case AtLeast:
		return c.Ours >= c.Printed
	case AtMost:
		return c.Ours <= c.Printed
	case About:
		return within(around)
	}
	return within(margin)
}
