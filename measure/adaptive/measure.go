package adaptive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// Tags of our messages.
const tagReading = harness.FirstTag

// Words of the barrier of all ranks before a round. The greatest counts.
const (
	goOn byte = iota
	stopBudget
	stopContext
)

// Measure works out the wiring of the ranks of a job from the latencies of few pairs: it is Explore with the ranks as
// oracle. It is collective; the settings of rank 0 count. Others than rank 0 get nil.
//
// Rank 0 plans. Each round costs a message of 8 bytes per pair to all ranks, a barrier, and one of 8 bytes
// from each pair to rank 0. A reading is the lower quartile of samples of half the round trip, in the faster
// direction. The end of the context, on any rank, or of the budget ends the measurement after the round
// under way; the result is then made of what there is, and an error if that is nothing. An error of rank 0 is one
// on all ranks. The garbage collector of the process is off while rounds are measured.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	var r *Result
	err := harness.OnWatchedDuplicate(comm, s.Silence, func(own mpi.Communicator, w *harness.Watch) (err error) {
		r, err = run(ctx, own, w, &s)
		return err
	})
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	return r, nil
}

// plan is what all ranks need of the settings.
type plan struct {
	Bytes   int `json:"bytes"`
	Samples int `json:"samples"`
}

// sharePlan is the plan of rank 0 on all ranks, or why there is none. It is collective.
func sharePlan(comm mpi.Communicator, s *Settings) (plan, error) {
	var err error
	if comm.Rank() == 0 {
		err = s.validate(comm.Size())
	}
	if err = harness.Agree(comm, err); err != nil {
		return plan{}, err
	}
	var p plan
	var data []byte
	if comm.Rank() == 0 {
		p = plan{Bytes: s.Bytes, Samples: s.Samples}
		if p.Bytes == 0 {
			p.Bytes = defaultBytes
		}
		if p.Samples == 0 {
			p.Samples = defaultSamples
		}
		if data, err = json.Marshal(&p); err != nil {
			return plan{}, fmt.Errorf("adaptive: sharing the settings: %w", err)
		}
	}
	if data, err = harness.Tell(comm, data); err != nil {
		return plan{}, fmt.Errorf("adaptive: sharing the settings: %w", err)
	}
	if err = json.Unmarshal(data, &p); err != nil {
		return plan{}, fmt.Errorf("adaptive: sharing the settings: %w", err)
	}
	return p, nil
}

func run(ctx context.Context, comm mpi.Communicator, watch *harness.Watch, s *Settings) (*Result, error) {
	now := harness.Clock(comm)
	start := now()
	p, err := sharePlan(comm, s)
	if err != nil {
		return nil, err
	}
	labels, order, err := nameHints(comm)
	if err != nil {
		return nil, fmt.Errorf("adaptive: names of the hosts: %w", err)
	}
	defer harness.PauseCollector()()
	w := &worker{ctx: ctx, comm: comm, plan: p, probe: pingpong.New(comm, p.Bytes, p.Samples), all: harness.NewBarrier(comm).Under(watch), watch: watch}
	if peer := comm.Rank() ^ 1; peer < comm.Size() {
		watch.Wait(peer, harness.Measuring, 1)
		err := w.probe.WarmUp(peer, []int{p.Bytes})
		if watch.Done(); err != nil {
			return nil, fmt.Errorf("adaptive: rank %d: warming up: %w", comm.Rank(), err)
		}
	}
	if comm.Rank() != 0 {
		if err := w.serve(); err != nil {
			return nil, fmt.Errorf("adaptive: rank %d: %w", comm.Rank(), err)
		}
		return nil, harness.Agree(comm, nil)
	}
	if !s.NoHints {
		if s.Hints == nil {
			s.Hints = labels
		}
		if s.Order == nil {
			s.Order = order
		}
	}
	o := &ranks{worker: w, progress: s.Progress}
	w.over = func() bool { return s.Budget > 0 && now()-start >= s.Budget.Seconds() }
	r, err := Explore(comm.Size(), o, s)
	if o.failed != nil { // the communicator is unusable
		return nil, fmt.Errorf("adaptive: rank 0: %w", o.failed)
	}
	if errors.Is(err, ErrStop) && o.stopped == harness.StoppedByBudget {
		err = fmt.Errorf("%w: give it a larger budget", err)
	}
	if _, tellErr := harness.Tell(comm, nil); tellErr != nil { // no more rounds
		return nil, fmt.Errorf("adaptive: rank 0: at the end: %w", tellErr)
	}
	if err = harness.Agree(comm, err); err != nil {
		return nil, err
	}
	r.Bytes, r.Stopped = p.Bytes, o.stopped
	if timed, ok := comm.(mpi.Timed); ok && w.probe.Timed() {
		_, r.CallCost = timed.CallCosts()
	}
	if text := r.callWarning(); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
	return r, nil
}

// A worker is a rank that takes part in rounds.
type worker struct {
	ctx   context.Context
	comm  mpi.Communicator
	plan  plan
	probe *pingpong.Probe
	all   *harness.Barrier
	watch *harness.Watch
	over  func() bool // the budget is used up; on rank 0
}

// serve takes part in the rounds that rank 0 tells of, until it tells of none.
func (w *worker) serve() error {
	for {
		data, err := w.watch.Tell(w.comm, nil)
		if err != nil || len(data) == 0 {
			return err
		}
		if _, err := w.round(data); err != nil {
			return err
		}
	}
}

// begin waits for all ranks, and tells why they stop, if they do.
func (w *worker) begin() (byte, error) {
	word := goOn
	switch {
	case w.ctx.Err() != nil:
		word = stopContext
	case w.over != nil && w.over():
		word = stopBudget
	}
	return w.all.Wait(word)
}

// round is one round of the pairs in data, on any rank. The lower quartiles of a pair's two directions meet at its first rank, which
// sends the lower to rank 0. The word is that of all ranks: if it is not goOn nothing was measured.
func (w *worker) round(data []byte) (word byte, err error) {
	w.watch.Next()
	if word, err = w.begin(); err != nil || word != goOn {
		return word, err
	}
	defer w.watch.Done()
	self := w.comm.Rank()
	for at := 0; at < len(data); at += pairBytes {
		a, b := pairOf(data[at:])
		if a != self && b != self {
			continue
		}
		peer := a + b - self
		w.watch.Wait(peer, harness.Measuring, 1)
		if err := w.watch.Introduce(peer); err != nil {
			return word, fmt.Errorf("exchange with rank %d: %w", peer, err)
		}
		reading, err := w.probe.Pair(peer, w.plan.Bytes)
		if err != nil {
			return word, fmt.Errorf("exchange with rank %d: %w", peer, err)
		}
		buf := make([]byte, 8)
		if self == b {
			binary.LittleEndian.PutUint64(buf, math.Float64bits(reading.Q1))
			return word, w.comm.Send(buf, a, tagReading)
		}
		if err := w.comm.Recv(buf, b, tagReading); err != nil {
			return word, err
		}
		// Of a clock that stands still neither tells anything.
		low := min(reading.Q1, math.Float64frombits(binary.LittleEndian.Uint64(buf)))
		if self == 0 {
			binary.LittleEndian.PutUint64(data[at:], math.Float64bits(low))
			return word, nil
		}
		binary.LittleEndian.PutUint64(buf, math.Float64bits(low))
		return word, w.comm.Send(buf, 0, tagReading)
	}
	return word, nil
}

const pairBytes = 8 // two ranks of four

func pairOf(data []byte) (a, b int) {
	return int(binary.LittleEndian.Uint32(data)), int(binary.LittleEndian.Uint32(data[4:]))
}

// ranks is the Oracle of rank 0.
type ranks struct {
	*worker
	progress         func(rounds, readings int)
	rounds, readings int
	stopped          string
	failed           error // of the communicator
}

// Read is one round.
func (o *ranks) Read(dst []float64, pairs []Pair) error {
	data := make([]byte, 0, pairBytes*len(pairs))
	for _, p := range pairs {
		a, b := min(p.A, p.B), max(p.A, p.B) // rank 0 is the first of its pair
		data = binary.LittleEndian.AppendUint32(data, uint32(a))
		data = binary.LittleEndian.AppendUint32(data, uint32(b))
	}
	if len(data) == 0 {
		return nil
	}
	if _, o.failed = harness.Tell(o.comm, data); o.failed != nil {
		return o.failed
	}
	own := slices.Clone(data)
	word, err := o.round(own)
	if err != nil {
		o.failed = err
		return err
	}
	if word != goOn {
		o.stopped = harness.StoppedByBudget
		if word == stopContext {
			o.stopped = harness.StoppedByContext
		}
		return ErrStop
	}
	buf := make([]byte, 8)
	defer o.watch.Done()
	for k := range pairs {
		a, _ := pairOf(data[k*pairBytes:])
		o.watch.Wait(a, harness.Delivering, harness.ReportLimits)
		if a == 0 {
			copy(buf, own[k*pairBytes:])
		} else if o.failed = o.comm.Recv(buf, a, tagReading); o.failed != nil {
			return o.failed
		}
		dst[k] = math.Float64frombits(binary.LittleEndian.Uint64(buf))
	}
	o.rounds++
	o.readings += len(pairs)
	if o.progress != nil {
		o.progress(o.rounds, o.readings)
	}
	return nil
}

// nameHints are what the processor names of the ranks say, on rank 0: which ranks share one, nil where no two do, and the order of
// the names, by their numbers (n2 before n10), nil where they are not told or all the same. It is collective.
func nameHints(comm mpi.Communicator) (labels, order []int, err error) {
	var name []byte
	if placed, ok := comm.(mpi.Placed); ok {
		name = []byte(placed.Place().Host)
	}
	names := make([]string, comm.Size())
	err = harness.Gather(comm, name, func(rank int, data []byte) error {
		names[rank] = string(data)
		return nil
	})
	if err != nil || comm.Rank() != 0 {
		return nil, nil, err
	}
	labels, order = hintsOf(names)
	return labels, order, nil
}

// hintsOf are the hints that names give; "" is none.
func hintsOf(names []string) (labels, order []int) {
	sorted := slices.SortedFunc(slices.Values(names), hostlist.Naturally)
	sorted = slices.Compact(sorted)
	number := make(map[string]int, len(sorted))
	for k, name := range sorted {
		number[name] = k
	}
	shared := false
	labels, order = make([]int, len(names)), make([]int, len(names))
	seen := make([]bool, len(sorted))
	for rank, name := range names {
		k := number[name]
		labels[rank], order[rank] = k, k
		if name == "" {
			labels[rank] = -1
		} else if seen[k] {
			shared = true
		}
		seen[k] = true
	}
	if !shared {
		labels = nil
	}
	if len(sorted) < 2 {
		order = nil
	}
	return labels, order
}
