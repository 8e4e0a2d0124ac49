//go:build linux

package labtest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// BenchmarkPlain prints how near to the bound a program of C comes on the clusters of the figures, which knows the wiring and
// tries chains and segments (testdata/plain.c), and ours beside it. What both leave to the bound is that of the emulated cluster: the
// one core that its ranks share, and the library. Ranks in block order, root 0. Some 10 minutes on a quiet machine:
//
//	TOPOCAST_REQUIRE_LAB=1 TOPOCAST_LAB_DIR=/tmp/figures go test ./internal/netlab/labtest -run - -bench Plain -benchtime 1x -timeout 1h
func BenchmarkPlain(b *testing.B) {
	s, programsOf := castPrograms(b)
	for _, cluster := range castClusters(environment(b, castSlow, 1)) {
		b.Run(cluster.name, func(b *testing.B) {
			l := programsOf.up(b, s, cluster.name, cluster.spec)
			for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
				b.Run(library, func(b *testing.B) {
					plain := programs.Build(b, "plain-"+library, "../../../.ci/with-mpi", library, "sh", "-c", `exec $CC -O2 -Wall "$@"`, "-", "testdata/plain.c")
					for b.Loop() {
						job := newCastJob(b, l, []int{8, 1 << 10, 64 << 10, 256 << 10, 1 << 20})
						job.Network, job.Roots = l.network(b, library), []int{0}
						best := bestPlain(b, l.run(b, library, "block", 10*time.Minute, nil, append([]string{plain, "11"}, words(job.Sizes)...)...))
						for _, c := range l.casts(b, library, "block", "", nil, job) {
							p, ours := best[c.Bytes], stats.MiddleMedian(c.Ours)
							fmt.Printf("%s: plain C %s (%.2f of the bound) by %d chains in segments of %s, ours %s (%.2f), ours / plain %.2f: %s\n", c.name(),
								quantity.Seconds(p.seconds), p.seconds/c.Bound, p.chains, quantity.Bytes(p.segment),
								quantity.Seconds(ours), ours/c.Bound, ours/p.seconds, c.Plan)
						}
					}
				})
			}
		})
	}
}

func words(numbers []int) (list []string) {
	for _, n := range numbers {
		list = append(list, fmt.Sprint(n))
	}
	return list
}

// A plainWay is what the program of C did, and how long it took in the median.
type plainWay struct {
	chains, segment int
	seconds         float64
}

// bestPlain reads what the program has printed: the fastest way of each size.
func bestPlain(tb testing.TB, out string) map[int]plainWay {
	tb.Helper()
	best := make(map[int]plainWay)
	for line := range strings.Lines(out) {
		var bytes int
		var w plainWay
		if _, err := fmt.Sscanf(line, "plain %d %d %d %g", &bytes, &w.chains, &w.segment, &w.seconds); err != nil {
			continue // of the launcher
		}
		if old, ok := best[bytes]; !ok || w.seconds < old.seconds {
			best[bytes] = w
		}
	}
	if len(best) == 0 {
		tb.Fatalf("nothing was timed:\n%s", out)
	}
	return best
}

// TestBestPlain: lines of the launcher are passed over, and the faster way is taken.
func TestBestPlain(t *testing.T) {
	best := bestPlain(t, "mpirun: hello\nplain 8 1 8 0.002\nplain 8 7 8 0.001\nplain 1024 1 1024 3\n")
	if len(best) != 2 || best[8] != (plainWay{7, 8, 0.001}) || math.Abs(best[1024].seconds-3) > 0 {
		t.Errorf("bestPlain = %v", best)
	}
}
