package measure

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// simulated is a run on a simulated cluster, and the result of rank 0.
func simulated(t *testing.T, c *gen.Cluster, s *Settings) (*Result, error) {
	t.Helper()
	var r *Result
	err := simnet.Run(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		var own *Settings // only rank 0's count
		if comm.Rank() == 0 {
			own = s
		}
		found, err := Run(context.Background(), comm, own)
		if found != nil {
			r = found
		}
		return err
	})
	return r, err
}

// places are the measurements without their times, which two runs share.
func places(r *Result) []Measurement {
	all := slices.Clone(r.measurements)
	for i := range all {
		all[i] = Measurement{From: all[i].From, To: all[i].To, Repetition: all[i].Repetition, Size: all[i].Size, Round: all[i].Round}
	}
	return all
}

// TestResumeMeasuresWhatIsMissing: wherever a run was killed, one that goes on with what is
// left of its record has in the end the measurements of an undisturbed run, each
// once, the old ones as they were; and so has its own record.
func TestResumeMeasuresWhatIsMissing(t *testing.T) {
	c, err := gen.Parse("tree:2x3 latency=1ms,1ms")
	if err != nil {
		t.Fatal(err)
	}
	hosts := func(from, to int) []int { return []int{from, from + 1, to} }
	groups, err := topology.NewHierarchy(6, make([]topology.Level, 1), []topology.Group{{Hosts: hosts(0, 2)}, {Hosts: hosts(3, 5)}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Settings{
		"all pairs": {Sampling: Sampling{Repetitions: 3, Seed: 3}, Sizes: []int{8, 64}},
		"groups":    {Pairs: harness.Pairs{Groups: groups}, Sampling: Sampling{Repetitions: 2, Seed: 3}},
		"few pairs": {Pairs: harness.Pairs{Rounds: 2}, Sampling: Sampling{Repetitions: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var journal bytes.Buffer
			s.Samples, s.Record = 5, record.NewWriter(&journal, nil)
			whole, err := simulated(t, c, &s)
			if err != nil {
				t.Fatal(err)
			}
			text := journal.String()
			// After the last mark, after each mark, and in a row behind it.
			var cuts []int
			for at, line := range strings.SplitAfter(text, "\n") {
				if strings.HasPrefix(line, `{"rounds"`) {
					end := len(strings.Join(strings.SplitAfter(text, "\n")[:at+1], ""))
					cuts = append(cuts, end, min(end+30, len(text)))
				}
			}
			if len(cuts) < 6 {
				t.Fatalf("%d places to cut\n%s", len(cuts), text)
			}
			for _, cut := range append(cuts, len(text)) {
				before, err := ReadResult(strings.NewReader(text[:cut]))
				if err != nil {
					t.Fatal(err)
				}
				var again bytes.Buffer
				more := s
				more.Resume, more.Record = before, record.NewWriter(&again, nil)
				after, err := simulated(t, c, &more)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(places(after), places(whole)) || after.Rounds != whole.Rounds || after.TotalRounds != whole.TotalRounds ||
					after.Repetitions != whole.Repetitions || after.Stopped != "" {
					t.Fatalf("cut at %d of %d: %d measurements in %d of %d rounds, stopped by %q; want %d in %d of %d",
						cut, len(text), len(after.measurements), after.Rounds, after.TotalRounds, after.Stopped, len(whole.measurements), whole.Rounds, whole.TotalRounds)
				}
				for _, x := range before.measurements {
					if i, ok := slices.BinarySearchFunc(after.measurements, x, compareMeasurements); !ok || after.measurements[i] != x {
						t.Fatalf("cut at %d: the measurement %+v is not as it was", cut, x)
					}
				}
				if kept, err := ReadResult(&again); err != nil || !slices.Equal(kept.measurements, after.measurements) || kept.Stopped != "" {
					t.Fatalf("cut at %d: the record of the second run: %v", cut, err)
				}
			}
		})
	}
}

// TestResumeTakesMoreRepetitions: a whole run may be gone on with.
func TestResumeTakesMoreRepetitions(t *testing.T) {
	c, err := gen.Parse("star:5")
	if err != nil {
		t.Fatal(err)
	}
	two, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 2}})
	if err != nil {
		t.Fatal(err)
	}
	three, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 3}, Resume: two})
	if err != nil {
		t.Fatal(err)
	}
	if len(three.measurements) != 60 || three.Rounds != 15 || len(three.Matrices()) != 3 || !slices.Contains(three.Notes, "10 of 15 rounds are of an earlier run") {
		t.Errorf("%d measurements in %d rounds, notes %q", len(three.measurements), three.Rounds, three.Notes)
	}
	same, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 1}, Resume: two})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(same.measurements, two.measurements) || same.Rounds != 10 || same.Repetitions != 2 {
		t.Errorf("nothing was missing: %d measurements in %d rounds", len(same.measurements), same.Rounds)
	}
}

func TestResumeRefusesOtherRuns(t *testing.T) {
	c, err := gen.Parse("star:4")
	if err != nil {
		t.Fatal(err)
	}
	before, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 1, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		change     func(s *Settings, r *Result)
	}{
		{"other hosts", "rank 2 ran on elsewhere", func(_ *Settings, r *Result) { r.Hosts[2] = "elsewhere" }},
		{"fewer ranks", "3 ranks and 4", func(_ *Settings, r *Result) { r.Ranks = 3 }},
		{"other sizes", "messages of 0 B and of 8 B", func(s *Settings, _ *Result) { s.Sizes = []int{8} }},
		{"another seed", "seeds 1 and 2", func(s *Settings, _ *Result) { s.Seed = 2 }},
		{"other samples", "20 samples of each pair and 7", func(s *Settings, _ *Result) { s.Samples = 7 }},
		{"other rounds", "other pairs, groups or numbers of rounds", func(s *Settings, _ *Result) { s.Rounds = 1 }},
		{"chosen pairs", "other pairs", func(s *Settings, _ *Result) { s.Pairs = harness.OneByOne([][2]int{{0, 1}}) }},
		{"merged runs", "2 runs, merged", func(_ *Settings, r *Result) { r.Runs = 2 }},
		{"another version", `topocast "v7"`, func(_ *Settings, r *Result) { r.Version = "v7" }},
		{"rounds that cannot be", "Done", func(_ *Settings, r *Result) { r.Rounds = 1e6 }},
	} {
		earlier := *before
		earlier.Hosts = slices.Clone(before.Hosts)
		s := &Settings{Sampling: Sampling{Repetitions: 1, Seed: 1}, Resume: &earlier}
		tt.change(s, &earlier)
		_, err := simulated(t, c, s)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestResumeBehindPartialRepetitions: rounds that were measured again are numbered behind those of all
// pairs, and a run that goes on begins before them.
func TestResumeBehindPartialRepetitions(t *testing.T) {
	r := synthetic(t, 6, 3, 1, 0, 0, 1)
	r.Rounds = 15
	if measurements, rounds := r.scheduled(); rounds != 15 || !slices.Equal(measurements, r.measurements) {
		t.Errorf("%d measurements of %d rounds, want all %d of 15", len(measurements), rounds, len(r.measurements))
	}
	whole := slices.Clone(r.measurements)
	for _, repetition := range []int{3, 4} {
		r.measurements = append(r.measurements, Measurement{From: 0, To: 1, Repetition: repetition, Round: 5}, Measurement{From: 1, To: 0, Repetition: repetition, Round: 5})
	}
	r.Rounds = 17
	if measurements, rounds := r.scheduled(); rounds != 15 || !slices.Equal(measurements, whole) {
		t.Errorf("%d measurements of %d rounds, want %d of 15", len(measurements), rounds, len(whole))
	}
}

// A file that was written at once does not say which rounds its beginning has: what goes on with it measures all, each pair once.
func TestResumeOfACutFile(t *testing.T) {
	c, err := gen.Parse("tree:2x3")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 2, Samples: 5}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := whole.Write(&file); err != nil {
		t.Fatal(err)
	}
	cut, read := 0, 0
	for cut = strings.Index(file.String(), "\n[") + 1; cut < file.Len(); cut += 331 {
		before, err := ReadResult(bytes.NewReader(file.Bytes()[:cut]))
		if err != nil || before.Rounds == whole.Rounds {
			continue
		}
		read++
		after, err := simulated(t, c, &Settings{Sampling: Sampling{Repetitions: 2, Samples: 5}, Resume: before})
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := after.Write(&again); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadResult(&again); err != nil || len(got.measurements) != len(whole.measurements) || got.Rounds != whole.Rounds {
			t.Errorf("%d of %d bytes: %+v, %v", cut, file.Len(), got, err)
		}
	}
	if read < 5 {
		t.Errorf("%d files were read", read)
	}
}
