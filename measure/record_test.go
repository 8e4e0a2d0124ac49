package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestRecordHoldsWhatWasMeasured: the record of a whole measurement has all
// its measurements and conditions.
func TestRecordHoldsWhatWasMeasured(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		var b bytes.Buffer
		want := results(t, n, nil, &Settings{Sampling: Sampling{Samples: 5, Repetitions: 2, Seed: 3}, extra: 1, Record: record.NewWriter(&b, nil)}, nil)[0]
		got, err := ReadResult(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got.schedule = want.schedule; !reflect.DeepEqual(got, want) {
			t.Errorf("%d ranks: %+v, want %+v", n, got, want)
		}
	}
}

// TestRecordIsReadWhereverItEnds: a process may die in the middle of a line.
func TestRecordIsReadWhereverItEnds(t *testing.T) {
	var b bytes.Buffer
	e := example()
	measurements := e.measurements
	e.Rounds, e.measurements = 0, nil // as when it begins
	c := newCollector(&Settings{Record: record.NewWriter(&b, nil)}, e)
	for k, round := range [][]Measurement{measurements[:2], measurements[2:]} {
		var rows []harness.Row
		for _, x := range round {
			rows = append(rows, harness.Row{From: x.From, To: x.To, Repetition: x.Repetition, Round: x.Round, Values: appendSummary([]float64{float64(x.Size)}, &x.Summary)})
		}
		if c.deliver(rows, Progress{Done: k + 1, Total: 2}); len(c.lost) > 0 {
			t.Fatal(c.lost)
		}
	}
	whole := b.String()
	head := strings.Index(whole, "7}}\n") + 3 // the end of the section's first line
	for end := head + 1; end <= len(whole); end++ {
		r, err := ReadResult(strings.NewReader(whole[:end]))
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", end, len(whole), err)
		}
		// The first round has two measurements, the second one.
		rounds, want := 0, 0
		for i, mark := range []string{"{\"rounds\":1,\"total_rounds\":2}\n", "{\"rounds\":2,\"total_rounds\":2}\n"} {
			if strings.Contains(whole[:end], mark) {
				rounds, want = rounds+1, want+2-i
			}
		}
		if r.Rounds != rounds || len(r.measurements) != want || r.Stopped != harness.StoppedUnfinished {
			t.Errorf("%d of %d bytes: %d measurements of %d rounds, stopped by %q, want %d of %d and unfinished",
				end, len(whole), len(r.measurements), r.Rounds, r.Stopped, want, rounds)
		}
	}
	line := fmt.Sprintf("line %d: ", strings.Count(whole, "\n")+1)
	for _, c := range []struct{ name, data, want string }{
		{"a measurement twice", whole + "[0,0,1,0,0,20,7,1,0,0,0,0,0,0,0]\n{\"rounds\":2,\"total_rounds\":2}\n", "is there twice"},
		{"rounds that go back", whole + "{\"rounds\":1,\"total_rounds\":2}\n", "rounds: 1 after 2"},
		{"an unknown key", whole + "{\"round\":1}\n", "unknown field"},
		{"nonsense", whole + "nonsense\n", line},
		{"a wrong measurement", whole + "[0,0,0,7,0,20,7,1,0,0,0,0,0,0,0]\n", line + "to: 7"},
		{"a wrong head", strings.Replace(whole, `"ranks":2`, `"ranks":3`, 1), "line 1: hosts"},
	} {
		if _, err := ReadResult(strings.NewReader(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestRecordOfASimulation: a round of 20 samples of 4 ms both ways takes more
// than 0.1 s of the simulated clock, so that every fifth round is written at least.
func TestRecordOfASimulation(t *testing.T) {
	c, err := gen.Parse("star:6 latency=1ms")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		_, err := Run(context.Background(), comm, &Settings{Sampling: Sampling{Repetitions: 5}, Record: record.NewWriter(&b, nil)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, line := range strings.Split(b.String(), "\n") {
		var rounds int
		if n, _ := fmt.Sscanf(line, "{\"rounds\":%d,", &rounds); n == 1 {
			if rounds > last+5 {
				t.Errorf("nothing was written between rounds %d and %d", last, rounds)
			}
			last = rounds
		}
	}
	if last != 25 {
		t.Errorf("%d rounds were written, want 25", last)
	}
}

// TestRecordThatCannotBeWritten: the measurement goes on.
func TestRecordThatCannotBeWritten(t *testing.T) {
	r := results(t, 3, nil, &Settings{Sampling: Sampling{Samples: 5, Repetitions: 1}, Record: record.NewWriter(fullDisk{}, nil)}, nil)[0]
	if len(r.Measurements()) != 6 || !strings.Contains(strings.Join(r.Warnings, "\n"), "the record cannot be written and was given up: record: write: disk full") {
		t.Errorf("%d measurements, warnings %q", len(r.Measurements()), r.Warnings)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }
