package servet

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// Distance measures the bandwidth of messages between hosts by their distance, as the
// Distance Benchmark of Servet 3.0 does (Gonzalez-Dominguez et al. 2013, section 4.1). One
// rank of each of the N hosts takes part, the lowest by core. It sends to that of the host d further, modulo N, for d
// from 1 to N/2. All do so at the same time, and the others wait. Hosts stand in the order of their first
// ranks, so that neighbours are those of the job's scheduler.
//
// It is collective; the settings of rank 0 count. The result is nil on other ranks. When the context of any rank
// ends, or the budget, all ranks stop after the step under way, and the result
// holds what was measured. Steps are taken in an order that sees far and near distances early, so
// that a short budget costs detail. An error means that nothing was measured.
// O(N) messages of Settings.Bytes per step, N/2 steps per repetition; rank 0 keeps a number per message of one
// repetition.
func Distance(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	return rings(ctx, comm, settings, WhatDistance, planDistance)
}

// leastDistanceHosts have two distances, that is something to compare.
const leastDistanceHosts = 4

func planDistance(ranks [][]int, s *Settings) (steps []step, warnings []string) {
	n := len(ranks)
	for d := 1; d <= n/2; d++ {
		steps = append(steps, step{At: d, PerHost: 1, Hosts: n, Apart: d})
	}
	if n < s.Hosts {
		warnings = append(warnings, fmt.Sprintf("%d hosts asked for, the job has %d: the distances end at %d", s.Hosts, n, n/2))
	}
	if n < leastDistanceHosts {
		warnings = append(warnings, fmt.Sprintf("distance wants %d hosts at least, the job has %d: there is nothing to compare", leastDistanceHosts, n))
	}
	return steps, warnings
}
