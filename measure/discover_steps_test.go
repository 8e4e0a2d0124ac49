package measure_test

import (
	"slices"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestDiscoverFindsWhereReceiversAreAsked: Discover's sizes are 8 B, 8 KiB, 64 KiB and 1 MiB. Where ranks ask before longer messages
// than some limit more sizes are read, until two of them are on either side of the limit
// and the longer one at most an eighth of the way to its double away, with noise as without; a message of the longer one takes
// two journeys more. Where they ask before none of up to 1 MiB nothing more is read.
func TestDiscoverFindsWhereReceiversAreAsked(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	for _, noise := range []float64{0, 0.02} {
		for _, limit := range []int64{1 << 10, 4<<10 - 1, 10000, 40 << 10, 64<<10 - 1, 200 << 10, 600 << 10, 1 << 20} {
			world := &simnet.Settings{EagerLimit: int(limit), Noise: simnet.Noise{Sigma: noise, Outliers: noise / 2}, Seed: 1}
			d := discovered(t, "tree:2x4 latency=20us,10us rate=10Gbps", world, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Patterns: -1})
			if limit == 1<<20 {
				if noise == 0 && len(d.Steps) > 0 {
					t.Errorf("no message asks: %d more measurements", len(d.Steps))
				}
				continue
			}
			readings := 0
			for _, r := range d.Steps {
				readings += len(r.Readings())
			}
			if most := 2 * 2 * 3 * 13 * 2; readings > most { // levels, directions, pairs, sizes, repetitions where readings disagree
				t.Errorf("noise %g, limit %d: %d more measurements, want %d at most", noise, limit, readings, most)
			}
			for i, l := range d.Network.Levels() {
				k, _ := slices.BinarySearch(l.Sizes, limit+1)
				below, above := l.Sizes[k-1], l.Sizes[k]
				if above-below > (above+7)/8 {
					t.Errorf("noise %g, level %d: asked above %d: sizes %v", noise, i, limit, l.Sizes)
				}
				wait, journeys := l.Time(above)-l.Time(below)-float64(above-below)/1.25e9, 2*l.Time(8)
				if wait < 0.8*journeys || wait > 1.2*journeys {
					t.Errorf("noise %g, level %d: asked above %d: the step to %d bytes is %g s, want %g", noise, i, limit, above, wait, journeys)
				}
			}
		}
	}
}
