package measure

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestJournalHoldsWhatWasMeasured: the journal of a whole measurement has all
// its readings and conditions.
func TestJournalHoldsWhatWasMeasured(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		var b bytes.Buffer
		want := results(t, n, nil, &Settings{Samples: 5, Repetitions: 2, Extra: 1, Journal: &b, Seed: 3}, nil)[0]
		got, err := ReadResult(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stopped != StoppedUnfinished || got.Rounds != want.Rounds || !reflect.DeepEqual(got.Readings(), want.Readings()) {
			t.Errorf("%d ranks: %d readings of %d rounds, stopped by %q; want %d readings of %d rounds",
				n, len(got.Readings()), got.Rounds, got.Stopped, len(want.Readings()), want.Rounds)
		}
		if !reflect.DeepEqual(got.Hosts, want.Hosts) || !reflect.DeepEqual(got.Crowded, want.Crowded) || got.Seed != 3 || got.Timed != want.Timed {
			t.Errorf("%d ranks: conditions %+v, want %+v", n, got.header(), want.header())
		}
	}
}

// TestJournalIsReadWhereverItEnds: a process may die in the middle of a line.
func TestJournalIsReadWhereverItEnds(t *testing.T) {
	var b bytes.Buffer
	e := example()
	e.Rounds = 0 // as when it begins
	j := newJournal(&b, e)
	if err := j.write(e.readings[:2], 1); err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(b.Bytes(), '\n')
	if err := j.write(e.readings[2:], 2); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	for end := head + 1; end <= len(whole); end++ {
		r, err := ReadResult(strings.NewReader(whole[:end]))
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", end, len(whole), err)
		}
		if want := strings.Count(whole[:end], "]\n"); len(r.readings) != want-strings.Count(whole[:head+1], "]\n") {
			t.Errorf("%d of %d bytes: %d readings, want %d", end, len(whole), len(r.readings), want)
		}
		if want := strings.Count(whole[:end], "}\n") - 1; r.Rounds != want {
			t.Errorf("%d of %d bytes: %d rounds, want %d", end, len(whole), r.Rounds, want)
		}
	}
	for _, c := range []struct{ name, data, want string }{
		{"a reading twice", whole + strings.Split(whole, "\n")[1] + "\n", "is there twice"},
		{"rounds that go back", whole + "{\"rounds\":1}\n", "rounds: 1 after 2"},
		{"an unknown key", whole + "{\"round\":1}\n", "unknown field"},
		{"nonsense", whole + "nonsense\n", "line 7"},
		{"a wrong reading", whole + "[0,0,0,7,0,20,7,1,0,0,0,0,0,0]\n", "line 7: to: 7"},
		{"a wrong head", strings.Replace(whole, `"ranks":2`, `"ranks":3`, 1), "line 1: hosts"},
	} {
		if _, err := ReadResult(strings.NewReader(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestJournalThatCannotBeWritten: the measurement goes on.
func TestJournalThatCannotBeWritten(t *testing.T) {
	r := results(t, 3, nil, &Settings{Samples: 5, Repetitions: 1, Journal: fullDisk{}}, nil)[0]
	if len(r.Readings()) != 6 || !strings.Contains(strings.Join(r.Warnings, "\n"), "the journal cannot be written and was given up: disk full") {
		t.Errorf("%d readings, warnings %q", len(r.Readings()), r.Warnings)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }
