package netlab

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestRatesAreJudgedByMeasurementsOnTime: 1 s is right within 7 %.
func TestRatesAreJudgedByMeasurementsOnTime(t *testing.T) {
	type measurement struct {
		took   float64
		onTime bool
	}
	on := func(times ...float64) (r []measurement) {
		for _, x := range times {
			r = append(r, measurement{x, true})
		}
		return r
	}
	late := func(x float64) measurement { return measurement{x, false} }
	tests := []struct {
		name         string
		measurements []measurement
		want         float64
		verdict      Verdict
	}{
		{"the first is right", on(1.06), 1.06, Right},
		{"the first is wrong, and the others do not decide yet", on(1.2, 1, 1, 1), 1, NotTimed},
		{"the median is right", on(1.2, 1, 1.3, 1.05, 0.99), 1.05, Right},
		{"the median is too long", on(1.2, 1, 1.3, 1.08, 0.99), 1.08, Outside},
		{"the median is too short", on(0.9, 0.9, 0.9, 0.9, 0.9), 0.9, Outside},
		{"late ones show nothing", []measurement{late(9), late(1), late(8)}, 8, NotTimed},
		{"late ones do not count", append([]measurement{late(9), late(1), late(1)}, on(1.2, 1.2, 1.2, 1.2, 1)...), 1.2, Outside},
		{"nor do they between others", append(on(1.2, 1), append([]measurement{late(9), late(9)}, on(1, 1.3, 1)...)...), 1, Right},
	}
	for _, tt := range tests {
		c := Check{Truth: 1, Verdict: NotTimed}
		for _, r := range tt.measurements {
			c.read(r.took, r.onTime)
		}
		if !near(c.Measurement, tt.want) || c.Verdict != tt.verdict {
			t.Errorf("%s: measurement %g, %v, want %g, %v", tt.name, c.Measurement, c.Verdict, tt.want, tt.verdict)
		}
	}
}

// TestLatenciesAreJudgedLessTheEndpoint: of three pairs, 200 us apart, all measurements but one
// are 40 us longer, and that one 80 us; 30 us are allowed.
func TestLatenciesAreJudgedLessTheEndpoint(t *testing.T) {
	v := &Verification{}
	for _, measurement := range []float64{240e-6, 240e-6, 280e-6, 240e-6, 240e-6, math.Inf(1)} {
		v.Latencies = append(v.Latencies, Check{Truth: 200e-6, Measurement: measurement})
	}
	v.judgeLatencies([]int{1, 2, 0})
	for i, want := range []Verdict{Right, Right, Outside, Right, NotTimed, NotTimed} {
		if got := v.Latencies[i].Verdict; got != want {
			t.Errorf("measurement %d of %g s: %v, want %v", i, v.Latencies[i].Measurement, got, want)
		}
	}
	if !near(v.Endpoint, 40e-6) {
		t.Errorf("endpoint cost = %g, want 40 us", v.Endpoint)
	}
}

// TestJudge: eight measurements, of which two may be missing.
func TestJudge(t *testing.T) {
	tests := []struct {
		outside, open int
		want          string
	}{{0, 0, ""}, {0, 2, ""}, {0, 3, "did not keep time in 3 of 8 measurements"}, {1, 0, "1 of 8 measurements are outside"}, {1, 7, "1 of 8 measurements are outside"}}
	for _, tt := range tests {
		v := &Verification{Latencies: make([]Check, 4), Rates: make([]Check, 4)}
		for i := range 8 {
			verdict := Right
			if i < tt.outside {
				verdict = Outside
			} else if i < tt.outside+tt.open {
				verdict = NotTimed
			}
			if i < 4 {
				v.Latencies[i].Verdict = verdict
			} else {
				v.Rates[i-4].Verdict = verdict
			}
		}
		err := v.Judge()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("Judge with %d outside and %d not timed = %v, want %q", tt.outside, tt.open, err, tt.want)
		}
		if got, want := errors.Is(err, ErrNotTimed), tt.outside == 0 && tt.open > 2; got != want {
			t.Errorf("Judge with %d outside and %d not timed = %v: ErrNotTimed %v, want %v", tt.outside, tt.open, err, got, want)
		}
	}
}

func TestTimesOfLoopsAddUp(t *testing.T) {
	a := Loop{Frames: 1, Elapsed: 1, Worst: 3e-3, Late: 4e-6, Above1ms: 1, Stalled: 3e-3, CPU: -1}
	b := Loop{Frames: 3, Elapsed: 2, Worst: 2e-3, Late: 8e-6, Above1ms: 2, Stalled: 5e-3, CPU: 1, RealTime: true}
	want := Loop{Frames: 4, Elapsed: 3, Worst: 3e-3, Late: 7e-6, Above1ms: 3, Stalled: 8e-3, CPU: 1, RealTime: true}
	if got := a.Plus(b); got != want {
		t.Errorf("Plus = %+v, want %+v", got, want)
	}
	// 2 % of 3 s are 60 ms.
	for stalled, on := range map[float64]bool{0: true, 0.06: true, 0.061: false} {
		want.Stalled = stalled
		if want.OnTime() != on {
			t.Errorf("stalled for %g of %g s: on time is %v", stalled, want.Elapsed, !on)
		}
	}
}
