package bcast

import (
	"fmt"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// silent is a communicator of two ranks on which nothing is ever sent: what is left of a broadcast
// is what is around it.
type silent struct{ bytes, calls int }

func (*silent) Rank() int                   { return 0 }
func (*silent) Size() int                   { return 2 }
func (*silent) Send([]byte, int, int) error { return nil }
func (*silent) Recv([]byte, int, int) error { return nil }
func (s *silent) Bcast(buf []byte, _ int) error {
	s.bytes += len(buf)
	s.calls++
	return nil
}

// tunedTo is a broadcaster of rank 0 of two, by which all goes to the library.
func tunedTo(native mpi.Communicator, sizes ...int) *Broadcaster {
	b := &Broadcaster{
		comm: native, ranks: 2, exec: newExecutor(native, 1), native: native.(mpi.NativeBcast),
		decisions: make(map[decisionKey]*decision),
	}
	for _, size := range sizes {
		for root := range 2 {
			b.use(nativePlan(), size, root)
		}
	}
	return b
}

// BenchmarkWrapper is what Bcast costs beyond the library's own broadcast, which does nothing here.
// Both are called through an interface, as an application calls either. wrapper-ns is the
// difference of the quickest of many short loops of each, which others on the machine disturb least.
func BenchmarkWrapper(b *testing.B) {
	for _, size := range []int{8, 1 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			native := &silent{}
			var ways [2]mpi.NativeBcast
			ways[0], ways[1] = native, tunedTo(native, size)
			buf := make([]byte, size)
			const calls = 10000
			quickest := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, way := range ways {
					begin := time.Now()
					for k := range calls {
						if err := way.Bcast(buf, k&1); err != nil {
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
