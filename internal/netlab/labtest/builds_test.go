package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// BenchmarkBuilds prints what broadcasts take in the program that is linked with MPI and in the one that opens it, in jobs of the
// same network in turn, the library's own and the one that is predicted to be best, so that both
// builds do the same. Less than 3 % between them is wanted. Some 5 minutes on a quiet machine:
//
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench Builds -benchtime 1x -timeout 30m
func BenchmarkBuilds(b *testing.B) {
	const pairs = 6 // of jobs: the fewest that give the median of their ratios an interval of 95 %
	s, linked := castPrograms(b)
	linked = linked.up(b, s, "racks", castClusters(1)[0].spec)
	free := *linked
	free.labtest = maps.Clone(linked.labtest)
	builds := []*castLab{linked, &free}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		b.Run(library, func(b *testing.B) {
			free.labtest[library] = opened(b, "../labtest")
			job := &castJob{
				Network: linked.network(b, library), Roots: []int{0}, Sizes: []int{8, 64 << 10, 1 << 20},
				Rounds: 15, Budget: 5, ModelOnly: true,
			}
			type cell struct {
				bytes int
				ours  bool
			}
			times := []map[cell][]float64{{}, {}} // medians of jobs, by build
			for b.Loop() {
				for pair := range pairs {
					for turn := range builds {
						build := (pair + turn) % 2
						for _, c := range builds[build].casts(b, library, "block", "", nil, job) {
							if c.Wrong > 0 {
								b.Fatalf("%s: %d broadcasts were wrong", c.name(), c.Wrong)
							}
							native, ours := cell{c.Bytes, false}, cell{c.Bytes, true}
							times[build][native] = append(times[build][native], stats.MiddleMedian(c.Native))
							times[build][ours] = append(times[build][ours], stats.MiddleMedian(c.Ours))
						}
					}
				}
			}
			for _, size := range job.Sizes {
				for _, ours := range []bool{false, true} {
					c := cell{size, ours}
					ratios := make([]float64, len(times[0][c]))
					for i := range ratios {
						ratios[i] = times[1][c][i] / times[0][c][i]
					}
					slices.Sort(ratios)
					low, high, _ := stats.MedianInterval(ratios, 0.95)
					name := "native"
					if ours {
						name = "ours"
					}
					fmt.Printf("%-8s %-8s %-6s linked %s, opened %s, opened / linked %.3f [%.3f, %.3f]: %s\n", library, quantity.Bytes(size), name,
						quantity.Seconds(stats.MiddleMedian(slices.Clone(times[0][c]))), quantity.Seconds(stats.MiddleMedian(slices.Clone(times[1][c]))),
						stats.MiddleMedian(ratios), low, high, verdictOfBuilds(low, high))
				}
			}
		})
	}
}

// verdictOfBuilds tells whether builds are within 3 % of each other, by the interval of their ratio.
func verdictOfBuilds(low, high float64) string {
	const wanted = 0.03
	switch {
	case math.IsNaN(low) || low < 1-wanted && high > 1+wanted:
		return "cannot tell"
	case low > 1+wanted:
		return "slower by more than 3 %"
	case high < 1-wanted:
		return "faster by more than 3 %"
	case low >= 1-wanted && high <= 1+wanted:
		return "within 3 %"
	}
	return "about 3 %"
}
