package draw

import (
	"image/color"
	"math"
	"testing"

	"github.com/topocast/topocast/internal/quantity"
)

// Who sees no colours at all still sees which of two measurements is higher: lightness rises over the
// whole scale (relative luminance of sRGB, IEC 61966-2-1).
func TestTheScaleBecomesLighter(t *testing.T) {
	s, colours := &heat{low: 1e-6, cut: 1e-4}, palette()
	before := -1.0
	for v := 1e-6; v <= 1e-4; v *= 1.02 {
		if l := luminance(colours[s.shade(v)]); l < before {
			t.Fatalf("%g s is darker than what is faster", v)
		} else {
			before = l
		}
	}
	if s.shade(1e-6) != 0 || s.shade(1e-4) != shades-1 || s.shade(1) != shades-1 {
		t.Errorf("the ends have the colours %d, %d, and %d beyond", s.shade(1e-6), s.shade(1e-4), s.shade(1))
	}
	if colours[s.shade(math.NaN())] != color.Color(color.White) {
		t.Error("what was not measured is not white")
	}
	if same := (&heat{low: 1e-6, cut: 1e-6}); same.shade(1e-6) >= shades {
		t.Error("equal measurements have no colour")
	}
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(x uint32) float64 { return math.Pow(float64(x)/0xffff, 2.2) }
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// Axes have from two to a dozen labels, at round numbers.
func TestLogTicks(t *testing.T) {
	for _, axis := range [][2]float64{{1e-6, 2e-6}, {3e-6, 4e-5}, {1e-8, 1e-2}, {1e-9, 1e9}, {7e-6, 7.1e-6}} {
		labels := 0
		for _, tick := range (logTicks{10, quantity.Seconds}).Ticks(axis[0], axis[1]) {
			if tick.Value < axis[0]*0.999 || tick.Value > axis[1]*1.001 {
				t.Errorf("axis %v: tick at %g", axis, tick.Value)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 2 || labels > 12 {
			t.Errorf("axis %v: %d labels", axis, labels)
		}
	}
}
