package benchmark

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/mpi"
)

// Settings say what Run does. They are the same on all ranks, as a command line gives them.
type Settings struct {
	Sizes       []int    // bytes, at least one
	Root        int      // rank that broadcasts
	Repetitions int      // timed repetitions of each variant and size, at least 1
	WarmUps     int      // repetitions before that are not timed
	Only        []string // the variants of interest, by name, which CheckNames knows; nil: all
}

// CheckNames is collective: it refuses names in Only that the broadcaster has no variants of.
func (s *Settings) CheckNames(b *bcast.Broadcaster) error {
	if s.Only == nil {
		return nil
	}
	all, err := variantsOf(b, 1, s.Root)
	if err != nil {
		return err
	}
	var known []string
	for _, v := range all {
		if !slices.Contains(known, v.algorithm()) {
			known = append(known, v.algorithm())
		}
	}
	for _, name := range s.Only {
		if !slices.ContainsFunc(all, func(v variant) bool { return v.isNamed(name) }) {
			return fmt.Errorf("%s: want one of %s", name, words.Or(known))
		}
	}
	return nil
}

// Ours is the name of the variant that is the broadcaster's choice.
const Ours = "ours"

// A variant is a broadcast that is compared with others.
type variant struct {
	name string // Ours, or the name of the plan
	plan predict.Plan
}

// variantsOf is collective: ours, native if the communicator has it, and each algorithm with its best plan by prediction.
func variantsOf(b *bcast.Broadcaster, bytes, root int) ([]variant, error) {
	plans, err := b.Candidates(bytes, root)
	if err != nil {
		return nil, err
	}
	ours := plans[0]
	if p, err := b.Plan(bytes, root); err == nil { // it is decided
		ours = p
	}
	slices.SortFunc(plans, func(a, b predict.Plan) int { return a.Index - b.Index }) // as they were given, after native
	all := []variant{{Ours, ours}}
	for _, p := range plans {
		all = append(all, variant{p.Name(), p})
	}
	return all, nil
}

// algorithm is the name without that of the groups.
func (v variant) algorithm() string {
	name, _, _ := strings.Cut(v.name, " (")
	return name
}

// isNamed reports whether a name in Settings.Only means the variant. The name of an algorithm means it along all groups.
func (v variant) isNamed(name string) bool { return name == v.name || name == v.algorithm() }

// isAsked reports whether a variant is compared.
func (s *Settings) isAsked(v variant) bool {
	return s.Only == nil || slices.ContainsFunc(s.Only, v.isNamed)
}

// Run is collective. It compares the broadcaster's own choice (Ours), native if the communicator has it, and each
// algorithm with its best plan by prediction. All use the same buffers, in an order that changes from round to round. Every
// broadcast carries another pattern into buffers that differ from it in every byte, and every rank compares every byte
// afterwards. Rank 0 gets the report, and the other ranks get nil. Its statistics are those of Reinfjell 2023, section
// 6.5.1, and those of a paired comparison.
//
// When the context of any rank ends, all ranks stop before the next broadcast, and the report holds what was timed until
// then; Report.Stopped says so.
//
// A time goes from the moment when the root starts until the last rank has the data. Before, every rank reports to the
// root that it is about to enter the broadcast, so none is late. The root waits 50 us more (300 us with more ranks
// than cores). Each rank reads the clock when it has the data; Report.ClockDoubt says how well clocks compare. Each rank
// has one buffer, as long as the longest message.
//
// comm is the communicator of the broadcaster. Messages use the tag mpi.MaxTag.
func Run(ctx context.Context, comm mpi.Communicator, b *bcast.Broadcaster, s *Settings) (*Report, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	hosts, _ := mpi.NumberHosts(places)
	watch, err := tuner.NewStopwatch(comm, mpi.MaxTag, hosts, len(mpi.OversubscribedHosts(places)) > 0)
	if err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	c := &comparison{Settings: s, ctx: ctx, b: b, watch: watch, rank: comm.Rank()}
	report := &Report{Ranks: comm.Size(), Root: s.Root, Conditions: conditionsOf(comm, places)}
	buf := make([]byte, slices.Max(s.Sizes)) // for all: what the collector has not yet found is memory, too
	for _, size := range s.Sizes {
		rows, err := c.compare(buf[:size])
		if err != nil {
			return nil, err
		}
		report.Rows = append(report.Rows, rows...)
		report.ClockDoubt = max(report.ClockDoubt, watch.Doubt())
		if report.Stopped = c.stopped; c.stopped {
			break
		}
	}
	if c.rank != 0 {
		return nil, nil
	}
	return report, nil
}

// A comparison times variants from one root. All of its functions are collective.
type comparison struct {
	*Settings
	ctx     context.Context
	b       *bcast.Broadcaster
	watch   *tuner.Stopwatch
	rank    int
	stopped bool // a context has ended
}

// stop finds out, the same on all ranks, whether the context of any of them has ended.
func (c *comparison) stop() (bool, error) {
	ended := []float64{0}
	if c.ctx.Err() != nil {
		ended[0] = 1
	}
	err := c.watch.Max(ended)
	c.stopped = ended[0] > 0
	return c.stopped, err
}

// compare compares the variants at the length of buf. Rank 0 gets the rows of those that were timed.
func (c *comparison) compare(buf []byte) (rows []Row, err error) {
	if stopped, err := c.stop(); stopped || err != nil {
		return nil, err
	}
	if c.isAsked(variant{name: Ours}) {
		if err := c.b.Bcast(buf, c.Root); err != nil { // the first broadcast of a class decides
			return nil, err
		}
	}
	variants, err := variantsOf(c.b, len(buf), c.Root)
	if err != nil {
		return nil, err
	}
	variants = slices.DeleteFunc(variants, func(v variant) bool { return !c.isAsked(v) })
	times, wrong, err := c.time(variants, buf)
	if err != nil || c.rank != 0 {
		return nil, err
	}
	bound := math.NaN()
	if n := c.b.Network(); n != nil {
		if bound, err = predict.Bound(n, len(buf), c.Root); err != nil {
			return nil, fmt.Errorf("benchmark: %w", err)
		}
	}
	var base []float64
	if i := slices.IndexFunc(variants, func(v variant) bool { return v.name == table.Native }); i >= 0 {
		base = times[i]
	}
	for i, v := range variants {
		if len(times[i]) > 0 {
			row := Row{Bytes: len(buf), Variant: v.name, Plan: v.plan, Bound: bound, Count: len(times[i]), Verified: wrong[i] == 0}
			row.summarise(times[i], base)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// time times the variants on buf, each once in a round. Rank 0 gets the times; wrong is 1 where some rank has seen a wrong
// byte.
func (c *comparison) time(variants []variant, buf []byte) (times [][]float64, wrong []float64, err error) {
	runs := make([]func([]byte) error, len(variants))
	for i, v := range variants {
		runs[i] = func(buf []byte) error { return c.b.Bcast(buf, c.Root) }
		if v.name != Ours {
			if runs[i], err = c.b.Compile(v.plan, len(buf), c.Root); err != nil {
				return nil, nil, err
			}
		}
	}
	wrong = make([]float64, len(variants))
	patterns := rand.New(rand.NewPCG(1, uint64(len(buf)))) // the same on all ranks
	perform := func(v tuner.Variant, _ tuner.Round) (tuner.Sample, error) {
		if stopped, err := c.stop(); stopped || err != nil {
			return tuner.Sample{Cold: math.NaN()}, err
		}
		pattern := patterns.Uint64()
		fill(buf, pattern, c.rank == c.Root)
		s, err := c.watch.Time(func(int) error { return runs[v.Index](buf) }, c.Root)
		if !matches(buf, pattern) {
			wrong[v.Index] = 1
		}
		return s, err
	}
	rounds := &rounds{comparison: c, random: rand.New(rand.NewPCG(0, uint64(len(buf)))), times: make([][]float64, len(variants))}
	if err := c.watch.Conduct(func(run func(tuner.Session)) { run(rounds) }, perform); err != nil {
		return nil, nil, err
	}
	return rounds.times, wrong, c.watch.Max(wrong)
}

// rounds is the session of a comparison: each variant once in a round, in random order.
type rounds struct {
	*comparison
	random *rand.Rand
	done   int
	times  [][]float64 // s, by variant
}

// Next implements tuner.Session.
func (r *rounds) Next(float64) (next tuner.Round, on bool) {
	if r.stopped || r.done == r.WarmUps+r.Repetitions {
		return next, false
	}
	for _, i := range r.random.Perm(len(r.times)) {
		next.Variants = append(next.Variants, tuner.Variant{Index: i})
	}
	return next, true
}

// Add implements tuner.Session. NaN is what was not timed, as a context had ended.
func (r *rounds) Add(round tuner.Round, samples []tuner.Sample) {
	for k, v := range round.Variants {
		if t := samples[k].Cold; r.done >= r.WarmUps && !math.IsNaN(t) {
			r.times[v.Index] = append(r.times[v.Index], t)
		}
	}
	r.done++
}

// fill writes the pattern, or its complement, in which every byte differs.
func fill(buf []byte, pattern uint64, itself bool) {
	flip := byte(0xff)
	if itself {
		flip = 0
	}
	for i := range buf {
		buf[i] = at(pattern, i) ^ flip
	}
}

func matches(buf []byte, pattern uint64) bool {
	for i, x := range buf {
		if x != at(pattern, i) {
			return false
		}
	}
	return true
}

// at is byte i of the pattern: a multiplicative hash of both, so that a shifted or stale piece does not match.
func at(pattern uint64, i int) byte {
	return byte((pattern + uint64(i)) * 0x9e3779b97f4a7c15 >> 56)
}
