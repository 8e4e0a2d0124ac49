package model

import "testing"

// Reference: Reinfjell 2023, table 2.1, with numbers by hand.
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
