package tuner

import "math"

// A Keeper watches over the choice among some ways while the job runs. All of its functions are
// collective.
type Keeper struct {
	watch *Stopwatch
	ways  []Way
	roots []int
	batch int
	turn  int
	judge *judge // rank 0's counts
}

// None is the incumbent where no way is to be preferred to others.
const None = -1

// Keep is collective: the keeper of the choice among two or more ways, for broadcasts from the roots;
// current is in use now, and incumbent, or None, is the one to which ties go. batch is how many
// broadcasts back to back make a sample, crowded that of NewStopwatch. share is the part of the time
// of the broadcasts, such as 0.02, that trying others may cost: in the long run it costs no more,
// and at no time more than that and the cost of 23 tries.
func (w *Stopwatch) Keep(ways []Way, incumbent, current int, roots []int, batch int, crowded bool, share float64) *Keeper {
	return &Keeper{watch: w, ways: ways, roots: roots, batch: batch, judge: newJudge(len(ways), incumbent, current, marginOf(crowded), share)}
}

// A Choice is what ranks are told to do next.
type Choice struct {
	Way       int    // that is to be used
	After     int    // broadcasts after which Try is called again, at least 1
	Current   Sample // running median of that way
	Incumbent Sample // the same of the incumbent; NaN while it was not run, or if there is none
}

// Try is collective: it times a pair of batches of broadcasts of buf, by the way in use and by another
// one, and tells what to do next. buf holds the same bytes on all ranks: it is called after a
// broadcast of it. since is how many broadcasts there were since the last call.
func (k *Keeper) Try(buf []byte, since int) (Choice, error) {
	// Ranks may still be busy with broadcasts before this one: that is none of the cost.
	if err := k.watch.Max(nil); err != nil {
		return Choice{}, err
	}
	begin := k.watch.Now()
	if err := k.watch.Refresh(); err != nil {
		return Choice{}, err
	}
	told := []float64{float64(k.judge.current), float64(k.judge.next())}
	if err := k.watch.Tell(told); err != nil {
		return Choice{}, err
	}
	pair := []int{int(told[0]), int(told[1])}
	roots, first := k.watch.batch(k.roots, k.turn, k.batch), firstWay(k.turn, len(k.roots))
	var samples [2]Sample
	for i := range pair {
		i = (first + i) % len(pair)
		var err error
		if samples[i], err = k.watch.Time(k.ways[pair[i]], buf, roots...); err != nil {
			return Choice{}, err
		}
	}
	k.turn++
	k.judge.add(pair[1], samples[0], samples[1])
	after := k.judge.after(since, k.watch.Now()-begin)
	current, incumbent := k.judge.median(k.judge.current), k.judge.median(k.judge.incumbent)
	told = []float64{float64(k.judge.current), float64(after), current.Cold, current.Hot, incumbent.Cold, incumbent.Hot}
	if err := k.watch.Tell(told); err != nil {
		return Choice{}, err
	}
	return Choice{int(told[0]), int(told[1]), Sample{told[2], told[3]}, Sample{told[4], told[5]}}, nil
}

const (
	window    = 11         // pairs of which a running median is, and that a way has to win to displace the incumbent
	enough    = 7          // pairs that it has to win to displace another way
	hurry     = 16         // times sooner a pair is repeated that the way in use has lost
	inStock   = 2 * window // pairs that may be run sooner than the share allows
	mostWait  = 1 << 24    // broadcasts; of a clock that stands still, too
	leastWait = 4          // broadcasts
)

// A judge decides on rank 0, from pairs of samples, which way to use and when to look again.
//
// A way displaces the incumbent after winning 11 pairs against it without losing one, by the margin as in
// signTest: of two equal ways, one does so in one of 2,048 runs of 11 pairs. The incumbent displaces
// another way, and one of the others another one, after 7, the incumbent without a margin: a tie goes to
// it. Other ties do not count: a host that fails may slow down some of the roots only.
type judge struct {
	margin    float64
	share     float64
	incumbent int // or None
	current   int
	rival     int // that is tried next
	lost      bool
	last      Sample     // of the way in use, in the last pair
	before    Sample     // the same in the pair before
	streak    []int      // per way: pairs that it has won against the one in use since it lost one
	spent     []float64  // per way: s, that trying it has taken since the last change
	recent    [][]Sample // per way: the last ones
	debt      float64    // s that tries have cost more than their share
}

func newJudge(ways, incumbent, current int, margin, share float64) *judge {
	j := &judge{margin: margin, share: share, incumbent: incumbent, current: current, streak: make([]int, ways), spent: make([]float64, ways), recent: make([][]Sample, ways)}
	j.rival = j.choose()
	return j
}

// next is the way to be tried against the one in use.
func (j *judge) next() int { return j.rival }

// median of the way's last samples.
func (j *judge) median(way int) Sample {
	if way == None {
		return medians(nil)
	}
	return medians(j.recent[way])
}

// add judges a pair.
func (j *judge) add(rival int, current, other Sample) {
	j.recent[j.current] = latest(j.recent[j.current], current)
	j.recent[rival] = latest(j.recent[rival], other)
	j.before, j.last = j.last, current
	j.spent[rival] += other.score()
	margin := j.margin
	if rival == j.incumbent {
		margin = 1
	}
	faster := other.Cold*margin <= current.Cold || other.Hot*margin <= current.Hot
	slower := other.Cold > current.Cold*j.margin || other.Hot > current.Hot*j.margin
	j.lost = faster && !slower
	switch {
	case slower:
		j.streak[rival] = 0
	case faster:
		j.streak[rival]++
	}
	needed := enough
	if j.current == j.incumbent {
		needed = window
	}
	if j.streak[rival] >= needed {
		j.current, j.lost = rival, false
		clear(j.streak)
		clear(j.spent)
	}
	if j.rival = j.choose(); j.lost {
		j.rival = j.promising()
	}
}

// latest are the samples of the window, with one more.
func latest(samples []Sample, s Sample) []Sample {
	samples = append(samples, s)
	return samples[max(0, len(samples)-window):]
}

// choose returns the way to be tried next: that on which the least time was spent, so that one that is
// dreadful is tried as much more seldom as it takes longer.
func (j *judge) choose() int {
	best := -1
	for way, spent := range j.spent {
		if way != j.current && (best < 0 || spent < j.spent[best]) {
			best = way
		}
	}
	return best
}

// promising returns the way that took the least when it was last tried: that which the way in use has just lost to, or one
// that may be better still and is spared going by way of the other.
func (j *judge) promising() int {
	best, least := -1, math.Inf(1)
	for way, samples := range j.recent {
		if n := len(samples); n > 0 && way != j.current && samples[n-1].score() < least {
			best, least = way, samples[n-1].score()
		}
	}
	return best
}

// after is the number of broadcasts until the next try, when the last one has cost so many
// seconds and there were so many broadcasts since the one before. In the long run tries cost no
// more than the share: broadcasts earn it, and tries spend it. A pair that the
// way in use has lost is repeated sooner, out of a stock that is filled up again later. Broadcasts take the
// running median, but the cluster may have changed: those to come take as long as the last sample if that is longer,
// and those between two samples as long as both.
func (j *judge) after(since int, cost float64) int {
	each := j.median(j.current).Hot
	if !(each > 0) {
		return mostWait
	}
	j.debt = max(0, j.debt+cost-j.share*max(each, min(j.before.Hot, j.last.Hot))*float64(since))
	wait := j.debt / (j.share * each)
	if j.debt < inStock*cost {
		now := max(each, j.last.Hot)
		if wait = j.debt / (j.share * now); j.lost {
			wait = cost / (j.share * now) / hurry
		}
	}
	return int(min(mostWait, max(leastWait, math.Ceil(wait))))
}
