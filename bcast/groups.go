package bcast

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// groups are the groups of the ranks in which the library can broadcast on its own
// (schedule.Native).
type groups struct {
	own   []*group             // by index in the tree's groups; nil: the rank is no member
	times []predict.NativeTime // that were measured; the same on all ranks
	upTo  int                  // bytes up to which they were
}

// A group is a communicator of its ranks.
type group struct {
	mpi.Communicator
	native mpi.NativeBcast
	ranks  []int // by rank in it, ascending
}

// newGroups is collective: it splits the communicator into the groups of each level. It returns nil if there are
// none, or the communicator cannot be split, or its parts have no broadcast of their own.
func newGroups(c *crew, tree *topology.Hierarchy) (*groups, error) {
	comm := c.exec.comm
	splitter, ok := comm.(mpi.Splitter)
	if !ok || tree == nil || len(tree.Groups()) == 1 {
		return nil, nil
	}
	g := &groups{own: make([]*group, len(tree.Groups()))}
	me := comm.Rank()
	lack, scratch := []byte{0}, []byte{0} // of a broadcast, on this rank or one below
	for level := range tree.Levels() {
		const none = -1
		color, used := none, false
		for i, x := range tree.Groups()[1:] {
			if x.Level == level {
				used = true
				if _, in := slices.BinarySearch(x.Hosts, me); in {
					color = i + 1
				}
			}
		}
		if !used {
			continue
		}
		part, err := splitter.Split(color, me)
		if err != nil {
			return nil, c.exec.note(fmt.Errorf("bcast: new: rank %d: split off its group of level %d: %w", me, level, err))
		}
		if color == none {
			continue
		}
		x := &group{Communicator: part, ranks: tree.Groups()[color].Hosts}
		if x.native, ok = part.(mpi.NativeBcast); !ok {
			lack[0] = 1
		}
		g.own[color] = x
	}
	if err := c.collect(lack, scratch, func(child []byte) { lack[0] |= child[0] }); err != nil {
		return nil, err
	}
	if err := c.tell(lack); err != nil {
		return nil, err
	}
	if lack[0] != 0 {
		return nil, g.close()
	}
	return g, nil
}

// close is collective: it frees the communicators. g may be nil.
func (g *groups) close() error {
	if g == nil {
		return nil
	}
	var wrong error
	for i := len(g.own) - 1; i >= 0; i-- { // finer ones first, as on all ranks
		if g.own[i] == nil {
			continue
		}
		if c, ok := g.own[i].Communicator.(io.Closer); ok {
			if err := c.Close(); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("bcast: close: group %d: %w", i, err))
			}
		}
	}
	return wrong
}

// perform is collective in the group: its part of a Native.
func (g *groups) perform(op schedule.Op, buf []byte) error {
	x := g.own[op.Group]
	root, _ := slices.BinarySearch(x.ranks, op.Peer)
	return x.native.Bcast(buf[op.Offset:op.Offset+op.Length], root)
}

// What the library's own broadcast takes in the groups is measured at sizes that grow by four, until it takes
// so long that linear growth is as good a guess.
const (
	leastMeasured = 64   // bytes
	longest       = 1e-3 // s
	repeated      = 3    // times, of which the median counts
)

// measure is collective: it finds out what the library's own broadcast takes in each group, for
// messages up to the given bytes, as far as that is not known. All groups of a level are at work at once, as they
// are in a plan. limit is the time in s that it may take, or a little more.
func (g *groups) measure(watch *tuner.Stopwatch, bytes int, limit float64) error {
	var sizes []int
	for size := leastMeasured; size/4 < bytes && size < schedule.MaxSegment; size *= 4 {
		if size > g.upTo {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	if err := watch.Refresh(); err != nil {
		return fmt.Errorf("bcast: %w", err)
	}
	end := watch.Now() + limit
	times := make([]float64, len(g.own)*len(sizes)) // 0: not measured here
	for i := len(g.own) - 1; i > 0; i-- {           // the levels one after the other
		if x := g.own[i]; x != nil {
			if err := x.measure(watch.Among(x), times[i*len(sizes):(i+1)*len(sizes)], sizes, end); err != nil {
				return err
			}
		}
	}
	if err := watch.Max(times); err != nil {
		return fmt.Errorf("bcast: %w", err)
	}
	for i, t := range times {
		if t > 0 {
			g.times = append(g.times, predict.NativeTime{Group: i / len(sizes), Bytes: sizes[i%len(sizes)], Seconds: t})
		}
	}
	g.upTo = sizes[len(sizes)-1]
	return nil
}

// measure is collective in the group, of which watch takes the times. Its first rank gets them, in s.
func (x *group) measure(watch *tuner.Stopwatch, times []float64, sizes []int, end float64) error {
	last := 0.0 // s
	for i, size := range sizes {
		goOn := []float64{0}
		if last <= longest && watch.Now()+repeated*last < end {
			goOn[0] = 1
		}
		if err := watch.Tell(goOn); err != nil {
			return fmt.Errorf("bcast: %w", err)
		}
		if goOn[0] == 0 {
			return nil
		}
		buf := make([]byte, size)
		taken := make([]float64, repeated)
		for k := range taken {
			s, err := watch.Time(x.native.Bcast, buf, k*len(x.ranks)/repeated)
			if err != nil {
				return fmt.Errorf("bcast: %w", err)
			}
			taken[k] = s.Cold
		}
		if last = stats.MiddleMedian(taken); x.Rank() == 0 {
			times[i] = last
		}
	}
	return nil
}

// measureGroups is collective: it lets predictions know what the library's own broadcast takes in groups, and returns
// what is left of a budget in s, of which it takes a tenth at most, or a little more.
func (b *Broadcaster) measureGroups(bytes int, budget float64) (left float64, err error) {
	if b.exec.groups == nil {
		return budget, nil
	}
	watch, err := b.stopwatch()
	if err != nil {
		return 0, err
	}
	begin := watch.Now()
	limit := math.Inf(1)
	if budget > 0 {
		limit = budget / 10
	}
	if err := b.exec.groups.measure(watch, bytes, limit); err != nil {
		return 0, err
	}
	if b.evaluator != nil {
		b.evaluator.MeasuredNative(b.exec.groups.times)
	}
	if budget > 0 {
		budget = max(undecidable, budget-(watch.Now()-begin))
	}
	return budget, nil
}

// withoutNative are the algorithms but those that need groups.
func withoutNative(algorithms []schedule.Algorithm) []schedule.Algorithm {
	return slices.DeleteFunc(slices.Clone(algorithms), usesNative)
}

func usesNative(a schedule.Algorithm) bool {
	_, ok := a.(schedule.NativeUser)
	return ok
}

var errClosed = errors.New("the broadcaster is closed")

// Close is collective: it frees the communicators of groups that New may have made. The broadcaster cannot be used
// any more; the communicator can. Without it they stay until the end of the job. After an error of
// a broadcast they stay, too, as ranks may be gone. While one is under way Close is refused.
func (b *Broadcaster) Close() error {
	switch b.exec.failure {
	case errUnderWay:
		return b.exec.usable()
	case nil:
		_ = b.failed(errClosed)
		return b.exec.groups.close()
	}
	return nil
}
