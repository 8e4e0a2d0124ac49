package servet

import (
	"context"
	"fmt"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// Access measures how processes of one host slow each other down that use the network at once. It is
// the Network Access Benchmark of Servet 3.0 (Gonzalez-Dominguez et al. 2013, section 4.2).
// k ranks on each host send to their likes on the next host, all at the same time. The others wait. Senders are evenly
// spread over the ranks of the host by what they share and by their cores. k goes from 1 to the NC ranks that a host has.
// The number of messages stays the same: k ranks on P/k hosts each.
//
// Servet takes P = 2 NC. With H < 2 NC hosts, P is the number up to H with the most
// values of k. The k above P/2 up to NC need more messages than that. They are
// measured on two hosts, for divisors of NC, and a warning says so. Hosts with fewer ranks than others take part in steps of as many.
//
// Otherwise it is as Distance.
func Access(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	return rings(ctx, comm, settings, WhatAccess, planAccess)
}

// fewestHosts have somebody to send to.
const fewestHosts = 2

func planAccess(ranks [][]int, s *Settings) (steps []step, warnings []string) {
	hosts := len(ranks)
	if hosts < fewestHosts {
		return nil, []string{fmt.Sprintf("access wants %d hosts at least, the job has %d: there is nothing to measure", fewestHosts, hosts)}
	}
	sizes := make([]int, hosts)
	for i, own := range ranks {
		sizes[i] = len(own)
	}
	slices.Sort(sizes)
	cores := sizes[hosts-fewestHosts] // that two hosts have
	if sizes[0] < sizes[hosts-1] {
		warnings = append(warnings, fmt.Sprintf("hosts have %d to %d ranks: with more processes per host, fewer hosts take part", sizes[0], sizes[hosts-1]))
	}
	total := messages(sizes, cores)
	if wanted := 2 * cores; hosts < wanted {
		warnings = append(warnings, fmt.Sprintf("access wants %d hosts for %d processes on each, and has %d: %d messages at once instead of %d", wanted, cores, hosts, total, wanted))
	}
	if s.Hosts > hosts {
		warnings = append(warnings, fmt.Sprintf("%d hosts asked for, the job has %d", s.Hosts, hosts))
	}
	var uneven []int
	for k := 1; k <= cores; k++ {
		if !(k == 1 || total%k == 0 && total/k >= fewestHosts || cores%k == 0) {
			continue
		}
		n := min(max(total/k, fewestHosts), withAtLeast(sizes, k))
		if n*k != total {
			uneven = append(uneven, k)
		}
		steps = append(steps, step{At: k, PerHost: k, Hosts: n, Apart: 1})
	}
	if uneven != nil {
		warnings = append(warnings, fmt.Sprintf("with %v processes per host there are not %d messages at once as with one: their ratios tell of more than the hosts' access", uneven, total))
	}
	return steps, warnings
}

// messages is how many are under way at once on hosts of the given numbers of ranks, ascending: twice the cores
// as in Servet or, on fewer hosts, the number for which most counts up to the cores can be had; the greatest of these.
func messages(sizes []int, cores int) int {
	if servet := 2 * cores; len(sizes) >= servet {
		return servet
	}
	best, most := 0, 0
	for total := fewestHosts; total <= len(sizes); total++ {
		counts := 0
		for k := 1; k <= cores && total/k >= fewestHosts; k++ {
			if total%k == 0 && total/k <= withAtLeast(sizes, k) {
				counts++
			}
		}
		if counts >= most {
			best, most = total, counts
		}
	}
	return best
}

// withAtLeast is how many hosts have so many ranks, of sizes that ascend.
func withAtLeast(sizes []int, ranks int) int {
	first, _ := slices.BinarySearch(sizes, ranks)
	return len(sizes) - first
}
