package draw_test

import (
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology/draw"
)

// Wanted: 1,024 vertices within 1 s, 5,000 within 15 s, on one core.
func BenchmarkLayout(b *testing.B) {
	for _, spec := range []string{"tree:4x8x32", "torus:8x8x16", "mesh:32x32", "fattree:32,32;1,16", "dragonfly:4,8,4", "tree:8x16x39", "torus:17x17x17", "fattree:128,36;1,18"} {
		c, err := gen.Parse(spec)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				draw.Layout(c.Graph)
			}
			b.ReportMetric(float64(c.Graph.Vertices()), "vertices")
		})
	}
}
