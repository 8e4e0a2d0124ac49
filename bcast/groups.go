package bcast

import (
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
)

// newGroups is collective: it splits the communicator into the groups of each level. It returns nil if there are none,
// or the communicator cannot be split, or some group has no native broadcast.
func (b *Broadcaster) newGroups(base *decisions.Base) (*groups, error) {
	splitter, ok := b.comm.(mpi.Splitter)
	tree, me := base.Tree(), b.comm.Rank()
	if !ok || tree == nil || len(tree.Groups()) == 1 {
		return nil, nil
	}
	g := &groups{mine: make([]*group, len(tree.Groups()))}
	colors := make(map[int]int) // by level: index of this rank's group
	for i := tree.Smallest(me); i > 0; i = tree.Groups()[i].Parent {
		colors[tree.Groups()[i].Level] = i
	}
	lacks := []float64{0} // 1: this rank has a group without a native broadcast
	for _, level := range schedule.GroupedLevels(schedule.Problem{Tree: tree}) {
		color, isMember := colors[level]
		if !isMember {
			color = -1
		}
		part, err := splitter.Split(color, me)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("bcast: new: rank %d: split off its group of level %d: %w", me, level, err), g.close())
		}
		if !isMember {
			continue
		}
		x := &group{Communicator: part, index: color, ranks: tree.Groups()[color].Hosts}
		if x.native, ok = part.(mpi.NativeBcast); !ok {
			lacks[0] = 1
		}
		g.mine[color], g.finest = x, append(g.finest, x)
	}
	if err := base.Control.Max(lacks); err != nil {
		return nil, errors.Join(fmt.Errorf("bcast: new: %w", err), g.close())
	}
	if lacks[0] > 0 {
		return nil, g.close()
	}
	return g, nil
}

// Native in groups is measured before plans that use it are predicted. The sizes grow by four, and predictions are linear
// between them.
const (
	// leastMeasured is the first size in bytes. Shorter messages travel in the same packet, and take as long.
	leastMeasured = 64

	// longest is the time in s of a broadcast after which no larger size is measured. Its bytes decide the time by then,
	// so predictions may grow with them, and the budget is not spent on one size.
	longest = 1e-3

	// repeated is how often each size is measured: the fewest times whose median ignores one delay.
	repeated = 3
)

// measureGroups is collective: it lets predictions know what the native broadcast takes in groups, for messages up to
// the given bytes, as far as that is not known. limit is the time in s, by the clock of rank 0, at which the decision has
// to be there: a tenth of what is left is taken, or a little more. What there was no time for stays unknown.
func (b *Broadcaster) measureGroups(watch *tuner.Stopwatch, bytes int, limit float64) error {
	g := b.exec.groups
	if g == nil {
		return nil
	}
	now := watch.Now()
	sizes := &groupSizes{size: max(leastMeasured, 4*g.upTo), bytes: bytes, end: now + (limit-now)/10}
	err := watch.Conduct(func(run func(tuner.Session)) { run(sizes) }, func(v tuner.Variant, _ tuner.Round) (tuner.Sample, error) {
		longest, err := g.measure(watch, v.Segment)
		return tuner.Sample{Cold: longest}, err
	})
	if err == nil && b.decisions.Control.IsRoot() {
		b.decisions.Evaluator().MeasuredNative(g.times)
	}
	return err
}

// groupSizes is a session whose rounds are native broadcasts of one size in all groups. The variant names the size.
type groupSizes struct {
	size  int     // bytes, of the next round
	bytes int     // of the message that is to be predicted
	end   float64 // s
	last  float64 // s, of the size before
}

// Next implements tuner.Session.
func (g *groupSizes) Next(now float64) (tuner.Round, bool) {
	isKnown := g.size/4 >= g.bytes || g.size >= schedule.MaxSegment
	if isKnown || g.last > longest || now+repeated*g.last >= g.end {
		return tuner.Round{}, false
	}
	return tuner.Round{Variants: []tuner.Variant{{Segment: g.size}}}, true
}

// Add implements tuner.Session.
func (g *groupSizes) Add(_ tuner.Round, samples []tuner.Sample) {
	g.size, g.last = 4*g.size, samples[0].Cold
}

// measure is collective: it finds out what the native broadcast of a size takes in each group, and returns the longest
// time in s. The groups of a level are at work at once, as they are in a plan.
func (g *groups) measure(watch *tuner.Stopwatch, size int) (float64, error) {
	times := make([]float64, len(g.mine)) // 0: not measured by this rank
	for _, x := range g.finest {
		t, err := x.measure(watch.Among(x), size)
		if err != nil {
			return 0, err
		}
		if x.Rank() == 0 {
			times[x.index] = t
		}
	}
	if err := watch.Max(times); err != nil {
		return 0, err
	}
	g.upTo = size
	for i, t := range times {
		if t > 0 {
			g.times = append(g.times, predict.NativeTime{Group: i, Bytes: size, Seconds: t})
		}
	}
	return slices.Max(times), nil
}

// measure is collective in the group, of which watch takes the times. Its first rank gets the median, in s.
func (x *group) measure(watch *tuner.Stopwatch, size int) (float64, error) {
	buf := make([]byte, size)
	taken := make([]float64, repeated)
	for k := range taken {
		s, err := watch.Time(func(root int) error { return x.native.Bcast(buf, root) }, k*len(x.ranks)/repeated)
		if err != nil {
			return 0, err
		}
		taken[k] = s.Cold
	}
	return stats.MiddleMedian(taken), nil
}
