package contention

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand, over one channel of 100 B/s: 100 B alone take 1 s; 100 and 50 B share until the
// second is done at 1 s, and the first needs 0.5 s more; what starts at 3 s begins then; 200
// B bounded to 50 B/s take 4 s; with shares of 3 and 1 the first has 75 B/s.
func TestPlaybackByHand(t *testing.T) {
	on := []int32{0}
	for _, c := range []struct {
		name  string
		flows []Flow
		want  []float64
	}{
		{"alone", []Flow{{Data: on, Bytes: 100}}, []float64{1}},
		{"two", []Flow{{Data: on, Bytes: 100}, {Data: on, Bytes: 50}}, []float64{1.5, 1}},
		{"one after the other", []Flow{{Data: on, Bytes: 100, Start: 3}, {Data: on, Bytes: 50}}, []float64{4, 0.5}},
		{"a bound", []Flow{{Data: on, Bytes: 200, Bound: 50}}, []float64{4}},
		{"shares", []Flow{{Data: on, Bytes: 75, Share: 3}, {Data: on, Bytes: 50, Share: 1}}, []float64{1, 1.25}},
		{"over no channel", []Flow{{Bytes: 75, Start: 2}}, []float64{2}},
		{"none", nil, nil},
	} {
		s, err := NewSolver([]float64{100}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Times(nil, c.flows)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if !near(got[i], want, 1e-12) {
				t.Errorf("%s: flow %d is complete at %g s, want %g", c.name, i, got[i], want)
			}
		}
	}
}

// A playback goes on after one that failed, whether a flow was refused before the first began
// or by the solver in the middle.
func TestPlaybackAfterAnError(t *testing.T) {
	s, err := NewSolver([]float64{1e8, 1e8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := Flow{Data: []int32{0}, Bytes: 1e8}
	for _, bad := range []Flow{
		{Data: []int32{1}, Bytes: 1e8, Start: 0.5, Share: -1},
		{Data: []int32{1}, Bytes: 1e8, Start: 0.5, Bound: -1},
		{Data: []int32{2}, Bytes: 1e8, Start: 0.5},
		{Data: []int32{1}},
		{Data: []int32{1}, Bytes: math.Inf(1)},
		{Data: []int32{1}, Bytes: 1e8, Start: nan},
	} {
		if _, err := s.Times(nil, []Flow{good, bad}); err == nil {
			t.Fatalf("%+v is played", bad)
		}
		got, err := s.Times(nil, []Flow{good})
		if err != nil || !near(got[0], 1, 1e-9) {
			t.Fatalf("playback after an error = %v, %v, want 1 s", got, err)
		}
		if s.underWay() != 0 {
			t.Fatalf("%d flows are left", s.underWay())
		}
	}
}

// Flows that begin and end at any time, some together, are complete when a playback without a heap has them so, which
// fills all channels anew at each event.
func TestPlaybackAsSlowly(t *testing.T) {
	for trial := range 150 {
		r := rand.New(rand.NewPCG(uint64(trial), 11))
		channels := 2 + r.IntN(8)
		capacity, sharing := randomCapacities(r, channels), sharings[trial%len(sharings)]
		solver, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time over what the first has left
			var flows []Flow
			var paths []testFlow
			for range 1 + r.IntN(30) {
				path := randomFlow(r, channels, trial%3 == 0)
				start := []float64{0, 0, float64(r.IntN(4)), 4 * r.Float64()}[r.IntN(4)]
				paths = append(paths, path)
				flows = append(flows, Flow{path.data, path.reverse, float64(1 + r.IntN(400)), start, path.bound, path.share})
			}
			got, err := solver.Times([]float64{7}, flows)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1+len(flows) || got[0] != 7 || solver.underWay() != 0 {
				t.Fatalf("trial %d: %d times after 7, %d flows left", trial, len(got)-1, solver.underWay())
			}
			for i, want := range slowTimes(capacity, flows, paths, sharing) {
				if !near(got[1+i], want, 1e-7) {
					t.Fatalf("trial %d: flow %d of %d is complete at %.12g s, want %.12g", trial, i, len(flows), got[1+i], want)
				}
			}
		}
	}
}

func slowTimes(capacity []float64, flows []Flow, paths []testFlow, sharing Sharing) []float64 {
	left, done := make([]float64, len(flows)), make([]float64, len(flows))
	for i, f := range flows {
		left[i] = f.Bytes
	}
	for now := 0.0; ; {
		var live []int
		var livePaths []testFlow
		next := math.Inf(1)
		for i, f := range flows {
			switch {
			case left[i] <= 0:
			case f.Start <= now:
				live, livePaths = append(live, i), append(livePaths, paths[i])
			default:
				next = min(next, f.Start)
			}
		}
		if len(live) == 0 && math.IsInf(next, 1) {
			return done
		}
		rates := slowRates(capacity, livePaths, sharing)
		for k, i := range live {
			next = min(next, now+left[i]/rates[k])
		}
		for k, i := range live {
			if left[i] -= rates[k] * (next - now); left[i] <= 1e-9*flows[i].Bytes {
				left[i], done[i] = 0, next
			}
		}
		now = next
	}
}
