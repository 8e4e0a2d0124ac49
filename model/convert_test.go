package model

import "testing"

// Reference: Reinfjell 2023, table 2.1 and eq. 3.3, with numbers by hand.
func TestConversions(t *testing.T) {
	p := PLogP{
		Latency: 10e-6, Sizes: []int64{1, 1000001}, Gap: []float64{4e-6, 1004e-6},
		Send: []float64{1e-6, 2e-6}, Recv: []float64{2e-6, 4e-6},
	}
	l := p.LogGP(1000001, 16)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"L = L + g(1) - os(1) - or(1)", l.L, 11e-6},
		{"o = (os(1) + or(1))/2", l.O, 1.5e-6},
		{"g = g(1)", l.Gap, 4e-6},
		{"G = g(m)/m", l.BigGap, 1004e-6 / 1000001},
		{"LogGP time of one byte is L + g(1)", l.Time(1), p.Time(1)},
		{"eq. 3.3 at one byte", p.OverheadTime(1), 10e-6 + 1.5e-6 + 4e-6},
		{"eq. 3.3 between sizes", p.OverheadTime(500001), 10e-6 + (1.5e-6+3e-6)/2 + 504e-6},
	} {
		if !near(c.got, c.want, 1e-9) {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	if l.P != 16 {
		t.Errorf("P = %d, want 16", l.P)
	}
	h, clamped := p.Hockney()
	if clamped || !near(h.Time(1), 14e-6, 1e-9) || !near(h.Time(1000001), 1014e-6, 1e-9) || !near(h.Bandwidth, 1e9, 1e-9) {
		t.Errorf("Hockney() = %+v, clamped %v; want the line through both points", h, clamped)
	}
	back := h.PLogP()
	if !near(back.Time(12345678), h.Time(12345678), 1e-9) {
		t.Errorf("PLogP of Hockney: %g, want %g", back.Time(12345678), h.Time(12345678))
	}
	bare := Hockney{1e-6, 1e9}.PLogP()
	if l := bare.LogGP(1000, 2); !near(l.L, nan, 0) || !near(l.BigGap, 1e-9, 1e-9) {
		t.Errorf("LogGP without overheads = %+v, want L NaN and G 1e-9", l)
	}
}

// By hand: the line of least squares through (0, 1), (1, 2) and (2, 6) us is 0.5 + 2.5 x, and through
// (0, 0), (1, 0), (2, 6) us it is -1 + 3 x, which is set to 0 at its beginning.
func TestLinear(t *testing.T) {
	p := PLogP{
		Latency: 7e-6, Sizes: []int64{0, 1, 2}, Gap: []float64{1e-6, 2e-6, 6e-6},
		Send: []float64{0, 0, 6e-6}, Recv: []float64{3e-6, 3e-6, 3e-6},
	}
	line, clamped := p.Linear()
	if !clamped {
		t.Error("a line below 0 is not told")
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"L", line.Latency, 7e-6},
		{"g(0)", line.GapAt(0), 0.5e-6},
		{"g(1)", line.GapAt(1), 3e-6},
		{"g(4)", line.GapAt(4), 10.5e-6},
		{"os(0)", line.SendAt(0), 0},
		{"os(1)", line.SendAt(1), 2.5e-6},
		{"os(2)", line.SendAt(2), 5e-6},
		{"or(9)", line.RecvAt(9), 3e-6},
		{"RTT(1) = 2L + g(1) + g(0)", line.RoundTrip(1), 17.5e-6},
	} {
		if !near(c.got, c.want, 1e-9) && c.got != c.want {
			t.Errorf("%s = %g, want %g", c.name, c.got, c.want)
		}
	}
	if err := line.Check(); err != nil {
		t.Error(err)
	}
	if same, _ := (&PLogP{Sizes: []int64{8}, Gap: []float64{1}}).Linear(); same.GapAt(8) != 1 || same.Send != nil {
		t.Errorf("one size: %+v", same)
	}
}
