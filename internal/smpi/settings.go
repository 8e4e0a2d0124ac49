package smpi

import (
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// What a message costs each side, and where the rendezvous begins: what the times were recorded with.
const (
	overhead  = 2e-6     // s; smpi/os, or and ois
	threshold = 64 << 10 // bytes; SimGrid's smpi/send-is-detached-thresh
)

// Settings are SimGrid 3.32's defaults for MPI: factors of latency and bandwidth
// by size, acknowledgements of 5 %, and shares by round trip. The sender of a message below
// 65536 B need not wait, but the message moves only when the receiver asks for it.
// Each side has 2 us of overhead. The loopback is that of the
// recorded platforms. Long messages are hollow.
func Settings() *simnet.Settings {
	s := &simnet.Settings{
		EagerLimit: threshold - 1, KeepUnexpected: true, NoHandshake: true, FlowPerMessage: true, HollowAbove: 1,
		Send: simnet.Overhead{Seconds: overhead}, Recv: simnet.Overhead{Seconds: overhead},
		Sharing: contention.Sharing{Coupling: 1, AckWeight: 0.05},
		Bias:    simnet.Bias{Power: 1, Bytes: 20537},
		Memory:  simnet.Memory{Latency: 0.5e-6, Bandwidth: 1e15, PerCopy: 6e9},
		Routing: topology.ChooseModulo, // d-mod-k, as SimGrid's fat trees
	}
	latency := []float64{2.01467, 1.95341, 1.9503, 1.61075, 1.88101, 2.18796, 2.59299, 3.48845, 11.6436}
	bandwidth := []float64{0.812084, 0.338112, 0.341987, 0.608902, 0.77493, 1.08739, 0.58729, 0.697866, 0.940694}
	for i, bytes := range []int{0, 257, 732, 1426, 3484, 5776, 9376, 15424, 65472} {
		s.Factors = append(s.Factors, simnet.Factor{Bytes: bytes, Latency: latency[i], Bandwidth: bandwidth[i]})
	}
	return s
}
