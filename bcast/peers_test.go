package bcast_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/smpi"
	"github.com/topocast/topocast/model"
)

// onPlatform is the simulated machine of a recorded cell. Its network was discovered on the ranks in block
// order, and serves these as their View.
func onPlatform(t testing.TB, c *smpi.Cell, dir string, known map[string]*model.Network) *simulated {
	t.Helper()
	m := &simulated{settings: smpi.Settings(), message: make([]byte, c.Bytes)}
	var err error
	if m.graph, err = smpi.Platform(c.PlatformFile(dir)); err != nil {
		t.Fatal(err)
	}
	if m.placement, err = smpi.Hosts(c.HostFile(dir)); err != nil {
		t.Fatal(err)
	}
	if known[c.Platform] == nil {
		block := *c
		block.Placement = "block"
		placement, err := smpi.Hosts(block.HostFile(dir))
		if err != nil {
			t.Fatal(err)
		}
		known[c.Platform] = discover(t, m.graph, placement, m.settings)
	}
	where := make([]model.Location, len(m.placement))
	for i, host := range m.placement {
		where[i] = model.Location{Host: m.graph.Name(host), Core: -1}
	}
	if m.network, err = known[c.Platform].View(where); err != nil {
		t.Fatal(err)
	}
	return m
}

// replayed is the time in s that SMPI takes for a plan.
func replayed(t testing.TB, c *smpi.Cell, dir string, plan predict.Plan, p schedule.Problem) float64 {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	file, err := os.Create(trace)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(smpi.WriteTraces(file, plan.Algorithm, p, !plan.Blocking), file.Close()); err != nil {
		t.Fatal(err)
	}
	seconds, err := smpi.Replay{Ranks: p.Ranks, Platform: c.PlatformFile(dir), Hosts: c.HostFile(dir)}.Seconds(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}

// usual is the shortest segment in bytes that is tried.
const usual = 4 << 10

// segments is the largest number of them that is tried.
const segments = 1024

// A broadcast of long bytes may take so many times as long as one message to the farthest rank.
const long, farther = 8 << 20, 2.5

// The plans for the recorded cells, 256 ranks on 64 hosts, timed on simnet and replayed by SMPI, against what
// broadcasts of SMPI have taken: the best library's selector in block order, and on the same ranks. A cell is lost
// if ours takes longer than either, or at 8 MiB more than 2.5 times as long as one message.
func BenchmarkPeerSMPI(b *testing.B) {
	cells, dir, err := smpi.Recorded()
	if err := errors.Join(err, smpi.Available()); err != nil || len(cells) == 0 {
		b.Skipf("SMPI and its recorded times are not there: %v", err)
	}
	block := map[string]float64{}
	for _, c := range cells {
		if c.Placement == "block" {
			block[fmt.Sprint(c.Platform, c.Bytes)] = c.Best
		}
	}
	for _, platform := range []string{"tworack", "tworack1g", "tree3", "fattree"} {
		b.Run(platform, func(b *testing.B) {
			for b.Loop() {
				known := map[string]*model.Network{}
				lost, worst, gain, n := 0, 0.0, 0.0, 0
				for _, c := range cells {
					if c.Platform != platform {
						continue
					}
					start := time.Now()
					m := onPlatform(b, &c, dir, known)
					plan := m.tuned(b, m.contenders(c.Bytes), c.Bytes, max(usual, c.Bytes/segments))
					us := 1e6 * replayed(b, &c, dir, plan, m.problem(c.Bytes, plan.Segment))
					inBlock := block[fmt.Sprint(c.Platform, c.Bytes)]
					bar, mark := min(c.Best, inBlock), ""
					if c.Bytes == long && c.P2P > 0 {
						bar = min(bar, farther*c.P2P)
					}
					if us > bar {
						mark = " LOST"
						lost++
					}
					worst = max(worst, math.Abs(1e6*plan.Measured/us-1))
					gain += math.Log(c.Best / us)
					n++
					b.Logf("%-9s %-5s %7s: %8.0f us, simnet %8.0f; library %8.0f, in block order %8.0f, one message %5.0f, bound %5.0f; %s (%v)%s",
						c.Platform, c.Placement, quantity.Bytes(c.Bytes), us, 1e6*plan.Measured, c.Best, inBlock, c.P2P, c.Bound,
						plan.How(), time.Since(start).Round(time.Second), mark)
				}
				b.ReportMetric(float64(lost), "lost")
				b.ReportMetric(100*worst, "%simnet-off")
				b.ReportMetric(math.Exp(gain/float64(n)), "gain-gm")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
