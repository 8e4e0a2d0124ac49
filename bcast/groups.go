package bcast

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// newGroups is collective: it splits the communicator into the groups of each level. It returns nil if there are
// none, or the communicator cannot be split, or its parts have no native broadcast.
func newGroups(exec *executor, tree *topology.Hierarchy) (*groups, error) {
	splitter, ok := exec.comm.(mpi.Splitter)
	if !ok || tree == nil || len(tree.Groups()) == 1 {
		return nil, nil
	}
	g := &groups{own: make([]*group, len(tree.Groups()))}
	me := exec.comm.Rank()
	colors := make(map[int]int) // by level: index of this rank's group
	for i := tree.Smallest(me); i > 0; i = tree.Groups()[i].Parent {
		colors[tree.Groups()[i].Level] = i
	}
	lack := 0.0 // 1: this rank has a group without a native broadcast
	for _, level := range schedule.GroupedLevels(schedule.Problem{Tree: tree}) {
		const none = -1
		color, in := colors[level]
		if !in {
			color = none
		}
		part, err := splitter.Split(color, me)
		if err != nil {
			return nil, exec.note(fmt.Errorf("bcast: new: rank %d: split off its group of level %d: %w", me, level, err))
		}
		var x *group
		if in {
			x = &group{Communicator: part, index: color, ranks: tree.Groups()[color].Hosts}
			if x.native, in = part.(mpi.NativeBcast); !in {
				lack = 1
			}
			g.own[color] = x
		}
		g.levels = append(g.levels, x)
	}
	all, err := newControl(exec).max(lack)
	if err != nil {
		return nil, err
	}
	if all[0] != 0 {
		return nil, g.close()
	}
	return g, nil
}

// The native broadcast in groups is measured at sizes that grow by four, until it takes so long that linear growth is as
// good a guess.
const (
	leastMeasured = 64   // bytes
	longest       = 1e-3 // s
	repeated      = 3    // times, of which the median counts
)

// measureGroups is collective: it lets predictions know what the native broadcast takes in groups, for messages up to
// the given bytes, as far as that is not known. limit is the time in s, by the clock of rank 0, at which the decision has
// to be there: a tenth of what is left is taken, or a little more. What there was no time for stays unknown.
func (b *Broadcaster) measureGroups(bytes int, limit float64) error {
	g := b.exec.groups
	if g == nil {
		return nil
	}
	if err := b.watch.Refresh(); err != nil {
		return fmt.Errorf("bcast: %w", err)
	}
	begin := b.watch.Now()
	end := begin + (limit-begin)/10
	last := 0.0 // s, of the size before
	for size := leastMeasured; size/4 < bytes && size < schedule.MaxSegment; size *= 4 {
		if size <= g.upTo {
			continue
		}
		goOn := []float64{0}
		if last <= longest && b.watch.Now()+repeated*last < end {
			goOn[0] = 1
		}
		if err := b.watch.Tell(goOn); err != nil {
			return fmt.Errorf("bcast: %w", err)
		}
		if goOn[0] == 0 {
			break
		}
		var err error
		if last, err = g.measure(b.watch, size); err != nil {
			return err
		}
		g.upTo = size
	}
	if b.evaluator != nil {
		b.evaluator.MeasuredNative(g.times)
	}
	return nil
}

// measure is collective: it finds out what the native broadcast of a size takes in each group, and returns the longest
// time in s. The groups of a level are at work at once, as they are in a plan.
func (g *groups) measure(watch *tuner.Stopwatch, size int) (float64, error) {
	times := make([]float64, len(g.own)) // 0: not measured by this rank
	for _, x := range g.levels {
		if x == nil {
			continue
		}
		t, err := x.measure(watch.Among(x), size)
		if err != nil {
			return 0, err
		}
		if x.Rank() == 0 {
			times[x.index] = t
		}
	}
	if err := watch.Max(times); err != nil {
		return 0, fmt.Errorf("bcast: %w", err)
	}
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
		s, err := watch.Time(x.native.Bcast, buf, k*len(x.ranks)/repeated)
		if err != nil {
			return 0, fmt.Errorf("bcast: %w", err)
		}
		taken[k] = s.Cold
	}
	return stats.MiddleMedian(taken), nil
}
