package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/measure"
)

func TestLinesEveryFewSeconds(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, "measuring")
	for done := range 11 {
		elapsed := time.Duration(done) * 2 * time.Second
		remaining := 20*time.Second - elapsed
		if done == 0 {
			remaining = 0
		}
		p.Show(measure.Progress{Units: "rounds", Done: done, Total: 10, Elapsed: elapsed, Remaining: remaining})
	}
	p.Show(measure.Progress{Units: "rounds", Done: 10, Total: 10, Elapsed: time.Minute})
	want := `measuring: 3 of 10 rounds, 6s, about 14s left
measuring: 6 of 10 rounds, 12s, about 8s left
measuring: 9 of 10 rounds, 18s, about 2s left
measuring: 10 of 10 rounds, 20s
`
	if b.String() != want {
		t.Errorf("lines are\n%swant\n%s", b.String(), want)
	}
}

func TestShortMeasurementsAreSilentInLogs(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, "measuring")
	for done := range 4 {
		p.Show(measure.Progress{Units: "rounds", Done: done, Total: 3, Elapsed: time.Duration(done) * time.Second})
	}
	if b.Len() != 0 {
		t.Errorf("lines are %q, want none", b.String())
	}
}

func TestBarIsClearedAtTheEnd(t *testing.T) {
	for _, rounds := range []int{3, 2} { // all, or ended early
		var b bytes.Buffer
		p := New(&b, "measuring")
		p.draws = true // as on a terminal
		for done := range rounds + 1 {
			p.Show(measure.Progress{Units: "rounds", Done: done, Total: 3})
		}
		p.Close()
		p.Show(measure.Progress{Units: "rounds", Done: 1, Total: 3})
		text := b.String()
		if !strings.Contains(text, "measuring") || !strings.Contains(text, "/3") {
			t.Errorf("%d rounds: bar is %q, want the label and the count", rounds, text)
		}
		// What stands on the line at the end is what follows the last return.
		end := text[strings.LastIndex(strings.TrimRight(text, "\r"), "\r")+1:]
		if strings.TrimSpace(end) != "" {
			t.Errorf("%d rounds: bar ends with %q, want blanks", rounds, end)
		}
	}
}
