package check

import (
	"context"
	"slices"

	"github.com/topocast/topocast/mpi"
)

const (
	sampleRounds = 4                         // partners of each host, at least, where there are as many
	mostRounds   = 4 * sampleRounds * spread // that are planned: where routes are few some hosts find no new partner
)

// Sample takes a run for a watch file: the readings of few pairs of the hosts of a
// job, 4 of each host or some more. So that runs can be compared, the pairs are those of the runs
// before, as far as their hosts are there. Hosts that are new get new ones. It is collective; the
// settings and the runs of rank 0 count, and the run is nil on other ranks. It has no
// date. When the budget or a context ends, the run holds what was read.
func Sample(ctx context.Context, comm mpi.Communicator, settings *Settings, before []Run) (*Run, error) {
	return converse(ctx, comm, settings, func(hosts int, s *Settings, ask *asker) (*Run, error) {
		return takeSample(ctx, hosts, s, ask.oracle(oneByOne), before)
	})
}

// takeSample is rank 0's part.
func takeSample(ctx context.Context, hosts int, settings *Settings, measure oracle, before []Run) (*Run, error) {
	f, rng, err := newFinder(ctx, hosts, measure, settings, 0x7761746368) // "watch"
	if err != nil {
		return nil, err
	}
	w := f.r.w
	p := newPlanner(w, rng)
	rounds := p.again(pairsOf(before, w.names))
	partners, taken := make([]int, hosts), map[[2]int]bool{}
	take := func(x [2]int) {
		taken[x], taken[[2]int{x[1], x[0]}] = true, true
		partners[x[0]]++
		partners[x[1]]++
	}
	for _, x := range slices.Concat(rounds...) {
		take(x)
	}
	wanted := min(sampleRounds, hosts-2)
	for planned := 0; planned < mostRounds && slices.Min(partners) < wanted; planned++ {
		round := slices.DeleteFunc(p.screen(hosts/2), func(x [2]int) bool {
			if taken[x] || partners[x[0]] >= wanted && partners[x[1]] >= wanted {
				return true
			}
			take(x)
			return false
		})
		if len(round) > 0 {
			rounds = append(rounds, round)
		}
	}
	run := &Run{}
	f.total = len(rounds)
	for _, round := range rounds {
		read, err := f.ask(round)
		if err != nil {
			return nil, err
		}
		for k, pair := range round[:len(read)] {
			a, b := w.names[pair[0]], w.names[pair[1]]
			for _, point := range []Point{
				{PointLatency, a, b, read[k].Latency},
				{PointLong, a, b, read[k].Forward},
				{PointLong, b, a, read[k].Back},
			} {
				if point.Seconds > 0 {
					run.Points = append(run.Points, point)
				}
			}
		}
	}
	return run, nil
}

// pairsOf are the pairs of runs between hosts of these names, each once.
func pairsOf(runs []Run, names []string) [][2]int {
	host := numbers(names)
	var all [][2]int
	seen := map[[2]int]bool{}
	for _, run := range runs {
		for _, point := range run.Points {
			a, isA := host[point.From]
			b, isB := host[point.To]
			pair := [2]int{min(a, b), max(a, b)}
			if isA && isB && a != b && !seen[pair] {
				seen[pair] = true
				all = append(all, pair)
			}
		}
	}
	return all
}

// numbers are the numbers of names; of equal ones the lowest.
func numbers(names []string) map[string]int {
	number := map[string]int{}
	for i, name := range slices.Backward(names) {
		number[name] = i
	}
	return number
}

// again spreads given pairs over rounds, in their order.
func (p *planner) again(pairs [][2]int) [][][2]int {
	var rounds [][][2]int
	for len(pairs) > 0 {
		p.begin()
		var round, left [][2]int
		for _, x := range pairs {
			a, b := x[0], x[1]
			switch {
			case p.free(a, b):
				round = append(round, x)
				p.take(a, b)
				if p.w.graph == nil {
					p.block(a, b)
				}
			case p.w.find(&p.try, a, b): // or they are no longer connected
				left = append(left, x)
			}
		}
		if len(round) > 0 {
			rounds = append(rounds, round)
		}
		pairs = left
	}
	return rounds
}
