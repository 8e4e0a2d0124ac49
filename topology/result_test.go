package topology

import (
	"strings"
	"testing"
)

func TestNewResultRefusesReadingsOfOtherHosts(t *testing.T) {
	g, err := NewGraph(2, 0, nil, AppendLink(nil, 0, 1, 1e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	for _, readings := range []int{0, 3, 9} {
		r, err := NewResult(g, make([]float64, readings), 0, 0, nil)
		if err == nil || !strings.Contains(err.Error(), "want 4") {
			t.Errorf("NewResult of 2 hosts and %d readings = %v, %v, want an error that asks for 4", readings, r, err)
		}
	}
}
