package bcast

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
)

// BenchmarkSettings say what Benchmark does. Those of rank 0 count.
type BenchmarkSettings struct {
	Sizes       []int  // bytes; nil: 8, 1 KiB, 64 KiB and 1 MiB
	Root        int    // rank that broadcasts
	Repetitions int    // timed repetitions of each variant and size; 0: 21
	Seed        uint64 // of the patterns and of the order of the variants
}

func (s *BenchmarkSettings) validate(ranks int) error {
	switch {
	case s.Root < 0 || s.Root >= ranks:
		return fmt.Errorf("bcast: benchmark: root %d: %w: want in [0, %d)", s.Root, mpi.ErrRank, ranks)
	case s.Repetitions < 0:
		return fmt.Errorf("bcast: benchmark: %d repetitions: want at least 0", s.Repetitions)
	}
	for _, size := range s.Sizes {
		if size < 0 {
			return fmt.Errorf("bcast: benchmark: size %d bytes: want at least 0", size)
		}
	}
	return nil
}

// warmUp is the number of rounds before the timed ones.
const warmUp = 2

// usualReps is the default of BenchmarkSettings.Repetitions. It is odd, so that the median is one of the
// times; its rank is sure to +-5 places in 21 with 95 %.
const usualReps = 21

// Benchmark is collective. It compares, on the same buffers and turn by turn
// in an order that changes from round to round, the broadcaster's own choice
// ("ours"), the library's broadcast ("native", if the communicator has one),
// and each algorithm with its best plan by prediction. Every broadcast carries
// another pattern into buffers that differ from it in every byte, and every
// rank compares every byte afterwards. All ranks get the same report.
//
// When the context of any rank ends, all ranks stop before the next broadcast,
// and the report holds what was timed until then; Report.Stopped says so.
//
// A time goes from the moment when the root starts until the last rank has the
// data. Before, every rank reports to the root that it is about to enter the
// broadcast, so none is late, and the root waits 50 us more (300 us with more
// ranks than cores). Each rank reads the clock when it has the data; the
// readings are made comparable as Report.ClockDoubt says.
func Benchmark(ctx context.Context, b *Broadcaster, s *BenchmarkSettings) (*Report, error) {
	if err := b.exec.usable(); err != nil {
		return nil, err
	}
	s, err := shareBenchmark(newCrew(b.exec, 0), s)
	if err != nil {
		return nil, err
	}
	sizes, reps := s.Sizes, s.Repetitions
	if sizes == nil {
		sizes = []int{8, 1 << 10, 64 << 10, 1 << 20} // latency, the libraries' short and long messages, bandwidth
	}
	if reps == 0 {
		reps = usualReps
	}
	watch, err := newStopwatch(b.exec, s.Root, b.crowded)
	if err != nil {
		return nil, err
	}
	report := &Report{Ranks: b.ranks, Root: s.Root}
	for _, size := range sizes {
		if report.Stopped, err = watch.anyEnded(ctx); err != nil || report.Stopped {
			return report, err
		}
		if err := b.Tune(s.Root, size); err != nil {
			return nil, err
		}
		variants, err := b.variants(watch.crew, size)
		if err != nil {
			return nil, err
		}
		rows, stopped, err := compare(ctx, watch, variants, make([]byte, size), reps, s.Seed)
		if err != nil {
			return nil, err
		}
		report.Rows = append(report.Rows, rows...)
		report.ClockDoubt = max(report.ClockDoubt, watch.doubt)
		if report.Stopped = stopped; stopped {
			break
		}
	}
	return report, nil
}

// shareBenchmark is collective: all ranks get the settings of rank 0, or the
// same error.
func shareBenchmark(c *crew, s *BenchmarkSettings) (*BenchmarkSettings, error) {
	if s == nil {
		s = &BenchmarkSettings{}
	}
	var out []byte
	if c.isRoot() {
		var err error
		if out, err = json.Marshal(s); err != nil {
			return nil, fmt.Errorf("bcast: benchmark: %w", err)
		}
	}
	in, err := c.tellAny(out)
	if err != nil {
		return nil, err
	}
	var told BenchmarkSettings
	if err := json.Unmarshal(in, &told); err != nil {
		return nil, fmt.Errorf("bcast: benchmark: settings of rank 0: %w", err)
	}
	return &told, told.validate(c.exec.comm.Size())
}

// A variant is a way to broadcast that is compared with others.
type variant struct {
	name string
	plan Plan
	run  func(buf []byte) error
}

// variants is collective: they are the same on all ranks.
func (b *Broadcaster) variants(c *crew, size int) ([]variant, error) {
	plan, err := b.Plan(size, c.root)
	if err != nil {
		return nil, err
	}
	all := []variant{{"ours", plan, func(buf []byte) error { return b.Bcast(buf, c.root) }}}
	add := func(p candidate) {
		r := b.newRoute(p, c.root)
		all = append(all, variant{p.Name(), p.Plan, func(buf []byte) error { return b.follow(r, buf, c.root) }})
	}
	if b.native != nil {
		add(newNative())
	}
	var plans []candidate
	if c.isRoot() {
		if plans, err = b.candidates(size, c.root); err != nil {
			return nil, err
		}
		slices.SortFunc(plans, func(a, b candidate) int { return a.index - b.index })
	}
	if plans, err = b.tellPlans(c, plans); err != nil {
		return nil, err
	}
	for _, p := range plans {
		add(p)
	}
	return all, nil
}

// compare is collective: it times the variants on buf. Stopped before its end,
// it returns the rows of those variants that were timed at all.
func compare(ctx context.Context, watch *stopwatch, variants []variant, buf []byte, reps int, seed uint64) (rows []Row, stopped bool, err error) {
	times := make([][]float64, len(variants))
	wrong := make([]float64, len(variants)) // 1: this rank has seen a wrong byte
	order := make([]int, len(variants))
	for i := range order {
		order[i] = i
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(buf))))
	for n := 0; n < warmUp+reps && !stopped; n++ {
		random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		if err := watch.round(); err != nil {
			return nil, false, err
		}
		for _, i := range order {
			if stopped, err = watch.anyEnded(ctx); err != nil {
				return nil, false, err
			}
			if stopped {
				break
			}
			pattern := random.Uint64()
			fill(buf, pattern, watch.isRoot())
			t, err := watch.time(func() error { return variants[i].run(buf) })
			if err != nil {
				return nil, false, err
			}
			if !matches(buf, pattern) {
				wrong[i] = 1
			}
			if n >= warmUp {
				times[i] = append(times[i], t)
			}
		}
	}
	for i, v := range variants {
		if len(times[i]) == 0 { // the same on all ranks
			continue
		}
		anyWrong, err := watch.collectMax(wrong[i])
		if err != nil {
			return nil, false, err
		}
		var values [4]float64
		if watch.isRoot() {
			values = [4]float64{stats.MiddleMedian(times[i]), slices.Min(times[i]), slices.Max(times[i]), anyWrong}
		}
		var told [32]byte
		for k, x := range values {
			putFloat(told[8*k:], x)
		}
		if err := watch.tell(told[:]); err != nil {
			return nil, false, err
		}
		for k := range values {
			values[k] = getFloat(told[8*k:])
		}
		rows = append(rows, Row{
			Bytes: len(buf), Variant: v.name, Plan: v.plan, Count: len(times[i]),
			Median: values[0], Min: values[1], Max: values[2], Verified: values[3] == 0,
		})
	}
	return rows, stopped, nil
}

// fill writes the pattern, or its complement, in which every byte differs.
func fill(buf []byte, pattern uint64, itself bool) {
	flip := ^uint64(0)
	if itself {
		flip = 0
	}
	words := len(buf) / 8 * 8
	for i := 0; i < words; i += 8 {
		binary.LittleEndian.PutUint64(buf[i:], word(pattern, i)^flip)
	}
	for i := words; i < len(buf); i++ {
		buf[i] = byte((word(pattern, words) ^ flip) >> (8 * (i - words)))
	}
}

func matches(buf []byte, pattern uint64) bool {
	words := len(buf) / 8 * 8
	for i := 0; i < words; i += 8 {
		if binary.LittleEndian.Uint64(buf[i:]) != word(pattern, i) {
			return false
		}
	}
	for i := words; i < len(buf); i++ {
		if buf[i] != byte(word(pattern, words)>>(8*(i-words))) {
			return false
		}
	}
	return true
}

// word is the pattern at offset i: a multiplicative hash of both, so that a
// shifted or stale piece does not match.
func word(pattern uint64, i int) uint64 {
	x := (pattern + uint64(i)) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}
