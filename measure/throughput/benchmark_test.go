package throughput

import (
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi/simnet"
)

// BenchmarkUplinks measures what Discover does on a machine of 1,024 hosts: the links
// of hosts and both ways of 72 uplinks. Virtual seconds are those of the job.
func BenchmarkUplinks(b *testing.B) {
	c := parse(b, "tree:8x8x16 latency=2us,1us,500ns rate=100Gbps,100Gbps,25Gbps")
	for b.Loop() {
		r := measureOn(b, c.Graph, &simnet.Settings{}, Uplinks(resultOf(c), harness.Control{}))
		b.ReportMetric(float64(r.Steps), "steps")
		b.ReportMetric(r.Seconds, "virtual-s")
		b.ReportMetric(float64(len(r.measurements)), "measurements")
	}
}
