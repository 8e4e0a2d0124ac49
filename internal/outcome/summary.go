package outcome

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
)

// A Tally counts comparisons of one kind. Numbers that were not reproduced count with those that could have been.
type Tally struct {
	All     int
	Hold    int     // within 10 %, or of bounds those that hold
	Missing int     // not reproduced
	Off     float64 // median difference of those that were reproduced, relative to the printed numbers; NaN: none
}

// A Summary counts what an outcome compares with its source, by kind.
type Summary struct {
	Measured  Tally // under the conditions of the source: the only kind in shares of agreement
	Otherwise Tally // under other conditions
	Computed  Tally
	Bounds    Tally
	Inputs    Tally
}

// Summary counts the outcome's comparisons.
func (o *Outcome) Summary() Summary {
	tally := func(first, last Kind) Tally {
		var t Tally
		var off []float64
		for _, s := range o.Sections {
			for _, c := range s.Compared {
				if c.Kind < first || c.Kind > last {
					continue
				}
				t.All++
				if c.Holds() {
					t.Hold++
				}
				if math.IsNaN(c.Ours) {
					t.Missing++
				}
				if d := math.Abs(c.Off()); !math.IsNaN(d) {
					off = append(off, d)
				}
			}
		}
		t.Off = stats.MiddleMedian(off)
		return t
	}
	return Summary{tally(Measured, Measured), tally(Otherwise, Otherwise), tally(Computed, Computed), tally(AtLeast, About), tally(Input, Input)}
}

// within tells how many numbers are within the margin, and how far they are off.
func (t Tally) within() string {
	text := fmt.Sprintf("%d came out within %s", t.Hold, quantity.Percent(margin))
	if !math.IsNaN(t.Off) {
		text += fmt.Sprintf(" (median off by %s)", quantity.Percent(t.Off))
	}
	return text + t.missing()
}

func (t Tally) missing() string {
	if t.Missing == 0 {
		return ""
	}
	return fmt.Sprintf(", %d could not be reproduced", t.Missing)
}

// sentences tell a summary, one for each kind; "" if nothing was compared.
func (s Summary) sentences() string {
	var parts []string
	say := func(t Tally, format string, args ...any) {
		if t.All > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(s.Measured, "Of %s measured under the conditions of the source %s.", words.Count(s.Measured.All, "number"), s.Measured.within())
	say(s.Otherwise, "Of %s measured under other conditions %s.", words.Count(s.Otherwise.All, "number"), s.Otherwise.within())
	say(s.Computed, "Of %s computed from the source's own equations and tables %s.", words.Count(s.Computed.All, "number"), s.Computed.within())
	say(s.Bounds, "Of %s %d hold%s.", words.Count(s.Bounds.All, "bound"), s.Bounds.Hold, s.Bounds.missing())
	say(s.Inputs, "%s made the simulated machine, which repeats nothing.", words.Count(s.Inputs.All, "input"))
	return strings.Join(parts, " ")
}

// WriteSummary writes a table of the summaries, and of all together if there are several.
func WriteSummary(w io.Writer, outcomes ...*Outcome) {
	t := &Table{Columns: []Column{Text("source")}}
	for _, name := range []string{"measured, within " + quantity.Percent(margin), "median difference", "other conditions", "computed", "bounds that hold", "not reproduced", "inputs"} {
		t.Columns = append(t.Columns, values(name))
	}
	count := func(t Tally) string {
		if t.All == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d", t.Hold, t.All)
	}
	all := &Outcome{Name: "all"}
	for _, o := range outcomes {
		all.Sections = append(all.Sections, o.Sections...)
	}
	if len(outcomes) > 1 {
		outcomes = append(outcomes[:len(outcomes):len(outcomes)], all)
	}
	for _, o := range outcomes {
		s := o.Summary()
		missing := s.Measured.Missing + s.Otherwise.Missing + s.Computed.Missing + s.Bounds.Missing
		t.Row(o.Name, count(s.Measured), quantity.Percent(s.Measured.Off), count(s.Otherwise), count(s.Computed), count(s.Bounds), strconv.Itoa(missing), strconv.Itoa(s.Inputs.All))
	}
	t.write(w)
}
