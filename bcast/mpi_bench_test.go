package bcast_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
)

// BenchmarkMPINeverSlower compares a tuned Bcast with native called directly, in the
// ranks of a job, in pairs of short loops one after the other whose order changes: hot loops from one
// root, hot loops from all in turn, and broadcasts each of which all ranks wait for. It reports how
// much of native's speed ours has (native's time over ours, medians of 51 pairs), how often
// something of ours was chosen, and what the last Tune took.
//
//	go test -c -o test ./bcast && mpirun -n 2 ./test -test.run - -test.bench NeverSlower -test.benchtime 1x
func BenchmarkMPINeverSlower(b *testing.B) {
	c, err := mpi.World()
	if errors.Is(err, mpi.ErrNoLauncher) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	for _, size := range []int{8, 1 << 10, 16 << 10, 256 << 10} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			chosen, tunings := 0, 0
			var ratios [3][]float64
			took := 0.0
			for b.Loop() {
				bc, err := bcast.New(c, nil)
				if err != nil {
					b.Fatal(err)
				}
				begin := time.Now()
				if err := bc.Tune([]int{0}, size); err != nil {
					b.Fatal(err)
				}
				took = time.Since(begin).Seconds()
				plan, err := bc.Plan(size, 0)
				if err != nil {
					b.Fatal(err)
				}
				if tunings++; plan.Algorithm != nil {
					chosen++
				}
				for kind := range ratios {
					r, err := speed(c, bc, size, kind)
					if err != nil {
						b.Fatal(err)
					}
					ratios[kind] = append(ratios[kind], r)
				}
			}
			if c.Rank() > 0 {
				return
			}
			for kind, name := range []string{"hot-one-root", "hot-all-roots", "cold"} {
				b.ReportMetric(stats.MiddleMedian(ratios[kind]), name)
			}
			b.ReportMetric(float64(chosen)/float64(tunings), "chosen")
			b.ReportMetric(took*1e3, "tune-ms")
		})
	}
}

// speed is native's time over that of ours in loops of a kind of BenchmarkMPINeverSlower.
func speed(c *mpi.Comm, bc *bcast.Broadcaster, size, kind int) (float64, error) {
	const pairs = 51
	buf, token := make([]byte, size), make([]byte, 1)
	loop := max(4, min(400, (4<<20)/size))
	once := func(bcast func([]byte, int) error) (float64, error) {
		// A barrier: all have come to rank 0, and know.
		for root := range c.Size() {
			if err := c.Bcast(token, root); err != nil {
				return 0, err
			}
		}
		begin := time.Now()
		for i := range loop {
			root := 0
			if kind > 0 {
				root = i % c.Size()
			}
			if err := bcast(buf, root); err != nil {
				return 0, err
			}
			if kind < 2 {
				continue
			}
			for k := range c.Size() { // all wait for all, so that the next one is cold
				if err := c.Bcast(token, k); err != nil {
					return 0, err
				}
			}
		}
		return time.Since(begin).Seconds(), nil
	}
	variants := []func([]byte, int) error{bc.Bcast, c.Bcast}
	ratios := make([]float64, pairs)
	for i := range ratios {
		var t [2]float64
		for k := range variants {
			variant := (i + k) % 2
			var err error
			if t[variant], err = once(variants[variant]); err != nil {
				return 0, err
			}
		}
		ratios[i] = t[1] / t[0]
	}
	return stats.MiddleMedian(ratios), nil
}
