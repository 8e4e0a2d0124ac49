package benchmark

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/tuner"
	sharing "github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// Settings say what Run does. Those of rank 0 apply.
type Settings struct {
	Sizes       []int    // bytes; nil: 8, 1 KiB, 64 KiB and 1 MiB
	Root        int      // rank that broadcasts
	Repetitions int      // timed repetitions of each variant and size; 0: 21
	WarmUps     int      // repetitions before that are not timed; 0: 2
	Only        []string // the variants of interest, by name; nil: all
	Seed        uint64   // of the patterns and of the order of the variants
}

func (s *Settings) validate(ranks int) error {
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

// usualWarmUps is the default of Settings.WarmUps. Reinfjell takes 50 to 100 of them, before
// all repetitions of one variant; here, all variants are run in each round.
const usualWarmUps = 2

// usualRepetitions is the default of Settings.Repetitions. It is odd, so that the median is one of the
// times; its rank is sure to +-5 places in 21 with 95 %.
const usualRepetitions = 21

// Run is collective. It compares, on the same buffers and in an order that changes from round to round, the broadcaster's
// own choice (bcast.Ours), the native broadcast (bcast.Native, if the communicator has one), and each algorithm with its
// best plan by prediction. Every broadcast carries another pattern into buffers that differ from it in every byte, and
// every rank compares every byte afterwards. All ranks get the same report. Its statistics are those of Reinfjell 2023,
// section 6.5.1, and besides what a paired comparison allows.
//
// When the context of any rank ends, all ranks stop before the next broadcast, and the report holds what was timed until
// then; Report.Stopped says so.
//
// A time goes from the moment when the root starts until the last rank has the data. Before, every rank reports to the
// root that it is about to enter the broadcast, so none is late, and the root waits 50 us more (300 us with more ranks
// than cores). Each rank reads the clock when it has the data; Report.ClockDoubt says how well clocks compare. Each rank
// has one buffer, as long as the longest message.
//
// comm is the communicator of the broadcaster. Messages use the tag mpi.MaxTag.
func Run(ctx context.Context, comm mpi.Communicator, b *bcast.Broadcaster, s *Settings) (*Report, error) {
	s, err := share(comm, s)
	if err != nil {
		return nil, err
	}
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	report := &Report{Ranks: comm.Size(), Root: s.Root}
	if report.Conditions, err = shareConditions(comm, places); err != nil {
		return nil, err
	}
	hosts, _ := mpi.NumberHosts(places)
	oversubscribed := len(mpi.OversubscribedHosts(places)) > 0
	watch, err := tuner.NewStopwatch(comm, mpi.MaxTag, hosts, oversubscribed)
	if err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	c := &comparison{watch: watch, rank: comm.Rank(), root: s.Root}
	buf := make([]byte, slices.Max(s.Sizes)) // for all: what the collector has not yet found is memory, too
	for _, size := range s.Sizes {
		if report.Stopped, err = c.anyEnded(ctx); err != nil || report.Stopped {
			return report, err
		}
		rows, err := c.compare(ctx, b, s, buf[:size])
		if err != nil {
			return nil, err
		}
		report.Rows = append(report.Rows, rows...)
		report.ClockDoubt = max(report.ClockDoubt, watch.Doubt())
		if report.Stopped = c.stopped; c.stopped {
			break
		}
	}
	return report, nil
}

// share is collective: all ranks get the settings of rank 0 with their defaults, or the same error.
func share(comm mpi.Communicator, s *Settings) (*Settings, error) {
	if s == nil {
		s = &Settings{}
	}
	var out []byte
	if comm.Rank() == 0 {
		out, _ = json.Marshal(s) // numbers and names only
	}
	in, err := sharing.Binomial(comm, 0, mpi.MaxTag).TellAny(out)
	if err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	told := new(Settings)
	if err := json.Unmarshal(in, told); err != nil {
		return nil, fmt.Errorf("benchmark: settings of rank 0: %w", err)
	}
	if told.Sizes == nil {
		told.Sizes = []int{8, 1 << 10, 64 << 10, 1 << 20} // latency, the libraries' short and long messages, bandwidth
	}
	told.Repetitions = cmp.Or(told.Repetitions, usualRepetitions)
	told.WarmUps = cmp.Or(told.WarmUps, usualWarmUps)
	return told, told.validate(comm.Size())
}

// A comparison times variants from one root. All of its functions are collective.
type comparison struct {
	watch      *tuner.Stopwatch
	rank, root int
	random     *rand.Rand
	bound      float64 // s, of the size under way; NaN but on rank 0
	stopped    bool    // a context has ended
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

// compare compares the variants at the length of buf.
func (c *comparison) compare(ctx context.Context, b *bcast.Broadcaster, s *Settings, buf []byte) (rows []Row, err error) {
	if s.Only == nil || slices.Contains(s.Only, bcast.Ours) {
		if err := b.Bcast(buf, c.root); err != nil { // the first broadcast of a class decides
			return nil, err
		}
	}
	if c.bound, err = c.boundOf(b, len(buf)); err != nil {
		return nil, err
	}
	variants, err := b.VariantsFor(len(buf), c.root, s.Only)
	if err != nil {
		return nil, err
	}
	c.random = rand.New(rand.NewPCG(s.Seed, uint64(len(buf))))
	return c.run(ctx, variants, buf, s.WarmUps, s.Repetitions)
}

// boundOf is that of Row.Bound, on rank 0, which tells the others with the rest of the row; NaN elsewhere.
func (c *comparison) boundOf(b *bcast.Broadcaster, bytes int) (float64, error) {
	if c.rank != 0 {
		return math.NaN(), nil
	}
	n := b.Network()
	if n == nil {
		return math.NaN(), nil
	}
	bound, err := predict.Bound(n, bytes, c.root)
	if err != nil {
		return math.NaN(), fmt.Errorf("benchmark: %w", err)
	}
	return bound, nil
}

// run times the variants on buf. Stopped before its end, it returns the rows of those
// variants that were timed at all.
func (c *comparison) run(ctx context.Context, variants []bcast.Variant, buf []byte, warm, reps int) (rows []Row, err error) {
	times := make([][]float64, len(variants))
	wrong := make([]float64, len(variants)) // 1: this rank has seen a wrong byte
	order := make([]int, len(variants))
	for i := range order {
		order[i] = i
	}
	for n := 0; n < warm+reps && !c.stopped; n++ {
		c.random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		if err := c.watch.Refresh(); err != nil {
			return nil, err
		}
		for _, i := range order {
			if c.stopped, err = c.anyEnded(ctx); err != nil {
				return nil, err
			}
			if c.stopped {
				break
			}
			pattern := c.random.Uint64()
			fill(buf, pattern, c.rank == c.root)
			s, err := c.watch.Time(func(buf []byte, _ int) error { return variants[i].Bcast(buf) }, buf, c.root)
			if err != nil {
				return nil, err
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
		return nil, err
	}
	base := slices.IndexFunc(variants, func(v bcast.Variant) bool { return v.Name == bcast.Native })
	for i, v := range variants {
		if len(times[i]) == 0 { // the same on all ranks
			continue
		}
		var native []float64
		if base >= 0 {
			native = times[base]
		}
		row := Row{Bytes: len(buf), Variant: v.Name, Plan: v.Plan, Bound: c.bound, Count: len(times[i]), Verified: wrong[i] == 0}
		row.summarise(times[i], native) // NaN but on rank 0
		told := make([]float64, len(row.values()))
		for k, v := range row.values() {
			told[k] = *v
		}
		if err := c.watch.Tell(told); err != nil {
			return nil, err
		}
		for k, v := range row.values() {
			*v = told[k]
		}
		rows = append(rows, row)
	}
	return rows, nil
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
