package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/topocast/topocast/mpi"
)

const fewPartners = 4 // of each host, at least, where there are as many

// Sample takes a run for a history file: the measurements of few pairs of the hosts of a
// job, 4 of each host or some more. So that runs can be compared, the pairs are those of the runs
// before, as far as their hosts are there. Hosts that are new get new ones. Of runs without long messages, such as matrices
// of latencies, only as many pairs are taken as a host needs. It is collective; the
// settings and the runs of rank 0 count, and the run is nil on other ranks. It has no
// date. When the budget or a context ends, the run holds what was read; it is an error if that is nothing. Settings.Load
// does not count.
func Sample(ctx context.Context, comm mpi.Communicator, settings *Settings, before []Run) (*Run, error) {
	s := *cmp.Or(settings, &Settings{})
	s.Load = false
	return converse(ctx, comm, &s, func(j *job) (*Run, error) { return takeSample(ctx, j, &s, before) })
}

// takeSample is rank 0's part.
func takeSample(ctx context.Context, j *job, settings *Settings, before []Run) (*Run, error) {
	f, err := newFinder(ctx, j, settings, 0x7761746368) // "watch"
	if err != nil {
		return nil, err
	}
	rounds, run := f.sampleRounds(before), &Run{}
	names := f.r.w.names
	for _, round := range rounds {
		read, err := f.ask(round)
		if err != nil {
			return nil, err
		}
		for k, pair := range round[:len(read)] {
			a, b := names[pair[0]], names[pair[1]]
			for _, point := range []Point{{false, a, b, read[k].Latency}, {true, a, b, read[k].Forward}, {true, b, a, read[k].Back}} {
				if point.Seconds > 0 {
					run.Points = append(run.Points, point)
				}
			}
		}
	}
	if len(run.Points) == 0 {
		return nil, errEnded
	}
	return run, nil
}

// sampleRounds are the pairs of the runs before in rounds, and more of hosts that have too few.
func (f *finder) sampleRounds(before []Run) (rounds [][][2]int) {
	p, w := f.plan, f.r.w
	partners, taken := make([]int, w.hosts), map[[2]int]bool{}
	var left [][2]int
	take := func(a, b int) {
		if a != b && !taken[[2]int{a, b}] && w.find(&p.try, a, b) {
			taken[[2]int{a, b}], taken[[2]int{b, a}] = true, true
			partners[a]++
			partners[b]++
			left = append(left, [2]int{a, b})
		}
	}
	host, imported := numbers(w.names), map[[2]int]bool{}
	for _, run := range before {
		measured := slices.ContainsFunc(run.Points, func(x Point) bool { return x.Long })
		for _, point := range run.Points {
			a, isA := host[point.From]
			switch b, isB := host[point.To]; {
			case !isA || !isB:
			case measured:
				take(a, b)
			default:
				imported[[2]int{a, b}], imported[[2]int{b, a}] = true, true
			}
		}
	}
	for _, a := range p.rng.Perm(w.hosts) {
		for i := 0; i < 2*tries && partners[a] < min(fewPartners, w.hosts-2); i++ { // where routes are few some hosts find no new partner
			if b := w.near(p.rng, a); imported[[2]int{a, b}] || i >= tries || len(imported) == 0 {
				take(a, b)
			}
		}
	}
	for len(left) > 0 {
		p.begin(false)
		left = slices.DeleteFunc(left, func(x [2]int) bool {
			isFree := p.free(x[0], x[1])
			if isFree {
				p.add(x[0], x[1])
				p.block(x[0], x[1])
			}
			return isFree
		})
		rounds = append(rounds, p.pairs)
	}
	return rounds
}

// numbers are the numbers of names; of equal ones the lowest.
func numbers(names []string) map[string]int {
	number := map[string]int{}
	for i, name := range slices.Backward(names) {
		number[name] = i
	}
	return number
}
