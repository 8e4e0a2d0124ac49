//go:build linux

package labtest

import (
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// timesLab is four racks of four hosts: round trips of 0.8 and 2 ms, 100 Mbit/s all the way.
const timesLab = `"spec":"tree:4x4 latency=300us,200us rate=100Mbps,100Mbps"`

const timesRate = 12.5e6 // B/s

// longGap is the size in bytes from which PLogP's gaps tell of the rate.
const longGap = 64 << 10

// BenchmarkTimes reports how far latencies of all pairs and PLogP parameters are from the lab's file, median
// and worst, in percent, and whether all pairs and few pairs find its racks (1: yes), under both libraries. A
// minute each on a quiet machine:
//
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench Times -benchtime 1x
func BenchmarkTimes(b *testing.B) {
	l := labUp(b, labSettings(b), "times", timesLab)
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		b.Run(library, func(b *testing.B) {
			for b.Loop() {
				reportTimes(b, l, library)
			}
		})
	}
}

// reportTimes measures a lab and reports what is off.
func reportTimes(b *testing.B, l *netlab.Lab, library string) {
	place, err := scenario.Placement("block", l.Cluster.Graph.Hosts(), l.Cluster.Graph, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	var r timesReport
	fabric := runJob(b, l, &netlab.Job{
		MPI: library, Place: place,
		Program: program(b, "-times", "-report", filepath.Join(b.TempDir(), "report.json")),
	}, jobLimit, &r)
	hosts := l.Cluster.Graph.Hosts()
	truth := make([][]float64, hosts)
	paths := topology.NewPaths(l.Cluster.Graph, nil)
	for a := range truth {
		truth[a] = make([]float64, l.Cluster.Graph.Vertices())
		paths.From(a, truth[a])
	}
	var endpoint, latency, long, gap []float64
	for x := range hosts {
		for y := range hosts {
			if x != y {
				endpoint = append(endpoint, r.Latency[x][y]-truth[x][y])
			}
		}
	}
	cost := stats.Median(slices.Clone(endpoint))
	for x := range hosts {
		for y := range hosts {
			if x != y {
				latency = append(latency, math.Abs((r.Latency[x][y]-cost)/truth[x][y]-1))
			}
		}
	}
	ratios := make(map[int64][]float64) // gap over truth
	for _, p := range r.Params {
		// Eq. 3.2 leaves what the two kernels add in the latency but for the gap, which they work through at once.
		long = append(long, math.Abs((p.Latency+p.Gap[0]-cost)/truth[p.Src][p.Dst]-1))
		for i, size := range p.Sizes {
			if size >= longGap {
				ratio := p.Gap[i] * timesRate / float64(size)
				gap = append(gap, math.Abs(ratio-1))
				ratios[size] = append(ratios[size], ratio)
			}
		}
	}
	report := func(name string, errs []float64) {
		slices.Sort(errs)
		b.ReportMetric(100*errs[len(errs)/2], name+"-median-%")
		b.ReportMetric(100*errs[len(errs)-1], name+"-worst-%")
	}
	b.Logf("endpoint cost %.1f us; %d of %d pairs for the groups; %.1f s; %s; %v", cost*1e6, r.FewPairs, hosts*(hosts-1)/2, r.Seconds, fabric, r.Warnings)
	for _, size := range slices.Sorted(maps.Keys(ratios)) {
		x := ratios[size]
		b.Logf("g of %s over truth: median %.3f, from %.3f to %.3f", quantity.Bytes(size), stats.MiddleMedian(x), slices.Min(x), slices.Max(x))
	}
	report("latency", latency)
	report("L", long)
	report("g", gap)
	racks := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}
	found := func(name string, groups [][]int) {
		right := 0.0
		if reflect.DeepEqual(groups, racks) {
			right = 1
		}
		b.ReportMetric(right, name)
	}
	found("all-pairs", r.All)
	found("few-pairs", r.Few)
}
