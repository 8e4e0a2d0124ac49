package measure_test

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestDiscoverFindsWhereReceiversAreAsked: Discover's sizes are 8 B, 8 KiB, 64 KiB and 1 MiB. Where ranks ask before longer messages
// than some limit more sizes are read, until two of them are on either side of the limit
// and a 128th apart at most, with noise as without; one byte if the limit is a power of two; a message of the longer one takes
// two latencies more. Where they ask before none of up to 1 MiB nothing more is read.
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
			measurements := 0
			for _, r := range d.Steps {
				measurements += len(r.Measurements())
			}
			if most := 2 * 2 * 3 * 13 * 2; measurements > most { // levels, directions, pairs, sizes, repetitions where measurements disagree
				t.Errorf("noise %g, limit %d: %d more measurements, want %d at most", noise, limit, measurements, most)
			}
			for i, l := range d.Network.Levels() {
				k, _ := slices.BinarySearch(l.Sizes, limit+1)
				below, above := l.Sizes[k-1], l.Sizes[k]
				if apart := above - below; apart > max(1, limit/128) || limit&(limit-1) == 0 && apart > 1 {
					t.Errorf("noise %g, level %d: asked above %d: sizes %v", noise, i, limit, l.Sizes)
				}
				wait, latencies := l.Time(above)-l.Time(below)-float64(above-below)/1.25e9, 2*l.Time(8)
				if wait < 0.8*latencies || wait > 1.2*latencies {
					t.Errorf("noise %g, level %d: asked above %d: the step to %d bytes is %g s, want %g", noise, i, limit, above, wait, latencies)
				}
			}
		}
	}
}

// TestStreamsFillFastLinks: two messages of a stream are under way at a time. They are so long that while one flows the other
// is asked for: 256 KiB last 21 us at 12.5 GB/s, and request, consent and latency 30 us.
func TestStreamsFillFastLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	d := discovered(t, "star:5 latency=5us rate=100Gbps", &simnet.Settings{}, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Patterns: -1})
	for _, a := range d.Network.Graph().Arcs() {
		if math.Abs(a.Bandwidth/12.5e9-1) > 0.02 {
			t.Errorf("%d -> %d: %g B/s, want 12.5e9", a.From, a.To, a.Bandwidth)
		}
	}
}

// TestStepsOfMeshes: a neighbour's message waits for two of its own latencies, which are shorter than those of the typical pair of
// a mesh. The step is found all the same, at the limit.
func TestStepsOfMeshes(t *testing.T) {
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	d := discovered(t, "mesh:6x5 latency=10us rate=25Gbps", &simnet.Settings{EagerLimit: 64 << 10}, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Patterns: -1})
	if sizes := d.Network.Levels()[0].Sizes; !slices.Contains(sizes, 64<<10+1) {
		t.Errorf("sizes %v, want 65537 among them", sizes)
	}
}
