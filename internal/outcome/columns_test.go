package outcome

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTablesFit: no line is wider than a terminal. Names are broken where that is enough; columns that have no room follow below, with the
// first ones again; what fits stays as it is.
func TestTablesFit(t *testing.T) {
	o := &Outcome{Source: "Somebody 2014."}
	s := o.Section("A title that is longer than a terminal is wide: of one and of two, of three and of four messages (section 1)")
	s.Compare(AtLeast, "least gain while cores are free: \"outperforms in all the scenarios\" of the paper", "", 1, 0.9)
	s.Compare(AtLeast, "speed-up", "", 1, 2)
	wide := s.Table("wide", Text("law"), Number("one", ""), Number("the second of them", ""), Number("the third of them", ""), Number("the fourth of them", ""), Number("the fifth of them", ""), Number("six", ""))
	wide.Row("fair", 1, 2, 3, 4, 5, 6)
	wide.Row("asymmetric", 1, 2, 3, 4, 5, 6)
	s.Because("machines differ")
	var b strings.Builder
	if err := o.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Somebody 2014.

A title that is longer than a terminal is wide: of one and of two, of three and
of four messages (section 1)
--------------------------------------------------------------------------------

law         one  the second of them  the third of them  the fourth of them
fair          1                   2                  3                   4
asymmetric    1                   2                  3                   4

law         the fifth of them  six
fair                        5    6
asymmetric                  5    6

bounds that the source prints, and ours (about: within a quarter)
what                                                     printed  ours  holds
least gain while cores are free: "outperforms in all  at least 1   0.9     no
  the scenarios" of the paper
speed-up                                              at least 1     2    yes

Why: machines differ

Of 2 bounds 1 hold.
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
