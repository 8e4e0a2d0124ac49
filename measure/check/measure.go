package check

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// Measure checks the hosts of a job by messages between its ranks, pair by pair. Of 1,024 hosts and more it measures at most
// 1 % of the pairs. Of fewer hosts it measures at most 8 pairs per 2 hosts, and 2,048 more. It is collective; the settings of rank 0
// count, and the result is nil on the other ranks.
//
// With a graph its hosts are those of the same names, of each of which the lowest rank takes part; or,
// where names differ, the ranks in their order. Without one the hosts are
// the job's, by name, and again the lowest rank of each takes part. Ranks that take no
// part wait.
//
// When the context of any rank ends, or the budget, all ranks stop when they meet next; it is an error if nothing was
// read by then. The messages travel on a duplicate of comm if it is an mpi.Splitter. A round takes
// three barriers, and each rank some 9 samples of short and 3 of long messages each way.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	return converse(ctx, comm, settings, func(hosts int, s *Settings, ask *asker) (*Result, error) {
		return find(ctx, hosts, ask.oracle(oneByOne), s)
	})
}

// converse lets rank 0 do work with an asker, to whom all ranks answer, and returns what comes of it there; nil on
// the others. The settings that work gets have names. It is collective.
func converse[T any](ctx context.Context, comm mpi.Communicator, settings *Settings, work func(hosts int, s *Settings, ask *asker) (*T, error)) (*T, error) {
	s := *cmp.Or(settings, &Settings{})
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (result *T, err error) {
		places, err := mpi.GatherPlaces(c.Comm)
		if err != nil {
			return nil, fmt.Errorf("check: collecting the hosts: rank %d: %w", c.Comm.Rank(), err)
		}
		p := &prober{Conductor: c, word: make([]byte, 8)}
		err = c.Lead(s.Budget, p.round, func(play harness.Play) error {
			ranks, names, err := participants(&s, places)
			if err != nil {
				return err
			}
			if s.Names == nil {
				s.Names = names
			}
			ask := &asker{play: play, bytes: cmp.Or(s.Bytes, defaultBytes), ranks: ranks}
			result, err = work(len(ranks), &s, ask)
			return err
		})
		return result, err
	})
}

// What rank 0 tells all ranks before each round: whether all transfer at once, the size of messages, then ranks in pairs.
const (
	roundHead = 5 // bytes
	perPair   = 8

	oneByOne byte = iota // each pair by itself
	atOnce               // transfers from the first to the second of each pair
)

// An asker lets ranks take part in rounds, on rank 0.
type asker struct {
	play  harness.Play
	bytes int   // of long messages
	ranks []int // of the hosts
}

// oracle is that of a check by pairs, or under load, by what the receivers tell.
func (a *asker) oracle(how byte) oracle {
	return func(_ context.Context, pairs [][2]int) ([]reading, error) {
		round := binary.LittleEndian.AppendUint32([]byte{how}, uint32(a.bytes))
		for _, pair := range pairs {
			round = binary.LittleEndian.AppendUint32(round, uint32(a.ranks[pair[0]]))
			round = binary.LittleEndian.AppendUint32(round, uint32(a.ranks[pair[1]]))
		}
		told, err := a.play(round)
		if err != nil || !slices.ContainsFunc(told, func(values []float64) bool { return len(values) > 0 }) {
			return nil, err
		}
		value := func(host, k int) float64 { // NaN if it has not come so far
			if of := told[a.ranks[host]]; k < len(of) {
				return of[k]
			}
			return math.NaN()
		}
		read := make([]reading, len(pairs))
		for i, pair := range pairs {
			x, y := pair[0], pair[1]
			if how == atOnce {
				read[i] = reading{Forward: value(y, 0)}
			} else {
				read[i] = reading{Latency: (value(x, 0) + value(y, 0)) / 2, Forward: value(x, 1), Back: value(y, 1)}
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
	lowest := ranks
	ranks = nil
	for _, name := range s.Graph.Names()[:s.Graph.Hosts()] {
		if i := slices.Index(names, name); i >= 0 && !slices.Contains(ranks, lowest[i]) {
			ranks = append(ranks, lowest[i])
			continue
		}
		if s.Graph.Hosts() != len(places) {
			return nil, nil, fmt.Errorf("check: Settings.Graph: %d hosts, and %d ranks on %d: no rank is on its host %s, or a host of that name is there twice",
				s.Graph.Hosts(), len(places), len(names), name)
		}
		ranks = ranks[:0] // names are not those of the graph's hosts: ranks are, in their order
		for r := range places {
			ranks = append(ranks, r)
		}
		break
	}
	return ranks, nil, nil
}

// A prober takes the readings of one rank.
type prober struct {
	*harness.Conductor
	probe    *pingpong.Probe
	long     []byte
	sent     []byte       // under load: what is received is elsewhere
	requests mpi.Requests // under load
	word     []byte
}

const (
	shortBytes   = 8 // of latencies, and of answers to long messages
	shortSamples = 9 // of short messages, of which the lower quartile counts: three are below it
	longSamples  = 3 // of long messages, of which the median counts: they vary little
	tagLong      = harness.FirstTag
)

// round takes part in a round. A rank tells nothing of one in which it had no part.
func (p *prober) round(round []byte) ([]float64, error) {
	size := int(binary.LittleEndian.Uint32(round[1:]))
	to, from := -1, -1 // whom this rank sends to, and receives from
	for at := roundHead; at+perPair <= len(round); at += perPair {
		a, b := int(binary.LittleEndian.Uint32(round[at:])), int(binary.LittleEndian.Uint32(round[at+4:]))
		if p.Comm.Rank() == a {
			to = b
		}
		if p.Comm.Rank() == b {
			from = a
		}
	}
	var told []float64
	var err error
	if round[0] == atOnce {
		told, err = p.loaded(to, from, size)
	} else {
		told, err = p.pair(max(to, from), to >= 0, size)
	}
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return told, nil
}

// pair measures with a peer, in a direction of its own first, or waits for those that do if the peer is -1. It returns the
// latency and the time of a long message to the peer in s, as far as it comes.
func (p *prober) pair(peer int, first bool, size int) (told []float64, err error) {
	if p.probe == nil && peer >= 0 {
		p.probe = pingpong.New(p.Comm, shortBytes, shortSamples)
		p.long = make([]byte, size)
	}
	for phase := range phases {
		if going, err := p.Meet(); err != nil || !going {
			return told, err
		}
		if peer < 0 {
			continue
		}
		err := p.With(peer, func() error {
			sends := first == (phase == 1) // long messages
			if phase > 0 && !sends {
				return p.answer(peer)
			}
			var seconds float64
			var err error
			if phase == 0 {
				var short pingpong.Summary
				short, err = p.probe.Pair(peer, shortBytes)
				seconds = short.Q1
			} else {
				seconds, err = p.send(peer)
			}
			told = append(told, seconds)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return told, nil
}

// answer receives long messages and answers each by a short one.
func (p *prober) answer(peer int) error {
	for range longSamples {
		if err := p.Comm.Recv(p.long, peer, tagLong); err != nil {
			return err
		}
		if err := p.Comm.Send(p.word, peer, tagLong); err != nil {
			return err
		}
	}
	return nil
}

// send sends long messages that are answered, and returns the median of their times in s.
func (p *prober) send(peer int) (float64, error) {
	var times [longSamples]float64
	for i := range times {
		begun := p.Now()
		if err := p.Comm.Send(p.long, peer, tagLong); err != nil {
			return 0, err
		}
		if err := p.Comm.Recv(p.word, peer, tagLong); err != nil {
			return 0, err
		}
		times[i] = p.Now() - begun
	}
	slices.Sort(times[:])
	return times[longSamples/2], nil
}
