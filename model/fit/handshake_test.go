package fit

import (
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// TestHandshakeByHand: two links of 5 us and 1 GB/s. Messages above 64 KiB wait 20 us for consent, but for those in a stream.
// One of 512 KiB takes 10 + 20 + 524.3 us. Time and Predict say so, and links keep 1 GB/s.
func TestHandshakeByHand(t *testing.T) {
	c, err := gen.Parse("star:4 latency=5us rate=8Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const latency, wait, rate = 10e-6, 20e-6, 1e9
	alone := func(bytes int64) float64 {
		seconds := latency + float64(bytes)/rate
		if bytes > 64<<10 {
			seconds += wait
		}
		return seconds
	}
	var seen []Observation
	for src := range 4 {
		ts := []model.Transfer{{Src: src, Dst: (src + 1) % 4}}
		for _, bytes := range []int64{8, 64 << 10, 72 << 10, 1 << 20} {
			ts[0].Bytes = bytes
			seen = append(seen, Observation{Transfers: []model.Transfer{ts[0]}, Seconds: []float64{alone(bytes)}})
		}
		ts[0].Bytes = 2 << 20
		seen = append(seen, Observation{Transfers: ts, Seconds: []float64{latency + (2<<20)/rate}, Streamed: true})
	}
	fitted, err := Network(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyFlat}},
		seen, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	n := fitted.Network
	for _, bytes := range []int64{8, 4 << 10, 64 << 10, 512 << 10, 2 << 20} {
		got, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: 1, Bytes: bytes}})
		if err != nil {
			t.Fatal(err)
		}
		if time := n.Time(0, 1, bytes); !near(got[0], alone(bytes), 2e-3) || !near(time, alone(bytes), 2e-3) {
			t.Errorf("%d bytes take %g s by Predict, %g s by Time, want %g", bytes, got[0], time, alone(bytes))
		}
	}
	for _, a := range n.Graph().Arcs() {
		if !near(a.Bandwidth, rate, 2e-3) {
			t.Errorf("bandwidth of %d->%d = %g, want %g", a.From, a.To, a.Bandwidth, rate)
		}
	}
}

// TestHandshakeOfLongRoutes: a ring of 8 hosts on links of 5 us and 1 GB/s. A message above 64 KiB waits for two latencies over
// its own route, so that one to the host opposite waits four times as long as one to the next.
func TestHandshakeOfLongRoutes(t *testing.T) {
	c, err := gen.Parse("ring:8 latency=5us rate=8Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const link, rate = 5e-6, 1e9
	alone := func(links int, bytes int64) float64 {
		seconds := link*float64(links) + float64(bytes)/rate
		if bytes > 64<<10 {
			seconds += 2 * link * float64(links)
		}
		return seconds
	}
	var seen []Observation
	for src := range 8 {
		for links := 1; links <= 4; links++ {
			for _, bytes := range []int64{8, 64 << 10, 72 << 10, 1 << 20} {
				ts := []model.Transfer{{Src: src, Dst: (src + links) % 8, Bytes: bytes}}
				seen = append(seen, Observation{Transfers: ts, Seconds: []float64{alone(links, bytes)}})
			}
		}
	}
	fitted, err := Network(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyMesh}},
		seen, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	for links := 1; links <= 4; links++ {
		for _, bytes := range []int64{8, 64 << 10, 72 << 10, 128 << 10} {
			if got, want := fitted.Network.Time(0, links, bytes), alone(links, bytes); !near(got, want, 0.01) {
				t.Errorf("%d bytes over %d links take %g s, want %g", bytes, links, got, want)
			}
		}
	}
}
