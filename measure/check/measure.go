package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// Measure checks the hosts of a job by messages between its ranks, pair by pair, or under load all at once. Of 1,024 hosts and
// more it measures at most 1 % of the pairs. Of fewer hosts it measures at most 8 pairs per 2 hosts, and 2,048 more. Under load
// it takes 64 rounds. It is collective; the settings of rank 0 count, and the result is nil on the other ranks.
//
// With a graph its hosts are those of the same names, of each of which the lowest rank takes part; or,
// where names differ, the ranks in their order. Without one the hosts are
// the job's, by name, and again the lowest rank of each takes part. Ranks that take no
// part wait.
//
// When the context of any rank ends, or the budget, all ranks stop when they meet next; it is an error if nothing was
// read by then. The messages travel on a duplicate of comm if it is an mpi.Splitter. A round takes
// three barriers, and each rank some 9 samples of short and 3 of long messages each way. Under load each rank sends and receives three
// long messages and three short ones in a round, each after a barrier. A receiver takes the time from the barrier to its message,
// and what counts is the median of long ones less that of short ones.
//
// Where the communicator is not mpi.NonBlocking, under load a rank either sends or receives in a round. Then links
// between switches are filled by half as many hosts, and switches never are. A warning says so.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	return converse(ctx, comm, settings, func(j *job) (*Result, error) { return find(ctx, j, settings) })
}

// A job is what rank 0 checks: hosts that are measured.
type job struct {
	hosts    int
	names    []string // nil: those of the graph
	measure  oracle
	blocking bool // under load a host sends or receives, not both
	bytes    int  // of long messages, which its finder chooses
}

// converse lets rank 0 do work with a job, for which all ranks answer, and returns what comes of it there; nil on
// the others. It is collective.
func converse[T any](ctx context.Context, comm mpi.Communicator, settings *Settings, work func(*job) (*T, error)) (*T, error) {
	s := *cmp.Or(settings, &Settings{})
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (result *T, err error) {
		places, err := mpi.GatherPlaces(c.Comm)
		if err != nil {
			return nil, fmt.Errorf("check: collecting the hosts: rank %d: %w", c.Comm.Rank(), err)
		}
		p := &prober{Conductor: c, word: make([]byte, shortBytes)}
		err = c.Lead(s.Budget, p.round, func(play harness.Play) error {
			ranks, names, err := participants(&s, places)
			if err != nil {
				return err
			}
			_, nonBlocking := c.Comm.(mpi.NonBlocking)
			j := &job{hosts: len(ranks), names: names, blocking: !nonBlocking}
			j.measure = answers(play, ranks, s.Load, &j.bytes)
			result, err = work(j)
			return err
		})
		return result, err
	})
}

// answers is the oracle of the ranks of the hosts. Rank 0 tells them before each round whether all transfer at once, the size of
// messages, and then the ranks of pairs.
func answers(play harness.Play, ranks []int, load bool, bytes *int) oracle {
	return func(_ context.Context, pairs [][2]int) ([]measurement, error) {
		round := []float64{oneByOne, float64(*bytes)}
		if load {
			round[0] = atOnce
		}
		for _, pair := range pairs {
			round = append(round, float64(ranks[pair[0]]), float64(ranks[pair[1]]))
		}
		told, err := play(share.AppendFloats(nil, round))
		if err != nil || !slices.ContainsFunc(told, func(values []float64) bool { return len(values) > 0 }) {
			return nil, err
		}
		value := func(host, k int) float64 { // NaN if it has not come so far
			if of := told[ranks[host]]; k < len(of) {
				return of[k]
			}
			return math.NaN()
		}
		read := make([]measurement, len(pairs))
		for i, pair := range pairs {
			a, b := pair[0], pair[1]
			read[i] = measurement{Latency: (value(a, 0) + value(b, 0)) / 2, Forward: value(a, 1), Back: value(b, 1)}
			if load {
				read[i] = measurement{Forward: value(b, 0)}
			}
		}
		return read, nil
	}
}

// participants are the rank of each host, and the hosts' names.
func participants(s *Settings, places []mpi.Place) (ranks []int, names []string, err error) {
	hosts, names := mpi.NumberHosts(places)
	for i := range names {
		ranks = append(ranks, slices.Index(hosts, i)) // the lowest
	}
	if s.Graph == nil {
		return ranks, names, nil
	}
	number, lowest := numbers(names), ranks
	ranks = nil
	for _, name := range s.Graph.Names()[:s.Graph.Hosts()] {
		i, isHere := number[name]
		if isHere && !slices.Contains(ranks, lowest[i]) {
			ranks = append(ranks, lowest[i])
			continue
		}
		if s.Graph.Hosts() != len(places) {
			return nil, nil, fmt.Errorf("check: Settings.Graph: %d hosts, and %d ranks on %d: no rank is on its host %s, or a host of that name is there twice",
				s.Graph.Hosts(), len(places), len(names), name)
		}
		ranks = nil // names are not those of the graph's hosts: ranks are, in their order
		for r := range places {
			ranks = append(ranks, r)
		}
		break
	}
	return ranks, nil, nil
}

// A prober takes the measurements of one rank.
type prober struct {
	*harness.Conductor
	probe      *pingpong.Probe
	in, out    mpi.Requests // under load
	sent, long []byte
	word       []byte
}

const (
	oneByOne = iota // each pair by itself
	atOnce          // transfers from the first to the second of each pair
)

const (
	shortBytes   = 8 // of latencies, and of answers to long messages
	shortSamples = 9 // of short messages, of which the lower quartile counts: three are below it
	longSamples  = 3 // of long messages, of which the median counts: they vary little
	tagLong      = harness.FirstTag
)

// round takes part in a round. A rank tells the latency and the time of a long message that it has sent, in s, as far as it
// comes; under load the time of one that it has received. It tells nothing of a round in which it had no part.
func (p *prober) round(message []byte) (told []float64, err error) {
	round := share.Floats(message)
	size, to, from := int(round[1]), -1, -1 // whom this rank sends to, and receives from
	for pair := range slices.Chunk(round[2:], 2) {
		switch rank := float64(p.Comm.Rank()); rank {
		case pair[0]:
			to = int(pair[1])
		case pair[1]:
			from = int(pair[0])
		}
	}
	if p.long == nil && max(to, from) >= 0 {
		p.sent, p.long, p.probe = make([]byte, size), make([]byte, size), pingpong.New(p.Comm, shortBytes, shortSamples)
		p.in, p.out = mpi.NewRequests(p.Comm), mpi.NewRequests(p.Comm)
	}
	if round[0] == atOnce {
		told, err = p.loaded(to, from, size)
	} else {
		told, err = p.pair(max(to, from), to >= 0)
	}
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return told, nil
}

// pair measures with a peer, in a direction of its own first, or waits for those that do if the peer is -1. It returns the
// latency and the time of a long message to the peer in s, as far as it comes.
func (p *prober) pair(peer int, first bool) (told []float64, err error) {
	for phase := range phases {
		if going, err := p.Meet(); err != nil || !going {
			return told, err
		}
		if peer < 0 {
			continue
		}
		err := p.With(peer, func() error {
			if phase == 0 {
				short, err := p.probe.Pair(peer, shortBytes)
				told = append(told, short.Q1)
				return err
			}
			sends := first == (phase == 1)
			pass, answer := p.Comm.Send, p.Comm.Recv
			if !sends {
				pass, answer = answer, pass
			}
			times := make([]float64, longSamples)
			for i := range times {
				begun := p.Now()
				if err := pass(p.long, peer, tagLong); err != nil {
					return err
				}
				if err := answer(p.word, peer, tagLong); err != nil {
					return err
				}
				times[i] = p.Now() - begun
			}
			if sends {
				told = append(told, stats.LowerMedian(times))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return told, nil
}

// phases are those of a round one by one: short messages, long ones there, and long ones back.
const phases = 3

// loaded sends to a rank and receives from one while all others do; -1: it does not. It returns how many seconds longer it
// took to receive a long message than a short one, by their medians. They alternate: a rank that leaves a barrier late is late
// for both.
func (p *prober) loaded(to, from, size int) ([]float64, error) {
	var times [2][]float64 // s, of short and of long messages
	for range longSamples {
		for k, bytes := range [...]int{min(size, shortBytes), size} {
			if going, err := p.Meet(); err != nil || !going {
				return nil, err
			}
			seconds, err := p.exchange(to, from, bytes)
			if err != nil {
				return nil, err
			}
			times[k] = append(times[k], seconds)
		}
	}
	if from < 0 {
		return nil, nil
	}
	return []float64{stats.LowerMedian(times[1]) - stats.LowerMedian(times[0])}, nil
}

// exchange sends and receives one message each, and returns how long it took to receive in s.
func (p *prober) exchange(to, from, bytes int) (seconds float64, err error) {
	begun := p.Now()
	if from >= 0 {
		if err := p.in.Irecv(p.long[:bytes], from, tagLong); err != nil {
			return 0, err
		}
	}
	if to >= 0 {
		if err := p.out.Isend(p.sent[:bytes], to, tagLong); err != nil {
			return 0, err
		}
	}
	if from >= 0 {
		if err := p.With(from, p.in.WaitAll); err != nil {
			return 0, err
		}
		seconds = p.Now() - begun
	}
	if to >= 0 {
		err = p.With(to, p.out.WaitAll)
	}
	return seconds, err
}
