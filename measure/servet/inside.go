package servet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// InsideSettings are those of Memory and Caches. Nil and the zero value mean all defaults.
// Those of rank 0 count; other ranks may pass nil.
type InsideSettings struct {
	harness.Control // Progress counts the steps of the part under way: Caches has three

	// Bytes is, for Memory, the size of each of the two buffers of a rank in B, and for Caches the largest working
	// set; whole cache lines of 64 B are used. Default: twice the last cache that the operating system tells of, at most 256 MiB, and
	// 64 MiB if it tells of none; less for Memory where a host's ranks would need more than a quarter of the free
	// memory.
	Bytes int

	// Repetitions of all steps. Default 3.
	Repetitions int

	// worker makes that of a rank in tests, which walks or copies; nil: the real thing.
	worker func(rank int, walks bool) worker
}

const insideRepetitions = 3 // the median passes over a disturbed one; the steps are many

// An InsideResult is what Memory or Caches has measured. Bandwidths are of bytes that are read and written, as STREAM's
// copy counts them (McCalpin 1995), in B/s; NaN where nothing was measured.
type InsideResult struct {
	Kind      string // KindMemory or KindCache
	Bytes     int    // B, of each buffer, or of the largest working set: of larger caches nothing is known
	Resources []model.Resource
	Stopped   harness.Stopped // "" if all was measured
	Took      float64         // s
	Warnings  []string

	// Of KindMemory.
	Alone    []float64 // B/s, of each rank
	Together []float64 // B/s, of each rank while all of its host copy

	// Of KindCache.
	Sizes  []int       // of working sets in B, ascending
	Access [][]float64 // of the first rank of each host, by size: s per access, alone

	hosts  [][]int // ranks, by core
	values values  // all that was measured
}

// A stress is what a rank does in a step, and what a value is of.
type stress struct {
	part  int // of the measurement: partAlone and so on
	bytes int // of the working set, or of each buffer
	rank  int
	peer  int // the other rank of a pair; else the rank itself
}

// The parts of a measurement.
const (
	partAlone    = iota // one rank
	partPair            // two
	partTogether        // all of a host
	partCurve           // one of each host, through working sets of all sizes
	numParts
)

// activeIn are the steps of a part on a host: pairs of ranks that are at work at once. One that works by itself is
// a pair with itself.
func activeIn(part int, ranks []int) (steps [][][2]int) {
	var all [][2]int
	for _, rank := range ranks {
		all = append(all, [2]int{rank, rank})
	}
	switch part {
	case partTogether:
		return [][][2]int{all}
	case partPair:
		all = pairsOf(ranks)
	case partCurve:
		all = all[:1]
	}
	return slices.Collect(slices.Chunk(all, 1))
}

// Tasks of pairs: in whole cache lines how much a rank uses, the part, and whether it measures or
// warms up. Task 0 asks for the last cache and the room that there is.
const (
	askForRoom = 0
	measuring  = 1 // more than warming up
)

func taskOf(part, bytes int) int { return 2 * (bytes/lineBytes*numParts + part) }

// stressOf is what a task tells a rank to do.
func stressOf(task, rank, peer int) stress {
	return stress{task / 2 % numParts, task / 2 / numParts * lineBytes, rank, peer}
}

// A worker is what a rank can do.
type worker interface {
	// warmUp makes everything ready: caches hold what they can.
	warmUp(s stress) error

	// measure returns the seconds that one access of a walk takes, or the bytes per second that
	// copying reads and writes.
	measure(s stress) (float64, error)

	close() error
}

// An insideRun is a rank's side of what is measured inside hosts: the same number of steps on all of
// them at once, which do not disturb each other.
type insideRun struct {
	*harness.Conductor
	worker

	// Of rank 0.
	settings InsideSettings
	places   []mpi.Place
	hosts    [][]int // ranks of each, by core
	play     harness.PlayPairs
}

// inside calls lead on rank 0, and lets all ranks take part in its steps, walking or copying. It is collective.
func inside(ctx context.Context, comm mpi.Communicator, settings *InsideSettings, walks bool, lead func(*insideRun) (*InsideResult, error)) (*InsideResult, error) {
	r := &insideRun{settings: *cmp.Or(settings, &InsideSettings{})}
	s := &r.settings
	return together(ctx, comm, s.Silence, func(c *harness.Conductor, places []mpi.Place) ([]int, error) {
		if s.worker == nil && c.IsVirtual {
			return nil, errors.New("servet: simulated hosts have no memory and no caches to measure")
		}
		r.places = places
		r.hosts, _ = ranksOf(places, nil, 0)
		return slotsOf(r.hosts, places), limits.Fill("servet: InsideSettings",
			limits.Of("Bytes", &s.Bytes, 0, 0, maxBytes),
			limits.Of("Repetitions", &s.Repetitions, insideRepetitions, 1, maxRepetitions))
	}, func(c *harness.Conductor, slots []int) (result *InsideResult, err error) {
		rank := c.Comm.Rank()
		r.Conductor, r.worker = c, newHardware(rank, slots[rank], walks)
		if s.worker != nil {
			r.worker = s.worker(rank, walks)
		}
		err = c.LeadPairs(s.Budget, r.exchange, func(play harness.PlayPairs) (err error) {
			r.play = play
			if result, err = lead(r); err != nil {
				return err
			}
			result.Stopped, result.Took, result.hosts = c.Stopped(), c.Elapsed(), r.hosts
			result.Warnings = append(result.conclude(), insideWarnings(r.places)...) // what was not measured comes first
			return nil
		})
		if closing := r.close(); err == nil && closing != nil {
			err = fmt.Errorf("rank %d: %w", rank, closing)
		}
		return result, err
	})
}

// slotsOf numbers the ranks of each host that may use the same CPUs.
func slotsOf(hosts [][]int, places []mpi.Place) []int {
	slots := make([]int, len(places))
	for _, ranks := range hosts {
		next := make(map[string]int)
		for _, rank := range ranks {
			cpus := fmt.Sprint(places[rank].CPUs)
			slots[rank] = next[cpus]
			next[cpus]++
		}
	}
	return slots
}

// chooseBytes is the size of the settings. If they have none, it is what pick makes of the
// largest last cache and the least room of all ranks.
func (r *insideRun) chooseBytes(pick func(last, room int) int) (int, error) {
	bytes := r.settings.Bytes
	if bytes == 0 {
		var all []harness.Pair
		sharers := make([]int, len(r.places)) // of the memory of a rank's host
		for _, ranks := range r.hosts {
			for _, rank := range ranks {
				all = append(all, harness.Pair{A: rank, B: rank, Task: askForRoom})
				sharers[rank] = len(ranks)
			}
		}
		rows, err := r.play([][]harness.Pair{all}, nil)
		if err != nil {
			return 0, err
		}
		last, room := 0, math.MaxInt
		for _, row := range rows {
			last, room = max(last, int(row.Values[0])), min(room, int(row.Values[1])/sharers[row.From])
		}
		bytes = pick(cmp.Or(last, usualLast), room)
	}
	return max(bytes/lineBytes, 1) * lineBytes, nil
}

// run takes the steps of parts with sizes in B, as often as there are repetitions, and adds what each active rank has
// measured. All active ranks warm up together, and then measure together: nobody warms up while others measure.
func (r *insideRun) run(v values, parts, sizes []int) error {
	var steps [][]harness.Pair // each twice
	for _, ranks := range r.hosts {
		at := 0
		for _, part := range parts {
			for _, bytes := range sizes {
				for _, active := range activeIn(part, ranks) {
					if at == len(steps) {
						steps = append(steps, nil, nil)
					}
					for _, p := range active {
						warm := harness.Pair{A: p[0], B: p[1], Task: taskOf(part, bytes)}
						measured := warm
						measured.Task += measuring
						steps[at], steps[at+1] = append(steps[at], warm), append(steps[at+1], measured)
					}
					at += 2
				}
			}
		}
	}
	progress, done, total := r.settings.Steps("steps"), 0, r.settings.Repetitions*len(steps)/2
	atOnce := 2 * max(1, mostTold/len(r.places))
	for range r.settings.Repetitions {
		for batch := range slices.Chunk(steps, atOnce) {
			rows, err := r.play(batch, func(rounds int) {
				if rounds%2 == 0 {
					done++
					progress(done, total)
				}
			})
			if err != nil {
				return err
			}
			for _, row := range rows {
				s := stressOf(int(row.Values[0]), row.From, row.To)
				v[s] = append(v[s], row.Values[1])
			}
		}
	}
	return nil
}

// mostTold bounds the steps of a batch times the ranks: all ranks are told of the pairs of both rounds of a step, in 200 KB.
const mostTold = 1 << 13

// values are those of all repetitions, s per access or B/s.
type values map[stress][]float64

// median is that over the repetitions; NaN if nothing was measured.
func (v values) median(part, bytes, rank, peer int) float64 {
	return stats.MiddleMedian(slices.Clone(v[stress{part, bytes, rank, peer}]))
}

// exchange is what this rank does in a step. What the worker fails at stops all ranks at the next one.
func (r *insideRun) exchange(found []float64, peer int, _ bool, task int) ([]float64, error) {
	if task == askForRoom {
		return append(found, float64(lastCache()), float64(freeMemory()/roomShare)), nil
	}
	s := stressOf(task, r.Comm.Rank(), peer)
	if task%2 != measuring {
		r.Fail(r.warmUp(s))
		return found, nil
	}
	value, err := r.measure(s)
	r.Fail(err)
	return append(found, float64(task), value), nil
}

// conclude makes the rest of the result of the measurements, and returns what is uncertain about it.
func (r *InsideResult) conclude() (warnings []string) {
	if r.Kind == KindMemory {
		return r.concludeMemory()
	}
	return r.concludeCaches()
}

// insideWarnings are of ranks that have no core of their own.
func insideWarnings(places []mpi.Place) []string {
	warnings := oversubscribed(places)
	unbound := 0
	for _, p := range places {
		if p.Core < 0 {
			unbound++
		}
	}
	if unbound > 0 {
		warnings = append(warnings, fmt.Sprintf("%d ranks are bound to no single CPU: what they share holds for the CPUs to which they were bound while it was measured", unbound))
	}
	return warnings
}
