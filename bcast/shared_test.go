package bcast_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
)

const (
	// launcherVar holds the launcher and its flags; the number of ranks follows.
	launcherVar = "TOPOCAST_TEST_MPIRUN"

	// sharedVar is set for the ranks of BenchmarkSharedMemory.
	sharedVar = "TOPOCAST_TEST_SHARED"
)

// BenchmarkSharedMemory compares the broadcaster, and each plan, with the
// native broadcast between ranks of this machine: in loops back to back, and
// each alone after all ranks have met, both with a root that changes. The figures
// are medians of the ratio native / ours of paired runs, in which the variants take
// turns; above 1 ours is faster.
func BenchmarkSharedMemory(b *testing.B) {
	launcher := strings.Fields(os.Getenv(launcherVar))
	if len(launcher) == 0 {
		b.Skipf("no %s; make bench-mpi sets it", launcherVar)
	}
	for _, ranks := range []string{"2", "4"} {
		b.Run(ranks+" ranks", func(b *testing.B) {
			worst := math.Inf(1)
			for b.Loop() {
				cmd := exec.Command(launcher[0], slices.Concat(launcher[1:], []string{"-n", ranks, os.Args[0]})...)
				cmd.Env = append(os.Environ(), launcherVar+"=", sharedVar+"=1")
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &out), os.Stderr
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				for line := range bytes.Lines(out.Bytes()) {
					var hot, cold float64
					if _, err := fmt.Sscanf(string(line), "worst %f %f", &hot, &cold); err == nil {
						worst = min(worst, hot, cold)
					}
				}
			}
			b.ReportMetric(worst, "worst-native/ours")
		})
	}
}

// rankOfShared is the main function of a rank.
func rankOfShared() {
	if err := mpi.Run(compareShared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A sharedVariant is a broadcast that is compared, and its times by round.
type sharedVariant struct {
	name      string
	run       func(buf []byte, root int) error
	hot, cold []float64
}

func compareShared(world mpi.Communicator) error {
	const loop = 200e-6 // s, of a loop
	debug.SetGCPercent(-1)
	b, err := bcast.New(world, nil)
	if err != nil {
		return err
	}
	library := world.(mpi.NativeBcast)
	worstHot, worstCold := math.Inf(1), math.Inf(1)
	for i, size := range []int{8, 64, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20} {
		variants := []*sharedVariant{{name: "native", run: library.Bcast}, {name: "chosen", run: b.Bcast}}
		for _, p := range sharedPlans(world.Size(), size) {
			compiled := make([]func([]byte) error, world.Size())
			for root := range compiled {
				compiled[root] = by(b, p, size, root)
			}
			name := p.Name()
			if p.Segment > 0 {
				name += "/" + quantity.Bytes(p.Segment)
			}
			if p.Blocking {
				name += "/b"
			}
			variants = append(variants, &sharedVariant{name: name, run: func(buf []byte, root int) error { return compiled[root](buf) }})
		}
		buf := make([]byte, size)
		for root := range world.Size() {
			if err := b.Tune([]int{root}, size); err != nil {
				return err
			}
		}
		batch, err := loops(world, variants[0], buf, loop)
		if err != nil {
			return err
		}
		rounds := 51
		if size > 64<<10 {
			rounds = 15
		}
		for round := range rounds {
			for k := range variants {
				if err := sharedTimes(world, variants[(k+round)%len(variants)], buf, batch, round); err != nil {
					return err
				}
			}
		}
		if world.Rank() > 0 {
			continue
		}
		if i == 0 {
			fmt.Printf("%9s %10s %10s | native / ours, loops, alone\n", "bytes", "native", "alone")
		}
		fmt.Printf("%9d %10s %10s |", size, quantity.Seconds(stats.Median(variants[0].hot)), quantity.Seconds(stats.Median(variants[0].cold)))
		for _, w := range variants[1:] {
			hot, cold := pairedMedian(variants[0].hot, w.hot), pairedMedian(variants[0].cold, w.cold)
			name := w.name
			if name == "chosen" {
				worstHot, worstCold = min(worstHot, hot), min(worstCold, cold)
				plan, err := b.Plan(size, 0)
				if err != nil {
					return err
				}
				name += " (" + plan.Name() + ")"
			}
			fmt.Printf(" %s %.2f %.2f,", name, hot, cold)
		}
		fmt.Println()
	}
	if world.Rank() == 0 {
		fmt.Printf("worst %.3f %.3f of chosen, in loops and alone\n", worstHot, worstCold)
	}
	return nil
}

// sharedPlans are those that come into question between so few ranks.
func sharedPlans(ranks, size int) []predict.Plan {
	var plans []predict.Plan
	algorithms := []schedule.Algorithm{schedule.Flat{}}
	if ranks > 2 {
		algorithms = append(algorithms, schedule.Binomial{}, schedule.Chain{})
	}
	for _, a := range algorithms {
		for _, segment := range []int{0, 4 << 10, 32 << 10, 256 << 10} {
			if segment >= size || segment > 0 && size/segment > 256 {
				continue
			}
			for _, blocking := range []bool{false, true} {
				if blocking || segment > 0 {
					plans = append(plans, predict.Plan{Algorithm: a, Segment: segment, Blocking: blocking})
				}
			}
		}
	}
	return plans
}

func pairedMedian(native, ours []float64) float64 {
	ratios := make([]float64, len(ours))
	for i := range ratios {
		ratios[i] = native[i] / ours[i]
	}
	return stats.Median(ratios)
}

// loops is how many broadcasts of the variant take so many seconds, at least one of
// each root; the same on all ranks.
func loops(comm mpi.Communicator, w *sharedVariant, buf []byte, seconds float64) (int, error) {
	ranks := comm.Size()
	start := time.Now()
	for i := range 4 * ranks {
		if err := w.run(buf, i%ranks); err != nil {
			return 0, err
		}
	}
	each := time.Since(start).Seconds() / float64(4*ranks)
	var message [8]byte
	binary.LittleEndian.PutUint64(message[:], uint64(max(1, int(seconds/each/float64(ranks)))))
	err := share.Binomial(comm, 0, mpi.MaxTag).Tell(message[:])
	return int(binary.LittleEndian.Uint64(message[:])) * ranks, err
}

// sharedTimes takes the time of one broadcast of the variant in a loop, as rank 0 sees
// it, and of one alone, until the last rank has it. The ranks read one clock.
func sharedTimes(comm mpi.Communicator, w *sharedVariant, buf []byte, batch, round int) error {
	ranks, meet := comm.Size(), share.Binomial(comm, 0, mpi.MaxTag)
	now := comm.(mpi.Clock).Now
	if err := w.run(buf, 0); err != nil {
		return err
	}
	start := now()
	for i := range batch {
		if err := w.run(buf, i%ranks); err != nil {
			return err
		}
	}
	if comm.Rank() == 0 {
		w.hot = append(w.hot, (now()-start)/float64(batch))
	}
	const alone = 3
	total := 0.0
	for i := range alone {
		root := (round + i) % ranks
		if err := cmp.Or(meet.Collect(nil, nil, func([]byte) {}), meet.Tell(nil)); err != nil {
			return err
		}
		start := now()
		if comm.Rank() == root {
			for now() < start+settleSeconds {
			}
			start = now()
		} else {
			start = math.Inf(-1)
		}
		if err := w.run(buf, root); err != nil {
			return err
		}
		// The start of the root and the end of the last.
		own, child := make([]byte, 16), make([]byte, 16)
		put := func(start, end float64) {
			binary.LittleEndian.PutUint64(own, math.Float64bits(start))
			binary.LittleEndian.PutUint64(own[8:], math.Float64bits(end))
		}
		get := func(b []byte, i int) float64 {
			return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		put(start, now())
		if err := meet.Collect(own, child, func(child []byte) {
			put(max(get(own, 0), get(child, 0)), max(get(own, 1), get(child, 1)))
		}); err != nil {
			return err
		}
		total += get(own, 1) - get(own, 0)
	}
	if comm.Rank() == 0 {
		w.cold = append(w.cold, total/alone)
	}
	return nil
}

// settleSeconds gives the other ranks time to enter the broadcast.
const settleSeconds = 5e-6
