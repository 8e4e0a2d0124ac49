package check

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// Measure is Find over messages between the ranks of a job. It is collective; the
// settings of rank 0 count, and the result is nil on the other ranks.
//
// With a graph its hosts are those of the same names, of each of which the lowest rank takes part; or,
// where names differ, the ranks in their order. Without one the hosts are
// the job's, by name, and again the lowest rank of each takes part. Ranks that take no
// part wait.
//
// When the context of any rank ends, or the budget, all ranks stop after the round under
// way. The messages travel on a duplicate of comm if it is an mpi.Splitter. A round takes
// three barriers, and each rank some 9 samples of short and 3 of long messages each way.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var found *Result
	err := converse(ctx, comm, settings, func(hosts int, s *Settings, ask *asker) error {
		var err error
		found, err = Find(ctx, hosts, ask.read, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// converse lets rank 0 do work with an asker, to whom the other ranks answer.
// The settings that work gets have names. It is collective.
func converse(ctx context.Context, comm mpi.Communicator, settings *Settings, work func(hosts int, s *Settings, ask *asker) error) error {
	silence := time.Duration(0)
	if settings != nil {
		silence = settings.Silence
	}
	return harness.OnWatchedDuplicate(comm, silence, func(own mpi.Communicator, w *harness.Watch) error {
		return converseOn(ctx, own, w, settings, work)
	})
}

// What rank 0 tells all ranks before each round: whether all transfer at once, the size and number of samples, then
// ranks in pairs. No message is as short as the one that ends the check.
const (
	roundHead = 9 // bytes
	perPair   = 8

	oneByOne byte = iota // each pair by itself
	atOnce               // transfers from the first to the second of each pair
)

// A failure is one of the communicator: there is nobody to be told.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

func converseOn(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, settings *Settings, work func(hosts int, s *Settings, ask *asker) error) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return fmt.Errorf("check: collecting the hosts: rank %d: %w", comm.Rank(), err)
	}
	p := &prober{ctx: ctx, comm: comm, watch: watch, barrier: harness.NewBarrier(comm).Under(watch), now: harness.Clock(comm), word: make([]byte, 8)}
	if comm.Rank() != 0 {
		for {
			round, err := watch.Tell(comm, nil)
			if err == nil && len(round) < roundHead {
				return harness.Agree(comm, nil)
			}
			if err == nil {
				_, err = p.round(round)
			}
			if err != nil {
				return fmt.Errorf("check: rank %d: %w", comm.Rank(), err)
			}
		}
	}
	var s Settings
	if settings != nil {
		s = *settings
	}
	err = lead(p, &s, places, work)
	if broken := (failure{}); errors.As(err, &broken) {
		return fmt.Errorf("check: rank 0: %w", broken.error)
	}
	if _, failed := harness.Tell(comm, nil); failed != nil {
		return fmt.Errorf("check: rank 0: %w", failed)
	}
	return harness.Agree(comm, err)
}

// lead is rank 0's part.
func lead(p *prober, s *Settings, places []mpi.Place, work func(hosts int, s *Settings, ask *asker) error) error {
	ranks, names, err := participants(s, places)
	if err != nil {
		return err
	}
	if s.Names == nil {
		s.Names = names
	}
	full, err := s.validate(len(ranks))
	if err != nil {
		return err
	}
	return work(len(ranks), s, &asker{p: p, s: &full, ranks: ranks, start: p.now()})
}

// An asker lets ranks take part in rounds, on rank 0.
type asker struct {
	p     *prober
	s     *Settings // with defaults
	ranks []int     // of the hosts
	start float64   // s
	stop  bool      // a rank wants to
}

// read is an Oracle.
func (a *asker) read(_ context.Context, pairs [][2]int) ([]Reading, error) {
	told, err := a.ask(oneByOne, pairs)
	if err != nil || told == nil {
		return nil, err
	}
	read := make([]Reading, len(pairs))
	for i, pair := range pairs {
		x, y := told[a.ranks[pair[0]]], told[a.ranks[pair[1]]]
		read[i] = Reading{Latency: (x.latency + y.latency) / 2, Forward: x.long, Back: y.long}
	}
	return read, nil
}

// transfer is a LoadOracle: the receivers tell how long it took.
func (a *asker) transfer(_ context.Context, transfers [][2]int) ([]float64, error) {
	told, err := a.ask(atOnce, transfers)
	if err != nil || told == nil {
		return nil, err
	}
	times := make([]float64, len(transfers))
	for i, t := range transfers {
		times[i] = told[a.ranks[t[1]]].long
	}
	return times, nil
}

// ask returns what all ranks tell of a round; nil if the check is to end.
func (a *asker) ask(how byte, pairs [][2]int) ([]answer, error) {
	if a.stop || a.p.ctx.Err() != nil || a.s.Budget > 0 && a.p.now()-a.start > a.s.Budget.Seconds() {
		return nil, nil
	}
	round := binary.LittleEndian.AppendUint32([]byte{how}, uint32(a.s.Bytes))
	round = binary.LittleEndian.AppendUint32(round, uint32(a.s.Samples))
	for _, pair := range pairs {
		round = binary.LittleEndian.AppendUint32(round, uint32(a.ranks[pair[0]]))
		round = binary.LittleEndian.AppendUint32(round, uint32(a.ranks[pair[1]]))
	}
	if _, err := harness.Tell(a.p.comm, round); err != nil {
		return nil, failure{err}
	}
	told, err := a.p.round(round)
	if err != nil {
		return nil, failure{err}
	}
	a.stop = slices.ContainsFunc(told, func(t answer) bool { return t.cancelled })
	return told, nil
}

// participants are the rank of each host, and the hosts' names.
func participants(s *Settings, places []mpi.Place) ([]int, []string, error) {
	lowest := map[string]int{}
	var ranks []int
	var names []string
	for r, p := range places {
		if _, seen := lowest[p.Host]; !seen {
			lowest[p.Host] = r
			ranks, names = append(ranks, r), append(names, p.Host)
		}
	}
	if s.Graph == nil {
		return ranks, names, nil
	}
	ranks = ranks[:0]
	missing, taken := "", map[int]bool{}
	for h := range s.Graph.Hosts() {
		r, here := lowest[s.Graph.Name(h)]
		if !here || taken[r] {
			missing = s.Graph.Name(h)
			break
		}
		taken[r] = true
		ranks = append(ranks, r)
	}
	switch {
	case missing == "":
	case s.Graph.Hosts() != len(places):
		return nil, nil, fmt.Errorf("check: Settings.Graph: %d hosts, and %d ranks on %d: no rank is on its host %s, or a host of that name is there twice",
			s.Graph.Hosts(), len(places), len(names), missing)
	default: // names are not those of the graph's hosts: ranks are, in their order
		ranks = ranks[:0]
		for r := range places {
			ranks = append(ranks, r)
		}
	}
	return ranks, nil, nil
}

// A prober takes the readings of one rank.
type prober struct {
	ctx      context.Context
	comm     mpi.Communicator
	watch    *harness.Watch
	barrier  *harness.Barrier
	now      func() float64
	probe    *pingpong.Probe
	long     []byte
	sent     []byte       // under load: what is received is elsewhere
	requests mpi.Requests // under load
	word     []byte
}

// answer is what a rank tells of a round.
type answer struct {
	latency, long float64 // s; NaN: it had no part
	cancelled     bool
}

const (
	shortBytes   = 8 // of latencies, and of answers to long messages
	longSamples  = 3 // of long messages, of which the median counts: they vary little
	tagLong      = harness.FirstTag
	toldBytes    = 17
	wasCancelled = 1
)

// round takes part in a round, and returns on rank 0 what all ranks tell. It is collective.
func (p *prober) round(round []byte) ([]answer, error) {
	size, samples := int(binary.LittleEndian.Uint32(round[1:])), int(binary.LittleEndian.Uint32(round[5:]))
	to, from := -1, -1 // whom this rank sends to, and receives from
	for at := roundHead; at+perPair <= len(round); at += perPair {
		a, b := int(binary.LittleEndian.Uint32(round[at:])), int(binary.LittleEndian.Uint32(round[at+4:]))
		if p.comm.Rank() == a {
			to = b
		}
		if p.comm.Rank() == b {
			from = a
		}
	}
	p.watch.Next()
	var own answer
	var err error
	if round[0] == atOnce {
		own, err = p.loaded(to, from, size)
	} else {
		own, err = p.pair(max(to, from), to >= 0, size, samples)
	}
	if err != nil {
		return nil, err
	}
	own.cancelled = p.ctx.Err() != nil
	return p.gather(own)
}

// pair measures with a peer, in a direction of its own first, or waits for those that do if the peer is -1.
func (p *prober) pair(peer int, first bool, size, samples int) (answer, error) {
	if p.probe == nil && peer >= 0 {
		p.probe = pingpong.New(p.comm, shortBytes, samples)
		p.long = make([]byte, size)
	}
	own := answer{latency: math.NaN(), long: math.NaN()}
	if _, err := p.barrier.Wait(0); err != nil {
		return own, err
	}
	if peer >= 0 {
		p.watch.Wait(peer, harness.Measuring, 1)
		err := p.watch.Introduce(peer)
		if err != nil {
			return own, err
		}
		summary, err := p.probe.Pair(peer, shortBytes)
		if p.watch.Done(); err != nil {
			return own, err
		}
		own.latency = summary.Q1
	}
	for _, there := range []bool{true, false} {
		if _, err := p.barrier.Wait(0); err != nil {
			return own, err
		}
		if peer < 0 {
			continue
		}
		p.watch.Wait(peer, harness.Measuring, 1)
		t, err := p.stream(peer, first == there)
		if p.watch.Done(); err != nil {
			return own, err
		}
		if first == there {
			own.long = t
		}
	}
	return own, nil
}

// stream sends long messages or answers them, and returns the median of their times in s.
func (p *prober) stream(peer int, sending bool) (float64, error) {
	var times [longSamples]float64
	for i := range times {
		begun := p.now()
		if !sending {
			if err := p.comm.Recv(p.long, peer, tagLong); err != nil {
				return 0, err
			}
			if err := p.comm.Send(p.word, peer, tagLong); err != nil {
				return 0, err
			}
			continue
		}
		if err := p.comm.Send(p.long, peer, tagLong); err != nil {
			return 0, err
		}
		if err := p.comm.Recv(p.word, peer, tagLong); err != nil {
			return 0, err
		}
		times[i] = p.now() - begun
	}
	slices.Sort(times[:])
	return times[longSamples/2], nil
}

// gather collects what ranks tell, on rank 0.
func (p *prober) gather(own answer) ([]answer, error) {
	line := binary.LittleEndian.AppendUint64(nil, math.Float64bits(own.latency))
	line = binary.LittleEndian.AppendUint64(line, math.Float64bits(own.long))
	flags := byte(0)
	if own.cancelled {
		flags = wasCancelled
	}
	var all []answer
	err := p.watch.Gather(p.comm, append(line, flags), func(rank int, data []byte) error {
		if len(data) != toldBytes {
			return fmt.Errorf("check: rank %d tells %d bytes: want %d", rank, len(data), toldBytes)
		}
		all = append(all, answer{
			latency:   math.Float64frombits(binary.LittleEndian.Uint64(data)),
			long:      math.Float64frombits(binary.LittleEndian.Uint64(data[8:])),
			cancelled: data[16] == wasCancelled,
		})
		return nil
	})
	return all, err
}
