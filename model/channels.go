package model

import (
	"math"
)

// capacities are those of the arcs, and after them the hosts' memory channels.
func (n *Network) capacities() []float64 {
	arcs := n.graph.Arcs()
	capacity := make([]float64, len(arcs)+n.memoryChannels())
	for i := range capacity {
		if i < len(arcs) {
			capacity[i] = arcs[i].Bandwidth
		} else {
			capacity[i] = n.memory
		}
	}
	return capacity
}

// memoryChannels is the number of hosts: those named, or one per rank.
func (n *Network) memoryChannels() int {
	if n.hostOf == nil {
		return n.Ranks()
	}
	return len(n.hosts)
}

// sharedMemory is the memory channel over which two ranks of one host talk,
// or -1.
func (n *Network) sharedMemory(a, b int) int {
	first := n.graph.NumArcs()
	switch {
	case n.hostOf == nil && a == b:
		return first + a
	case n.hostOf == nil || n.hostOf[a] != n.hostOf[b]:
		return -1
	case a != b && math.IsNaN(n.memory):
		return -1 // the graph's links inside the host have to say it
	}
	return first + int(n.hostOf[a])
}
