//go:build linux

package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/stats"
)

// BenchmarkPreload prints what examples/preload gains in a program that knows nothing of us: the QR factorisation
// of ScaLAPACK's own tests, xdqr, of Debian's package scalapack-mpi-test, on two racks of four hosts. Its eight
// ranks are one column of processes, to which it broadcasts products of up to 256 KiB, one per panel.
// Each job factorises the same matrix several times and prints the time of each; of these the median counts. Jobs without
// and with the library take turns. Ranks take hosts of the racks in turn or at random.
//
//	make preload && .ci/install-preload
//	TOPOCAST_REQUIRE_LAB=1 go test ./internal/netlab/labtest -run - -bench Preload -benchtime 1x -timeout 30m
//
// Some four minutes, of which two measure the network, unless TOPOCAST_LAB_DIR keeps it (BenchmarkBroadcast).
func BenchmarkPreload(b *testing.B) {
	pairs := int(environment(b, castRounds, 9))
	s, programs := castPrograms(b)
	cluster := castClusters(1)[0]
	l := programs.up(b, s, cluster.name, cluster.spec)
	rows := []string{"| MPI | ranks | without | with | time saved | pairs |", "|---|---|---|---|---|---|"}
	for _, library := range []string{netlab.OpenMPI, netlab.MPICH} {
		job := newQR(b, library, l.network(b, library))
		for _, order := range castOrders()[1:] {
			b.Run(library+"/"+order, func(b *testing.B) {
				for b.Loop() {
					var without, with, ratios []float64
					for i := range pairs {
						for k := range 2 {
							if preload := (i+k)%2 == 0; preload {
								with = append(with, job.run(b, l, order, true))
							} else {
								without = append(without, job.run(b, l, order, false))
							}
						}
						ratios = append(ratios, with[i]/without[i])
					}
					slices.Sort(ratios)
					low, high, _ := stats.MedianInterval(ratios, 0.95)
					median := stats.MiddleMedian(ratios)
					b.ReportMetric(median, "with/without")
					rows = append(rows, fmt.Sprintf("| %s | %s | %.2f s | %.2f s | %.0f %% [%.0f, %.0f] | %d |", library, order,
						stats.MiddleMedian(without), stats.MiddleMedian(with), 100*(1-median), 100*(1-high), 100*(1-low), pairs))
				}
			})
		}
	}
	fmt.Println(strings.Join(rows, "\n"))
}

// A qr is xdqr with an input of ours.
type qr struct {
	library, program, dir, preload, network string
}

const (
	qrSize  = 512 // rows and columns
	qrPanel = 64
	qrTimes = 3 // factorisations per job
)

func newQR(b *testing.B, library, network string) *qr {
	b.Helper()
	programs, err := filepath.Glob("/usr/lib/*/scalapack/" + library + "-tests/xdqr")
	if err != nil || len(programs) != 1 {
		b.Fatalf("xdqr is not there (%v, %v): .ci/install-preload installs it", programs, err)
	}
	preload, err := filepath.Abs("../../../libtopocast.so")
	if err == nil {
		_, err = os.Stat(preload)
	}
	if err != nil {
		b.Fatalf("%v: make preload makes it", err)
	}
	q := &qr{library, programs[0], b.TempDir(), preload, network}
	sizes := strings.Repeat(fmt.Sprint(qrSize, " "), qrTimes)
	// What is read of it, line by line: sizes and shapes of matrices and blocks, one grid of 8 x 1.
	input := fmt.Sprintf(`'QR of ScaLAPACK'
'MPI'
'QR.out'  output file
6  device out
1  number of factorizations
'QR'  factorization
%d  number of problems sizes
%s  values of M
%s  values of N
1  number of blocking sizes
%d  values of MB
%d  values of NB
1  number of process grids
8  values of P
1  values of Q
3.0  threshold
`, qrTimes, sizes, sizes, qrPanel, qrPanel)
	if err := os.WriteFile(filepath.Join(q.dir, "QR.dat"), []byte(input), 0o644); err != nil {
		b.Fatal(err)
	}
	return q
}

// qrLine is what xdqr prints of a factorisation: M, N, MB, NB, P, Q, its time in s, and that its residual is small.
var qrLine = regexp.MustCompile(`(?m)^WALL(?: +\d+){6} +([0-9.]+) .*PASSED`)

// run runs a job and returns the median time in s of its factorisations.
func (q *qr) run(b *testing.B, l *castLab, order string, preload bool) float64 {
	b.Helper()
	script, library := `cd "$1" && exec "$2"`, ""
	if preload {
		// What the lab loads into ranks stays.
		script = `cd "$1" && export TOPOCAST_NETWORK="$3" TOPOCAST_CHOICE=model LD_PRELOAD="$LD_PRELOAD:$4" && exec "$2"`
		library = q.preload
	}
	out := l.run(b, q.library, order, time.Minute, nil, "/bin/sh", "-c", script, "sh", q.dir, q.program, q.network, library)
	var times []float64
	for _, found := range qrLine.FindAllStringSubmatch(out, -1) {
		t, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, t)
	}
	if len(times) != qrTimes {
		b.Fatalf("%d factorisations passed, want %d:\n%s", len(times), qrTimes, out)
	}
	if preload && !strings.Contains(out, "topology-aware") {
		b.Fatalf("no broadcast went along the network:\n%s", out)
	}
	return stats.MiddleMedian(times)
}
