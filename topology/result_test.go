package topology

import (
	"strings"
	"testing"
)

func TestNewResultRefusesMeasurementsOfOtherHosts(t *testing.T) {
	g, err := NewGraph(2, 0, nil, AppendLink(nil, 0, 1, 1e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	for _, measurements := range []int{0, 3, 9} {
		r, err := NewResult(g, make([]float64, measurements), 0, 0, nil)
		if err == nil || !strings.Contains(err.Error(), "want 4") {
			t.Errorf("NewResult of 2 hosts and %d measurements = %v, %v, want an error that asks for 4", measurements, r, err)
		}
	}
}

// TestNewFitWithoutLevels: measurements of a star that are all as its links say are explained, in the one level there is.
func TestNewFitWithoutLevels(t *testing.T) {
	g, err := NewGraph(2, 1, nil, AppendLink(AppendLink(nil, 2, 0, 1e-6, 1e9), 2, 1, 3e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	f := NewFit(g, nil, []float64{0, 4e-6, 4e-6, 0}, 0)
	if len(f.Levels) != 1 || !(f.Levels[0] < 1e-9) {
		t.Errorf("NewFit of no hierarchy = %+v, want one level, explained", f)
	}
}
