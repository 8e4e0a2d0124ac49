package bcast_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// silent is a communicator whose native broadcast sends nothing: what is left of a broadcast is what is around it.
type silent struct {
	mpi.Communicator
	bytes, calls int
}

func (s *silent) Bcast(buf []byte, _ int) error {
	s.bytes += len(buf)
	s.calls++
	return nil
}

// nativePlan is native, which has no algorithm.
var nativePlan = predict.Plan{Index: -1, Predicted: math.NaN(), Measured: math.NaN(), MeasuredNative: math.NaN()}

// nativeBroadcaster returns a broadcaster of one rank of two that broadcasts natively, by a broadcast that does nothing.
func nativeBroadcaster(t testing.TB, size int) (b *bcast.Broadcaster, native *silent) {
	t.Helper()
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		n := &silent{Communicator: plain{world}}
		own, err := bcast.New(n, nil)
		if world.Rank() == 0 {
			b, native = own, n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for root := range 2 {
		b.Decide(nativePlan, size, root)
	}
	return b, native
}

// BenchmarkWrapper is what Bcast costs beyond native, which does nothing here.
// Both are called through an interface, as an application calls either. wrapper-ns is the
// difference of the quickest of many short loops of each, which others on the machine disturb least.
func BenchmarkWrapper(b *testing.B) {
	for _, size := range []int{8, 1 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			ours, native := nativeBroadcaster(b, size)
			variants := [2]mpi.NativeBcast{native, ours}
			buf := make([]byte, size)
			const calls = 10000
			quickest := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, variant := range variants {
					begin := time.Now()
					for k := range calls {
						if err := variant.Bcast(buf, k&1); err != nil {
							b.Fatal(err)
						}
					}
					quickest[i] = min(quickest[i], time.Since(begin))
				}
			}
			b.ReportMetric(float64(quickest[0].Nanoseconds())/calls, "native-ns")
			b.ReportMetric(float64((quickest[1]-quickest[0]).Nanoseconds())/calls, "wrapper-ns")
		})
	}
}
