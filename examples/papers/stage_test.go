package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/cli"
)

// TestAllowanceSplits: of 40 s that four parts share the first gets 10 s, which two of its own share; what they leave or take too
// long is the others' matter.
func TestAllowanceSplits(t *testing.T) {
	left := 40 * time.Second
	a := &allowance{func() time.Duration { return left }, 4}
	own := a.split(2)
	if got := own.next(); got != 5*time.Second {
		t.Errorf("the first half of a fourth of 40 s is %v", got)
	}
	left = 37 * time.Second // it took 3 s
	if got := own.next(); got != 7*time.Second {
		t.Errorf("the other half is %v, want what is left of 10 s", got)
	}
	left = 28 * time.Second // 2 s too long
	if !own.spent() || own.next() != leastShare {
		t.Error("12 s of 10 are not spent")
	}
	if got := a.next(); got != 28*time.Second/3 {
		t.Errorf("a third of 28 s is %v", got)
	}
	var boundless allowance
	if boundless.split(3).next() != 0 || boundless.spent() {
		t.Error("the zero value has a bound")
	}
}

// played is an experiment that finds something or does not, and ends as it is told to.
type played struct {
	experiment
	finds bool
	err   error
}

// TestRepeatKeepsWhatThereIs: of several experiments one that wants another machine is left out, and one that fails ends them, with what
// it and those before it have found.
func TestRepeatKeepsWhatThereIs(t *testing.T) {
	failure := errors.New("a link is down")
	each := []begun{
		{source{name: "first"}, played{finds: true}},
		{source{name: "small"}, played{err: cli.BadInput("3 hosts: want 4")}},
		{source{name: "half"}, played{finds: true, err: failure}},
		{source{name: "last"}, played{finds: true}},
	}
	var stderr strings.Builder
	got, err := repeat(each, nil, &stage{progress: &stderr}, new(allowance), func(e experiment, s *stage) error {
		if e.(played).finds {
			s.out.Section("found")
		}
		return e.(played).err
	})
	if !errors.Is(err, failure) || !strings.Contains(err.Error(), "half") || len(got) != 2 || got[0].Name != "first" || got[1].Name != "half" {
		t.Errorf("%d outcomes, %v; want those of first and half, and its error", len(got), err)
	}
	if want := "warning: small is left out: 3 hosts: want 4\n"; stderr.String() != want {
		t.Errorf("told %q, want %q", stderr.String(), want)
	}
}

// TestBatches: as many round trips as single samples have, in 50 batches at least, or as many as there are samples.
func TestBatches(t *testing.T) {
	for _, c := range []struct{ samples, batch, want int }{{10_000, 27, 370}, {50, 27, 50}, {5, 27, 5}, {1000, 10, 100}} {
		if got := batches(c.samples, c.batch); got != c.want {
			t.Errorf("batches(%d, %d) = %d, want %d", c.samples, c.batch, got, c.want)
		}
	}
}
