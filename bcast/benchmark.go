package bcast

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/mpi"
)

// BenchmarkSettings say what Benchmark does. Those of rank 0 count.
type BenchmarkSettings struct {
	Sizes       []int    // bytes; nil: 8, 1 KiB, 64 KiB and 1 MiB
	Root        int      // rank that broadcasts
	Repetitions int      // timed repetitions of each variant and size; 0: 21
	WarmUps     int      // repetitions before that are not timed; 0: 2
	Only        []string // the variants of interest, by name; nil: all
	Seed        uint64   // of the patterns and of the order of the variants
}

func (s *BenchmarkSettings) validate(ranks int) error {
	switch {
	case s.Root < 0 || s.Root >= ranks:
		return fmt.Errorf("bcast: benchmark: root %d: %w: want in [0, %d)", s.Root, mpi.ErrRank, ranks)
	case s.Repetitions < 0:
		return fmt.Errorf("bcast: benchmark: %d repetitions: want at least 0", s.Repetitions)
	case s.WarmUps < 0:
		return fmt.Errorf("bcast: benchmark: %d repetitions to warm up: want at least 0", s.WarmUps)
	}
	for _, size := range s.Sizes {
		if size < 0 {
			return fmt.Errorf("bcast: benchmark: size %d bytes: want at least 0", size)
		}
	}
	return nil
}

// warmUp is the default of BenchmarkSettings.WarmUps. Reinfjell takes 50 to 100 of them, before
// all repetitions of one variant; here, all variants are run in each round.
const warmUp = 2

// usualReps is the default of BenchmarkSettings.Repetitions. It is odd, so that the median is one of the
// times; its rank is sure to +-5 places in 21 with 95 %.
const usualReps = 21

// Benchmark is collective. It compares, on the same buffers and turn by turn
// in an order that changes from round to round, the broadcaster's own choice
// ("ours"), the library's broadcast ("native", if the communicator has one),
// and each algorithm with its best plan by prediction. Every broadcast carries
// another pattern into buffers that differ from it in every byte, and every
// rank compares every byte afterwards. All ranks get the same report. Its statistics are those of
// Reinfjell 2023, section 6.5.1, and besides what a paired comparison allows.
//
// When the context of any rank ends, all ranks stop before the next broadcast,
// and the report holds what was timed until then; Report.Stopped says so.
//
// A time goes from the moment when the root starts until the last rank has the
// data. Before, every rank reports to the root that it is about to enter the
// broadcast, so none is late, and the root waits 50 us more (300 us with more
// ranks than cores). Each rank reads the clock when it has the data; the
// readings are made comparable as Report.ClockDoubt says. Each rank has one buffer, as long as the longest message.
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
	warm := s.WarmUps
	if warm == 0 {
		warm = warmUp
	}
	watch, err := b.stopwatch()
	if err != nil {
		return nil, b.failed(err)
	}
	if err := b.checkOnly(s.Only); err != nil {
		return nil, err
	}
	comparison := &comparison{watch: watch, rank: b.comm.Rank(), root: s.Root}
	report := &Report{Ranks: b.ranks, Root: s.Root}
	if report.Conditions, err = b.conditions(); err != nil {
		return nil, err
	}
	longest := 0
	for _, size := range sizes {
		longest = max(longest, size)
	}
	buf := make([]byte, longest) // for all: what the collector has not yet found is memory, too
	for _, size := range sizes {
		if report.Stopped, err = comparison.anyEnded(ctx); err != nil || report.Stopped {
			return report, b.failed(err)
		}
		if isWanted(s.Only, ours) {
			if err := b.tune([]int{s.Root}, []int{size}, buf[:size]); err != nil {
				return nil, err
			}
		}
		if comparison.bound, err = b.bound(size, s.Root); err != nil {
			return nil, err
		}
		variants, err := b.variants(newCrew(b.exec, s.Root), size, s.Only)
		if err != nil {
			return nil, err
		}
		comparison.random = rand.New(rand.NewPCG(s.Seed, uint64(size)))
		rows, stopped, err := comparison.run(ctx, variants, buf[:size], warm, reps)
		if err != nil {
			return nil, b.failed(err)
		}
		report.Rows = append(report.Rows, rows...)
		report.ClockDoubt = max(report.ClockDoubt, watch.Doubt())
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

// ours is the name of the broadcaster's own choice as a variant.
const ours = "ours"

// isWanted tells whether a variant is one of those of BenchmarkSettings.Only.
func isWanted(only []string, name string) bool {
	return only == nil || slices.ContainsFunc(only, func(asked string) bool { return IsWanted(asked, name) })
}

// IsWanted tells whether a name in BenchmarkSettings.Only asks for a variant: that of an algorithm asks for it along
// all topologies.
func IsWanted(asked, variant string) bool {
	algorithm, _, _ := strings.Cut(variant, " (")
	return asked == variant || asked == algorithm
}

// Variants are the names of what Benchmark compares: "ours", "native" if the communicator
// has a broadcast of its own, and the algorithms, with the topology in brackets where that is not the one that was found.
func (b *Broadcaster) Variants() []string {
	names := []string{ours}
	if b.native != nil {
		names = append(names, newNative().Name())
	}
	for i, a := range b.catalogue {
		g := b.along(i)
		if name := (predict.Plan{Algorithm: a, Topology: g.Name}).NameAlong(); g.Wanted && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (b *Broadcaster) checkOnly(only []string) error {
	for _, name := range only {
		if all := b.Variants(); !slices.ContainsFunc(all, func(v string) bool { return IsWanted(name, v) }) {
			return fmt.Errorf("bcast: benchmark: variant %q: want %s", name, words.Or(all))
		}
	}
	return nil
}

// bound is that of Row.Bound, on rank 0, which tells the others with the rest of the row; NaN elsewhere.
func (b *Broadcaster) bound(bytes, root int) (float64, error) {
	if b.comm.Rank() != 0 {
		return math.NaN(), nil
	}
	n, err := b.known.view()
	if err != nil || n == nil {
		return math.NaN(), err
	}
	bound, err := predict.Bound(n, bytes, root)
	if err != nil {
		return math.NaN(), fmt.Errorf("bcast: benchmark: %w", err)
	}
	return bound, nil
}

// A variant is a way to broadcast that is compared with others.
type variant struct {
	name string
	plan predict.Plan
	run  func(buf []byte) error
}

// variants is collective: they are the same on all ranks.
func (b *Broadcaster) variants(c *crew, size int, only []string) ([]variant, error) {
	plan, err := b.Plan(size, c.root)
	if err != nil {
		return nil, err
	}
	var all []variant
	add := func(name string, plan predict.Plan, run func(buf []byte) error) {
		if isWanted(only, name) {
			all = append(all, variant{name, plan, run})
		}
	}
	follow := func(p predict.Candidate) {
		r := b.newRoute(p, c.root, size)
		add(p.NameAlong(), p.Plan, func(buf []byte) error { return b.perform(r, buf, c.root) })
	}
	add(ours, plan, func(buf []byte) error { return b.Bcast(buf, c.root) })
	if b.native != nil {
		follow(newNative())
	}
	var plans []predict.Candidate
	if c.isRoot() {
		if plans, err = b.candidates(size, c.root); err != nil {
			return nil, err
		}
		slices.SortFunc(plans, func(a, b predict.Candidate) int { return a.Index - b.Index })
		plans = distinct(plans, only)
	}
	if plans, err = b.tellPlans(c, plans); err != nil {
		return nil, err
	}
	for _, p := range plans {
		follow(p)
	}
	return all, nil
}

// A comparison times variants from one root. All of its functions are collective.
type comparison struct {
	watch      *tuner.Stopwatch
	rank, root int
	random     *rand.Rand
	bound      float64 // s, of the size under way
}

// anyEnded tells all ranks whether the context of any of them has ended.
func (c *comparison) anyEnded(ctx context.Context) (bool, error) {
	ended := []float64{0}
	if ctx.Err() != nil {
		ended[0] = 1
	}
	err := c.watch.Max(ended)
	return ended[0] > 0, err
}

// run times the variants on buf. Stopped before its end, it returns the rows of those
// variants that were timed at all.
func (c *comparison) run(ctx context.Context, variants []variant, buf []byte, warm, reps int) (rows []Row, stopped bool, err error) {
	times := make([][]float64, len(variants))
	wrong := make([]float64, len(variants)) // 1: this rank has seen a wrong byte
	order := make([]int, len(variants))
	for i := range order {
		order[i] = i
	}
	for n := 0; n < warm+reps && !stopped; n++ {
		c.random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		if err := c.watch.Refresh(); err != nil {
			return nil, false, err
		}
		for _, i := range order {
			if stopped, err = c.anyEnded(ctx); err != nil {
				return nil, false, err
			}
			if stopped {
				break
			}
			pattern := c.random.Uint64()
			fill(buf, pattern, c.rank == c.root)
			s, err := c.watch.Time(func(buf []byte, _ int) error { return variants[i].run(buf) }, buf, c.root)
			if err != nil {
				return nil, false, err
			}
			if !matches(buf, pattern) {
				wrong[i] = 1
			}
			if n >= warm {
				times[i] = append(times[i], s.Cold)
			}
		}
	}
	if err := c.watch.Max(wrong); err != nil {
		return nil, false, err
	}
	base := slices.IndexFunc(variants, func(v variant) bool { return v.plan.Algorithm == nil && v.name != ours })
	for i, v := range variants {
		if len(times[i]) == 0 { // the same on all ranks
			continue
		}
		var native []float64
		if base >= 0 {
			native = times[base]
		}
		row := Row{Bytes: len(buf), Variant: v.name, Plan: v.plan, Bound: c.bound, Count: len(times[i]), Verified: wrong[i] == 0}
		row.summarise(times[i], native) // NaN but on rank 0
		told := make([]float64, len(row.values()))
		for k, v := range row.values() {
			told[k] = *v
		}
		if err := c.watch.Tell(told); err != nil {
			return nil, false, err
		}
		for k, v := range row.values() {
			*v = told[k]
		}
		rows = append(rows, row)
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
