package draw_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology/draw"
)

// Positions are finite, their middle is the origin, and the same on every run.
func TestLayoutIsFiniteAndTheSame(t *testing.T) {
	for _, spec := range []string{"star:1", "star:5", "tree:2x3", "tree:[2,5,5]x8", "ring:6", "torus:4x4 hosts=2", "fattree:4", "line:2"} {
		c, _ := topotest.Generate(t, spec)
		at, err := draw.Layout(c.Graph, nil)
		if err != nil || len(at) != c.Graph.Vertices() {
			t.Fatalf("Layout(%s) = %d positions, %v", spec, len(at), err)
		}
		again, _ := draw.Layout(c.Graph, nil)
		for v, x := range at {
			if x != again[v] {
				t.Errorf("Layout(%s): vertex %d at %v, and then at %v", spec, v, x, again[v])
			}
			for axis := range 3 {
				if math.IsNaN(x[axis]) || math.IsInf(x[axis], 0) {
					t.Errorf("Layout(%s): vertex %d at %v", spec, v, x)
				}
			}
		}
	}
}
