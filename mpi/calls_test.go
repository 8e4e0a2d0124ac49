//go:build linux

package mpi_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// callsJob is the job (jobVar) that does what testdata/calls.c does, and the same
// in other ways.
const callsJob = "calls"

// rankOfCalls prints the median time of each way in ns.
func rankOfCalls() {
	if err := mpi.Run(printCalls); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func printCalls(world mpi.Communicator) error {
	const samples, short, series, message, batch = 31, 300, 10000, 8, 50
	const long, longIters = 1 << 20, 60
	c := world.(*mpi.Comm)
	own, err := c.Split(c.Rank(), 0)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	alone := own.(*mpi.Comm)
	peer, first := 1-c.Rank(), c.Rank() == 0
	buf := make([]byte, message)
	there, back := mpi.Step{Kind: mpi.StepSend, Peer: peer, Length: message}, mpi.Step{Kind: mpi.StepRecv, Peer: peer, Length: message}
	if !first {
		there, back = back, there
	}
	one := []mpi.Step{there, back}
	var many []mpi.Step
	for range batch {
		many = append(many, one...)
	}
	started := []mpi.Step{there, back, {Kind: mpi.StepWait}} // the transfers of a round trip, started
	started[0].Kind, started[1].Kind = there.Kind+mpi.StepStartSend, back.Kind+mpi.StepStartSend
	if !first {
		started = []mpi.Step{started[0], {Kind: mpi.StepWait}, started[1], {Kind: mpi.StepWait}}
	}
	perform := func(steps []mpi.Step) error {
		_, err := c.Perform(buf, steps, 1)
		return err
	}
	set := c.NewRequests().(interface {
		mpi.Requests
		mpi.Ibcaster
	})
	sample := make([]float64, 1)
	roundTrip := func(buf []byte) func(int) error {
		return func(int) error {
			if first {
				return cmp.Or(c.Send(buf, peer, 1), c.Recv(buf, peer, 1))
			}
			return cmp.Or(c.Recv(buf, peer, 1), c.Send(buf, peer, 1))
		}
	}
	ways := []struct {
		name  string
		iters int
		per   int // of what the name says, in a call
		call  func(i int) error
	}{
		{"Bcast of one rank", short, 1, func(int) error { return alone.Bcast(buf, 0) }},
		{"Bcast", short, 1, func(int) error { return c.Bcast(buf, 0) }},
		{"Bcast by turns", short, 1, func(i int) error { return c.Bcast(buf, i%2) }},
		{"round trip", series, 1, roundTrip(buf)},
		{"round trip, Perform of it", short, 1, func(int) error { return perform(one) }},
		{"round trip, Perform of 50", short, batch, func(int) error { return perform(many) }},
		{"round trip, Perform of started ones", short, 1, func(int) error { return perform(started) }},
		{"round trip, Timed", series, batch, func(int) error { return c.PingPong(sample, peer, 1, message, batch, first) }},
		{"round trip of 1 MiB", longIters, 1, roundTrip(make([]byte, long))},
		// Last: once Open MPI has broadcast so, it looks for more of it in every later call.
		{"Ibcast and WaitAll by turns", short, 1, func(i int) error {
			return cmp.Or(set.Ibcast(buf, i%2), set.WaitAll())
		}},
	}
	times := make([][]float64, len(ways))
	for w, way := range ways {
		for range samples {
			start := time.Now()
			for i := range way.iters / way.per {
				if err := way.call(i); err != nil {
					return err
				}
			}
			times[w] = append(times[w], float64(time.Since(start).Nanoseconds())/float64(way.iters))
		}
	}
	for w, way := range ways {
		if first {
			fmt.Printf("%s\t%.1f\n", way.name, median(times[w]))
		}
	}
	return nil
}

// BenchmarkCalls launches, in turn, a C program and this one, and prints what operations take in each: the median of
// the rounds and the best of them, in ns, and how much longer they take than in C.
func BenchmarkCalls(b *testing.B) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		b.Skipf("no %s; make bench-mpi sets it", launcherVar)
	}
	programs := []string{filepath.Join(b.TempDir(), "calls"), os.Args[0]}
	if out, err := exec.Command(os.Getenv("CC"), "-O2", "-o", programs[0], "testdata/calls.c").CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", os.Getenv("CC"), err, out)
	}
	const rounds = 7
	var names []string
	times := []map[string][]float64{{}, {}}
	for b.Loop() {
		for range rounds {
			for p, program := range programs {
				cmd := exec.Command(launcher[0], append(launcher[1:len(launcher):len(launcher)], "-n", "2", program)...)
				cmd.Env = append(os.Environ(), launcherVar+"=", jobVar+"="+callsJob)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					b.Fatalf("%s: %v", program, err)
				}
				for line := range bytes.Lines(out) {
					name, text, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
					t, err := strconv.ParseFloat(text, 64)
					if err != nil {
						b.Fatalf("%s prints %q", program, line)
					}
					if times[p][name] == nil && p == 1 {
						names = append(names, name)
					}
					times[p][name] = append(times[p][name], t)
				}
			}
		}
	}
	fmt.Printf("%-32s %17s %17s | %13s\n", "ns: median, best", "C", "Go", "Go - C")
	for _, name := range names {
		plain, _, _ := strings.Cut(name, ",")
		plain = strings.Replace(plain, "Ibcast and WaitAll", "Bcast", 1)
		c, ours := times[0][plain], times[1][name]
		fmt.Printf("%-32s %8.0f %8.0f %8.0f %8.0f | %6.0f %6.0f\n", name, median(c), slices.Min(c), median(ours), slices.Min(ours),
			medianDifference(ours, c), slices.Min(ours)-slices.Min(c))
	}
}

func medianDifference(a, b []float64) float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return median(differences)
}
