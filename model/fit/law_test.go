package fit

import "testing"

// TestExplainsMore: twenty patterns of four transfers that are off by 4 to 6 % with a simple law.
func TestExplainsMore(t *testing.T) {
	patterns := func(change func(pattern int, r float64) float64) (out [][]float64) {
		for i := range 20 {
			var p []float64
			for k := range 4 {
				p = append(p, change(i, 0.04+0.005*float64(k)))
			}
			out = append(out, p)
		}
		return out
	}
	spoilt := func(by float64) func(int, float64) float64 {
		return func(i int, r float64) float64 {
			if i == 3 {
				return r - by
			}
			return r
		}
	}
	same := func(_ int, r float64) float64 { return r }
	for _, c := range []struct {
		name          string
		with, without func(int, float64) float64
		want          bool
	}{
		{"a tenth less in each pattern", func(_ int, r float64) float64 { return 0.9 * r }, same, true},
		{"one percent less in each pattern", func(_ int, r float64) float64 { return 0.99 * r }, same, false},
		{"as much", same, same, false},
		{"more", same, func(_ int, r float64) float64 { return 0.9 * r }, false},
		{"one pattern that was spoilt is off by less", spoilt(0.2), spoilt(1.5), false},
		{"six in ten gain, four lose as much", func(i int, r float64) float64 {
			if i%10 < 6 {
				return 0.8 * r
			}
			return 1.2 * r
		}, same, false},
	} {
		if got := explainsMore(patterns(c.with), patterns(c.without)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
