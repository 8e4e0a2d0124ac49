package limits

import "testing"

func TestFill(t *testing.T) {
	for _, c := range []struct {
		name        string
		value, want int
		refused     string
	}{
		{"0 is the default", 0, 20, ""},
		{"the least", 1, 1, ""},
		{"the most", 30, 30, ""},
		{"too little", -1, -1, "p: Settings.Samples: -1: want in [1, 30]"},
		{"too much", 31, 31, "p: Settings.Samples: 31: want in [1, 30]"},
	} {
		refused := ""
		if err := Fill("p: Settings", Of("Samples", &c.value, 20, 1, 30)); err != nil {
			refused = err.Error()
		}
		if c.value != c.want || refused != c.refused {
			t.Errorf("%s: Fill = %d, %q, want %d, %q", c.name, c.value, refused, c.want, c.refused)
		}
	}
}
