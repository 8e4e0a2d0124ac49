//go:build linux

package mpi_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// pingPongJob is the job (jobVar) that does what testdata/pingpong.c does.
const pingPongJob = "ping-pong"

// rankOfPingPong is the main function of a rank; args are those of the C
// program.
func rankOfPingPong(args []string) {
	err := mpi.Run(func(c mpi.Communicator) error {
		numbers := make([]int, len(args))
		for i, arg := range args[1:] {
			var err error
			if numbers[i], err = strconv.Atoi(arg); err != nil {
				return err
			}
		}
		samples := make([]float64, numbers[0])
		for _, pair := range slices.Collect(slices.Chunk(numbers[1:len(args)-1], 2)) {
			size, iters := pair[0], pair[1]
			if err := c.(mpi.Timed).PingPong(samples, 1-c.Rank(), 1, size, iters, c.Rank() == 0); err != nil {
				return err
			}
			if c.Rank() == 0 {
				fmt.Print(size)
				for _, s := range samples {
					fmt.Printf(" %.1f", s/float64(iters)*1e9)
				}
				fmt.Println()
			}
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// BenchmarkTimedAgainstC launches, in turn, the C program with MPI_THREAD_FUNNELED
// (the level at which Go has to run), Timed, and the C program with
// MPI_THREAD_SINGLE. It prints, for each size, the median round trip of each,
// and the ratios to C: that of the best rounds, which noise of the machine
// touches least, and the median of those of the rounds.
func BenchmarkTimedAgainstC(b *testing.B) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		b.Skipf("no %s; make bench-mpi sets it", launcherVar)
	}
	program := filepath.Join(b.TempDir(), "pingpong")
	if out, err := exec.Command(os.Getenv("CC"), "-O2", "-o", program, "testdata/pingpong.c").CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", os.Getenv("CC"), err, out)
	}
	const samples, rounds = "31", 9
	plan := []string{
		"0", "1000", "1", "1000", "8", "1000", "64", "1000", "512", "1000", "4096", "300", "16384", "100",
		"65536", "30", "262144", "10", "1048576", "4", "4194304", "1",
	}
	variants := []struct {
		name string
		args []string
	}{
		{"C", []string{program, "funneled", samples}},
		{"Timed", []string{os.Args[0], "funneled", samples}},
		{"C at MPI_THREAD_SINGLE", []string{program, "single", samples}},
	}
	medians := make([]map[int][]float64, len(variants)) // by variant and size, one per round
	for v := range medians {
		medians[v] = map[int][]float64{}
	}
	for b.Loop() {
		for round := range rounds {
			for k := range variants {
				v := (k + round) % len(variants)
				args := slices.Concat(launcher[1:], []string{"-n", "2"}, variants[v].args, plan)
				cmd := exec.Command(launcher[0], args...)
				cmd.Env = append(os.Environ(), launcherVar+"=", jobVar+"="+pingPongJob)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					b.Fatalf("%s: %v", variants[v].name, err)
				}
				for line := range bytes.Lines(out) {
					var times []float64
					for _, field := range strings.Fields(string(line)) {
						t, err := strconv.ParseFloat(field, 64)
						if err != nil {
							b.Fatalf("%s prints %q", variants[v].name, line)
						}
						times = append(times, t)
					}
					size := int(times[0])
					medians[v][size] = append(medians[v][size], median(times[1:]))
				}
			}
		}
	}
	fmt.Printf("%9s %12s %12s %12s | Timed/C %6s %7s | C single/C\n", "bytes", "C ns", "Timed ns", "C single ns", "best", "median")
	worst := 0.0
	for i := 0; i < len(plan); i += 2 {
		size, _ := strconv.Atoi(plan[i])
		c, timed, single := medians[0][size], medians[1][size], medians[2][size]
		best := slices.Min(timed) / slices.Min(c)
		worst = math.Max(worst, best)
		fmt.Printf("%9d %12.0f %12.0f %12.0f | %14.2f %7.2f | %10.2f\n", size, median(c), median(timed), median(single),
			best, medianRatio(timed, c), slices.Min(single)/slices.Min(c))
	}
	b.ReportMetric(worst, "worst-Timed/C")
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

func medianRatio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}
