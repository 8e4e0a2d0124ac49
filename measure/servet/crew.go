package servet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// InsideSettings are those of Memory and Caches. Nil and the zero value mean all defaults.
// Those of rank 0 count; other ranks may pass nil.
type InsideSettings struct {
	harness.Control // Progress counts the steps of the part under way: Caches has three

	// Bytes is, for Memory, the size of each of the two buffers of a rank in B, and for Caches the largest working
	// set. Default: twice the last cache that the operating system tells of, at most 256 MiB, and
	// 64 MiB if it tells of none; less for Memory where a host's ranks would need more than a quarter of the free
	// memory.
	Bytes int

	// Repetitions of all steps. Default 3.
	Repetitions int

	// worker makes that of a rank in tests; nil: the real thing.
	worker func(rank int) worker
}

const insideRepetitions = 3 // the median passes over a disturbed one; the steps are many

// A stress is what some ranks of one host do at once.
type stress struct {
	Active []int // ranks
	Bytes  int   // of the working set, or of each buffer
	Walk   bool  // through a working set, else copying
	Part   int   // of the measurement: partAlone and so on
}

// The parts of a measurement.
const (
	partAlone    = iota // one rank
	partPair            // two
	partTogether        // all of a host
	partCurve           // one of each host, through working sets of all sizes
	numParts
)

// A key is what a value is of.
type key struct {
	part  int
	bytes int
	rank  int // which has measured it
	other int // of a pair; else the rank itself
}

func (s *stress) key(rank int) key {
	k := key{s.Part, s.Bytes, rank, rank}
	if s.Part == partPair {
		k.other = s.Active[0] + s.Active[1] - rank
	}
	return k
}

// A reading is a value of one repetition: s per access, or B/s.
type reading struct {
	repetition int
	key
	value float64
}

type readings []reading

// medians are those over the repetitions. The function returns NaN for what was not measured.
func (r readings) medians() func(key) float64 {
	all := make(map[key][]float64)
	for i := range r {
		all[r[i].key] = append(all[r[i].key], r[i].value)
	}
	return func(k key) float64 { return stats.MiddleMedian(slices.Clone(all[k])) }
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

// An insideRound is what all ranks do in a round: for each part and size, what the ranks of a host do
// one after the other. Hosts are at work at once. Without parts, ranks tell what caches and memory they have.
type insideRound struct {
	Parts []int `json:"parts"`
	Sizes []int `json:"sizes_B"`
	Walk  bool  `json:"walk"`
}

// steps are those of the ranks of one host.
func (r *insideRound) steps(ranks []int) []stress {
	var steps []stress
	add := func(part, bytes int, active ...int) { steps = append(steps, stress{active, bytes, r.Walk, part}) }
	for _, part := range r.Parts {
		for _, size := range r.Sizes {
			switch part {
			case partCurve:
				add(part, size, ranks[0])
			case partAlone:
				for _, rank := range ranks {
					add(part, size, rank)
				}
			case partPair:
				for _, pair := range pairsOf(ranks) {
					add(part, size, pair[:]...)
				}
			case partTogether:
				add(part, size, ranks...)
			}
		}
	}
	return steps
}

// An insidePlan is what all ranks need, as it travels.
type insidePlan struct {
	Ranks       [][]int `json:"ranks"` // of each host, by core
	Repetitions int     `json:"repetitions"`
	Slots       []int   `json:"slots"` // of each rank, which of the CPUs that it may use, if it may use several
}

// A crew is one rank's side of what is measured inside hosts: the same number of steps on all of
// them at once, which do not disturb each other.
type crew struct {
	*harness.Conductor
	insidePlan
	own      []int // ranks of this rank's host
	bytes    int   // InsideSettings.Bytes, on rank 0
	play     harness.Play
	worker   worker
	make     func(rank int) worker // nil: the real thing
	progress func(done, of int)    // does nothing but on rank 0
}

// inside calls lead on rank 0, with the places of all ranks, and lets all ranks take part in its rounds. It is collective.
func inside[R any](ctx context.Context, comm mpi.Communicator, settings *InsideSettings, lead func(*crew, []mpi.Place) (R, error)) (R, error) {
	s := *cmp.Or(settings, &InsideSettings{})
	var places []mpi.Place // on rank 0
	return together(ctx, comm, s.Silence, func(_ *harness.Conductor, all []mpi.Place) (p insidePlan, err error) {
		places = all
		p.Repetitions = cmp.Or(s.Repetitions, insideRepetitions)
		p.Ranks, _ = ranksOf(places, nil, 0)
		p.Slots = slotsOf(p.Ranks, places)
		return p, validate("InsideSettings", s.Bytes, s.Repetitions, s.Budget)
	}, func(conductor *harness.Conductor, p insidePlan) (result R, err error) {
		c := &crew{Conductor: conductor, insidePlan: p, bytes: s.Bytes, make: s.worker, progress: func(int, int) {}}
		for _, ranks := range p.Ranks {
			if slices.Contains(ranks, c.Comm.Rank()) {
				c.own = ranks
			}
		}
		if c.Comm.Rank() == 0 {
			c.progress = s.Steps("steps")
		}
		err = c.Lead(s.Budget, c.act, func(play harness.Play) (err error) {
			c.play = play
			result, err = lead(c, places)
			return err
		})
		if c.worker != nil {
			if closing := c.worker.close(); err == nil && closing != nil {
				err = fmt.Errorf("rank %d: %w", c.Comm.Rank(), closing)
			}
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

// ready makes the worker of this rank.
func (c *crew) ready() error {
	switch {
	case c.worker != nil:
	case c.make != nil:
		c.worker = c.make(c.Comm.Rank())
	default:
		h, err := newHardware(c.Comm, c.Slots[c.Comm.Rank()])
		if err != nil {
			return err
		}
		c.worker = h
	}
	return nil
}

// act takes the steps of the ranks of each host, as often as there are repetitions, until all ranks stop. It returns what
// this rank has measured in each step of its host; NaN: nothing.
func (c *crew) act(data []byte) ([]float64, error) {
	c.Fail(c.ready())
	var round insideRound
	if err := json.Unmarshal(data, &round); err != nil {
		return nil, err
	}
	if round.Parts == nil {
		return c.equipment(), nil
	}
	longest := 0
	for _, ranks := range c.Ranks {
		longest = max(longest, len(round.steps(ranks)))
	}
	own := round.steps(c.own)
	values := slices.Repeat([]float64{math.NaN()}, c.Repetitions*len(own))
	for done := range c.Repetitions * longest {
		repetition, k := done/longest, done%longest
		var part *stress
		var value *float64
		if k < len(own) && slices.Contains(own[k].Active, c.Comm.Rank()) {
			part, value = &own[k], &values[repetition*len(own)+k]
		}
		if going, err := c.step(part, value); err != nil || !going {
			return values, err
		}
		c.progress(done+1, c.Repetitions*longest)
	}
	return values, nil
}

// step is one step: the active ranks warm up together, and then measure together; the others have no own part. There is a
// barrier before each, as others may be active in the next step, who must not warm up while these measure. What the worker
// fails at stops all ranks at the next one.
func (c *crew) step(own *stress, value *float64) (going bool, err error) {
	if going, err = c.Meet(); err != nil || !going {
		return going, err
	}
	if own != nil {
		c.Fail(c.worker.warmUp(*own))
	}
	if going, err = c.Meet(); err != nil || !going || own == nil {
		return going, err
	}
	*value, err = c.worker.measure(*own)
	c.Fail(err)
	return true, nil
}

// run plays a round, and returns what each active rank has measured. Rank 0 calls it.
func (c *crew) run(round insideRound) (readings, error) {
	found, err := c.tell(round)
	if err != nil {
		return nil, err
	}
	var all readings
	for _, ranks := range c.Ranks {
		steps := round.steps(ranks)
		for _, rank := range ranks {
			for i, v := range found[rank] {
				if !math.IsNaN(v) {
					all = append(all, reading{i / len(steps), steps[i%len(steps)].key(rank), v})
				}
			}
		}
	}
	return all, nil
}

func (c *crew) tell(round insideRound) ([][]float64, error) {
	data, err := json.Marshal(&round)
	if err != nil {
		return nil, err
	}
	return c.play(data)
}
