package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// BenchmarkPreloadShort tells what a program loses that only broadcasts, or reduces, 8 B to 1 KiB, between two ranks
// that have a core each: jobs with and without the library take turns, first the one and then the other, and what
// is told is the median of the ratios of their times, 1 for no loss, with its interval of 95 %. Four minutes for both libraries:
//
//	make bench-preload
func BenchmarkPreloadShort(b *testing.B) {
	program := compile(b, "short.c")
	b.Run("Broadcast", func(b *testing.B) { benchmarkShort(b, program) })
	b.Run("Allreduce", func(b *testing.B) { benchmarkShort(b, program, "allreduce") })
}

func benchmarkShort(b *testing.B, program ...string) {
	const pairs = 31
	env := []string{"TOPOCAST_NETWORK=" + racks(b), "TOPOCAST_REPORT="}
	for b.Loop() {
		ratios, without := make(map[int][]float64), make(map[int][]float64)
		for i := range pairs {
			var times [2]map[int]float64
			for k := range times {
				preload := (i + k) % 2
				status, out, stderr := job{ranks: 2, program: program, preload: preload == 1, env: env, bound: true}.run(b)
				if status != 0 {
					b.Fatalf("status %d\n%s%s", status, out, stderr)
				}
				times[preload] = medians(b, out)
			}
			for bytes, t := range times[0] {
				without[bytes] = append(without[bytes], t)
				ratios[bytes] = append(ratios[bytes], times[1][bytes]/t)
			}
		}
		var all []float64
		for bytes := 8; bytes <= 1024; bytes *= 2 {
			r := ratios[bytes]
			all = append(all, r...)
			slices.Sort(r)
			low, high, _ := stats.MedianInterval(r, 0.95)
			median := stats.MiddleMedian(r)
			fmt.Printf("%s, %s: %s without, with / without %.3f [%.3f, %.3f], %d pairs\n", os.Getenv(mpiVar), quantity.Bytes(bytes),
				quantity.Seconds(1e-9*stats.MiddleMedian(without[bytes])), median, low, high, len(r))
			b.ReportMetric(median, fmt.Sprintf("with/without-%dB", bytes))
		}
		slices.Sort(all)
		b.ReportMetric(stats.MiddleMedian(all), "with/without")
	}
}

// medians are times in ns by bytes.
func medians(b *testing.B, out string) map[int]float64 {
	b.Helper()
	found := make(map[int]float64)
	for line := range strings.Lines(out) {
		var bytes int
		var t float64
		if _, err := fmt.Sscan(line, &bytes, &t); err != nil {
			b.Fatalf("%q: %v", line, err)
		}
		found[bytes] = t
	}
	return found
}
