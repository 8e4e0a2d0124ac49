//go:build linux

package labtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// BenchmarkPingPong verifies a lab by the ping-pongs of the libraries, twelve ranks on one core of
// which ten wait: ranks that sleep while they wait, and ranks that yield. It prints, by
// size, what the libraries add to the way that the cluster file promises (the least time of each
// pair, less its truth, the median of all pairs, and by how much the pairs differ), and how
// much longer the median of a pair's times is than its least. Some 15 s for each kind:
//
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench PingPong -benchtime 1x
func BenchmarkPingPong(b *testing.B) {
	s, programs := castPrograms(b)
	cluster := castClusters(1)[2]
	l := programs.up(b, s, cluster.name, cluster.spec)
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		for _, yield := range []bool{false, true} {
			name := library + "/sleep"
			if yield {
				name = library + "/yield"
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					l.yield = yield
					file := filepath.Join(b.TempDir(), "report.json")
					l.run(b, library, "block", time.Minute, nil, program(b, "-pingpong", "-report", file)...)
					text, err := os.ReadFile(file)
					if err != nil {
						b.Fatal(err)
					}
					var all []pingPong
					if err := json.Unmarshal(text, &all); err != nil {
						b.Fatal(err)
					}
					judgePingPong(b, l.lab.Cluster, all)
				}
			})
		}
	}
}

// judgePingPong prints how far the times are from the truth of the cluster.
func judgePingPong(b *testing.B, c *netlab.Cluster, all []pingPong) {
	routes, err := topology.NewRoutes(c.Graph, c.Routing)
	if err != nil {
		b.Fatal(err)
	}
	added, over := make(map[int][]float64), make(map[int][]float64)
	for _, p := range all {
		path, err := routes.AppendRoute(nil, 0, p.Peer)
		if err != nil {
			b.Fatal(err)
		}
		truth, slowest := 0.0, c.Graph.Arcs()[path[0]].Bandwidth
		for _, i := range path {
			truth += c.Graph.Arcs()[i].Latency
			slowest = min(slowest, c.Graph.Arcs()[i].Bandwidth)
		}
		truth += float64(p.Bytes) / slowest
		least := slices.Min(p.Seconds)
		added[p.Bytes] = append(added[p.Bytes], least-truth)
		over[p.Bytes] = append(over[p.Bytes], stats.MiddleMedian(p.Seconds)/least)
	}
	for _, size := range []int{8, 64 << 10, 1 << 20} {
		a := added[size]
		fmt.Printf("%s %s: adds %s, from %s to %s; median / least %.3f, at most %.3f\n", b.Name(), quantity.Bytes(size),
			quantity.Seconds(stats.MiddleMedian(a)), quantity.Seconds(slices.Min(a)), quantity.Seconds(slices.Max(a)),
			stats.MiddleMedian(over[size]), slices.Max(over[size]))
	}
	b.ReportMetric(1e6*stats.MiddleMedian(added[8]), "added-us")
	b.ReportMetric(stats.MiddleMedian(over[64<<10]), "median/least")
}
