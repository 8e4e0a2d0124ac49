package throughput

import (
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
)

// What Uplinks measures with: 256 KiB take 10 us at 25 GB/s, and eight of them last some
// forty times as long as an empty round trip there; eight pairs fill an uplink that
// is not wider than eight links of hosts, and of two samples one may be disturbed.
const (
	uplinkSize     = 256 << 10 // B
	uplinkMessages = 8
	uplinkSamples  = 2
	uplinkPairs    = 8
)

// Uplinks are settings that measure the links of hosts and between switches of a
// reconstruction with few long messages: the uplink of every firm group, each way, coarse ones first, by
// several pairs at once, as one host's link may not fill it. It takes seven steps for the links of hosts and two for every uplink: 151 on 1,024 hosts in
// 64 racks (BenchmarkUplinks). Networks are fitted to
//
//	r, err := throughput.Measure(ctx, comm, throughput.Uplinks(found, control)) // collective
//	...
//	fit.Network(found, append(observations, r.Observations()...), &fit.Settings{Arcs: r.Measured()})
//
// Without Arcs the fit takes twenty times as long there, and both directions of a link are one.
func Uplinks(found *topology.Result, control harness.Control) *Settings {
	return &Settings{
		Control: control, Topology: found, ByLatency: true,
		Load: Load{Size: uplinkSize, Messages: uplinkMessages, Samples: uplinkSamples, Pairs: uplinkPairs},
	}
}
