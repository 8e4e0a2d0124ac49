package servet

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// InsideSettings are those of Memory and Caches. Nil and the zero value mean all defaults.
// Those of rank 0 count; other ranks may pass nil.
type InsideSettings struct {
	// Bytes is, for Memory, the size of each of the two buffers of a rank in B, and for Caches the largest working
	// set. Default: twice the last cache that the operating system tells of, at most 256 MiB, and
	// 64 MiB if it tells of none; less for Memory where a host's ranks would need more than a quarter of the free
	// memory.
	Bytes int

	// Repetitions of all steps. Default 3.
	Repetitions int

	// Budget bounds the time to measure, by the clock of the communicator. Default 0: no bound.
	Budget time.Duration

	// Silence is how long a rank waits for another one before the job is ended with a
	// harness.SilentError instead of waiting for good, see harness.Settings. Default 5
	// minutes.
	Silence time.Duration

	// Progress is called on rank 0 after every step of a repetition with how many are done, of how many
	// in the part under way: Caches has three.
	Progress func(done, of int)

	// worker makes that of a rank in tests; nil: the real thing.
	worker func(rank int) worker
}

const insideRepetitions = 3 // the median passes over a disturbed one; the steps are many

func (s *InsideSettings) validate() error {
	switch {
	case s.Bytes < 0 || s.Bytes > maxBytes:
		return fmt.Errorf("servet: InsideSettings.Bytes: %d B: want in [0, %d]", s.Bytes, maxBytes)
	case s.Repetitions < 0 || s.Repetitions > maxRepetitions:
		return fmt.Errorf("servet: InsideSettings.Repetitions: %d: want in [0, %d]", s.Repetitions, maxRepetitions)
	case s.Budget < 0:
		return fmt.Errorf("servet: InsideSettings.Budget: %v: want at least 0", s.Budget)
	}
	return nil
}

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

// A crew is one rank's side of what is measured inside hosts: the same number of steps on all of
// them at once, which do not disturb each other.
type crew struct {
	comm        mpi.Communicator
	watch       *harness.Watch
	pace        *pacer
	worker      worker
	ranks       [][]int // of each host, by core
	repetitions int
	word        byte // why it has stopped
	progress    func(done, of int)
}

// An insidePlan is what all ranks need, as it travels.
type insidePlan struct {
	Error       string  `json:"error,omitempty"`
	Ranks       [][]int `json:"ranks"`
	Bytes       int     `json:"bytes"`
	Repetitions int     `json:"repetitions"`
	Slots       []int   `json:"slots"` // of each rank, which of the CPUs that it may use, if it may use several
}

// inside runs work with a crew on all ranks. The places are those of all ranks on rank 0. It is collective.
func inside(ctx context.Context, comm mpi.Communicator, settings *InsideSettings, work func(*crew, *insidePlan, []mpi.Place) error) error {
	var s InsideSettings
	if settings != nil {
		s = *settings
	}
	return harness.OnWatchedDuplicate(comm, s.Silence, func(own mpi.Communicator, watch *harness.Watch) error {
		return insideUnder(ctx, own, watch, &s, work)
	})
}

// insideUnder is inside on a communicator of its own.
func insideUnder(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, s *InsideSettings, work func(*crew, *insidePlan, []mpi.Place) error) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return err
	}
	var p insidePlan
	if comm.Rank() == 0 {
		if err := s.validate(); err != nil {
			p.Error = err.Error()
		}
		p.Bytes, p.Repetitions = s.Bytes, s.Repetitions
		if p.Repetitions == 0 {
			p.Repetitions = insideRepetitions
		}
		p.Ranks, _ = ranksOf(places, nil, 0)
		p.Slots = slotsOf(p.Ranks, places)
	}
	if err := tell(comm, watch, &p); err != nil {
		return err
	}
	if p.Error != "" {
		return errors.New(p.Error)
	}
	c := &crew{comm: comm, watch: watch, ranks: p.Ranks, repetitions: p.Repetitions, pace: newPacer(ctx, comm, watch), progress: s.Progress}
	if comm.Rank() == 0 {
		c.pace.budget = s.Budget.Seconds()
	}
	var failed error
	if s.worker != nil {
		c.worker = s.worker(comm.Rank())
	} else if h, err := newHardware(comm, p.Slots[comm.Rank()]); err == nil {
		c.worker = h
	} else {
		failed = err
	}
	if err = c.agree(failed); err == nil {
		err = work(c, &p, places)
	}
	if c.worker != nil {
		if closing := c.worker.close(); err == nil && closing != nil {
			err = fmt.Errorf("rank %d: %w", comm.Rank(), closing)
		}
	}
	if err != nil {
		return fmt.Errorf("servet: %w", err)
	}
	return nil
}

// agree makes the error of any rank, the lowest that has one, one of all ranks. It is collective.
func (c *crew) agree(failed error) error {
	var text []byte
	if failed != nil {
		text = fmt.Appendf(nil, "rank %d: %v", c.comm.Rank(), failed)
	}
	var first string
	err := c.watch.Gather(c.comm, text, func(_ int, text []byte) error {
		first = cmp.Or(first, string(text))
		return nil
	})
	if err == nil {
		err = tell(c.comm, c.watch, &first)
	}
	if err == nil && first != "" {
		err = errors.New(first)
	}
	return err
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

// tell gives what rank 0 has to all ranks. It is collective.
func tell(comm mpi.Communicator, watch *harness.Watch, what any) error {
	var data []byte
	if comm.Rank() == 0 {
		var err error
		if data, err = json.Marshal(what); err != nil {
			return fmt.Errorf("servet: sharing the plan: %w", err)
		}
	}
	data, err := watch.Tell(comm, data)
	if err != nil {
		return fmt.Errorf("servet: sharing the plan: %w", err)
	}
	if comm.Rank() != 0 {
		if err := json.Unmarshal(data, what); err != nil {
			return fmt.Errorf("servet: sharing the plan: rank %d: %w", comm.Rank(), err)
		}
	}
	return nil
}

// run takes the steps that the ranks of each host have, as often as there are repetitions, and
// returns what each active rank has measured, nil on other ranks than 0. Once stopped it takes no more
// steps. It is collective.
func (c *crew) run(steps func(ranks []int) []stress) (readings, error) {
	var own []stress
	longest := 0
	for _, ranks := range c.ranks {
		of := steps(ranks)
		longest = max(longest, len(of))
		if slices.Contains(ranks, c.comm.Rank()) {
			own = of
		}
	}
	values := make([]float64, c.repetitions*len(own))
	for i := range values {
		values[i] = math.NaN()
	}
	for r := 0; r < c.repetitions && c.word == goOn; r++ {
		for k := 0; k < longest && c.word == goOn; k++ {
			if err := c.step(own, k, values[r*len(own):]); err != nil {
				return nil, err
			}
			if c.progress != nil && c.comm.Rank() == 0 {
				c.progress(r*longest+k+1, c.repetitions*longest)
			}
		}
	}
	if err := c.agree(c.pace.failed); err != nil {
		return nil, err
	}
	return c.gather(steps, values)
}

// step is one step: the active ranks warm up together, and then measure together. There is a barrier before each, as
// others may be active in the next step, who must not warm up while these measure. What the worker fails at stops all ranks at the next one.
func (c *crew) step(own []stress, k int, values []float64) error {
	active := k < len(own) && slices.Contains(own[k].Active, c.comm.Rank())
	var err error
	if c.word, err = c.pace.next(); err != nil || c.word != goOn {
		return err
	}
	if active {
		c.pace.failed = c.worker.warmUp(own[k])
	}
	if c.word, err = c.pace.next(); err != nil || c.word != goOn || !active {
		return err
	}
	values[k], c.pace.failed = c.worker.measure(own[k])
	return nil
}

// gather brings the values of all ranks to rank 0. It is collective.
func (c *crew) gather(steps func(ranks []int) []stress, values []float64) (readings, error) {
	var all readings
	var lists [][]stress // of each host
	hostOf := make(map[int]int)
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	if c.comm.Rank() == 0 {
		for h, ranks := range c.ranks {
			lists = append(lists, steps(ranks))
			for _, rank := range ranks {
				hostOf[rank] = h
			}
		}
	}
	err := c.watch.Gather(c.comm, data, func(rank int, data []byte) error {
		list := lists[hostOf[rank]]
		if len(data) != 8*len(list)*c.repetitions {
			return fmt.Errorf("rank %d sends %d bytes of values", rank, len(data))
		}
		for i := 0; len(data) > 0; i++ {
			v := math.Float64frombits(binary.LittleEndian.Uint64(data))
			data = data[8:]
			if s := list[i%len(list)]; !math.IsNaN(v) {
				all = append(all, reading{i / len(list), s.key(rank), v})
			}
		}
		return nil
	})
	return all, err
}

// pairsOf lists all pairs of ranks, those that are near by core first: they share most.
func pairsOf(ranks []int) [][2]int {
	var pairs [][2]int
	for apart := 1; apart < len(ranks); apart++ {
		for i := range len(ranks) - apart {
			pairs = append(pairs, [2]int{ranks[i], ranks[i+apart]})
		}
	}
	return pairs
}

// joined are the groups of ranks that pairs join, of two ranks and more, and how many pairs
// within them are measured and do not share.
func joined(ranks []int, pairs [][2]int, shared func(pair int) (shares, measured bool)) (groups [][]int, against int) {
	group := make(map[int]int) // rank -> the first rank of its group
	for _, rank := range ranks {
		group[rank] = rank
	}
	for i, p := range pairs {
		if yes, known := shared(i); yes && known {
			a, b := group[p[0]], group[p[1]]
			for _, rank := range ranks {
				if group[rank] == b {
					group[rank] = a
				}
			}
		}
	}
	members := make(map[int][]int)
	for _, rank := range ranks {
		members[group[rank]] = append(members[group[rank]], rank)
	}
	for _, rank := range ranks {
		if g := members[rank]; len(g) >= 2 {
			groups = append(groups, slices.Sorted(slices.Values(g)))
		}
	}
	for i, p := range pairs {
		if yes, known := shared(i); known && !yes && group[p[0]] == group[p[1]] {
			against++
		}
	}
	return groups, against
}
