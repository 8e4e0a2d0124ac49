package contention

import (
	"math"
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
		got, err := NewPlayback(s).Times(nil, c.flows)
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
	p := NewPlayback(s)
	good := Flow{Data: []int32{0}, Bytes: 1e8}
	for _, bad := range []Flow{
		{Data: []int32{1}, Bytes: 1e8, Start: 0.5, Share: -1},
		{Data: []int32{1}, Bytes: 1e8, Start: 0.5, Bound: -1},
		{Data: []int32{2}, Bytes: 1e8, Start: 0.5},
		{Data: []int32{1}},
		{Data: []int32{1}, Bytes: math.Inf(1)},
		{Data: []int32{1}, Bytes: 1e8, Start: nan},
	} {
		if _, err := p.Times(nil, []Flow{good, bad}); err == nil {
			t.Fatalf("%+v is played", bad)
		}
		got, err := p.Times(nil, []Flow{good})
		if err != nil || !near(got[0], 1, 1e-9) {
			t.Fatalf("playback after an error = %v, %v, want 1 s", got, err)
		}
		if s.Flows() != 0 {
			t.Fatalf("%d flows are left", s.Flows())
		}
	}
}
