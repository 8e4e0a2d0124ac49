package tuner

import (
	"cmp"
	"math"
	"slices"
)

// A Contest compares ways to broadcast one buffer from some roots. All of its functions are
// collective. Decisions are rank 0's, which tells them.
type Contest struct {
	watch  *Stopwatch
	roots  []int
	buf    []byte
	margin float64
	limit  float64 // s, by rank 0's clock, when the contest has to end; +Inf: never
	since  float64 // s, by rank 0's clock, the start of the test
	least  float64 // s, by rank 0's clock, until when it takes further looks
	batch  int     // broadcasts back to back
	cheap  bool    // they cost next to nothing
	turn   int     // rounds so far, of all tests
	begun  float64 // s, by rank 0's clock, the start of the last round
	round  float64 // s that it took
	closed bool    // the limit is reached
}

const (
	usualTime  = 1        // s after which the test of a contest without a limit takes no further look
	sureRounds = 11       // that it has in any case: one pair of seven may be an outlier, and the second look forgives it
	batchTime  = 1e-3     // s of a batch, about
	mostBatch  = 256      // broadcasts of a batch
	cheapTime  = 1e-3     // s of a broadcast up to which ways of ours are compared hot, too
	head       = 64 << 10 // bytes by which libraries connect ranks, and choose how they send
)

// MostRoots is from how many roots a contest takes its samples.
const MostRoots = 3

// Contest is collective: it prepares to compare ways to broadcast buf, which holds the same bytes
// on all ranks, from up to MostRoots roots in turn. limit is the time in s after which no further
// round is begun that would not end before, by the time that the last one took; 0: as long as it
// takes, which is for a test that stays in doubt a second, or eleven rounds. crowded is that of NewStopwatch.
func (w *Stopwatch) Contest(roots []int, buf []byte, crowded bool, limit float64) *Contest {
	now := w.Now()
	c := &Contest{watch: w, roots: roots, buf: buf, margin: marginOf(crowded), limit: math.Inf(1), batch: 1, begun: now}
	if limit > 0 {
		c.limit = now + limit
	}
	return c
}

// Warm is collective: each way broadcasts the head of the buffer from each root, untimed, as
// libraries connect ranks at their first message; then the first way is timed to find how
// many broadcasts make a batch. If there is no time for that, the contest is over.
func (c *Contest) Warm(ways ...Way) error {
	short := c.buf[:min(len(c.buf), head)]
	for _, way := range ways {
		for _, root := range c.roots {
			if on, err := c.next(true); err != nil || !on {
				return err
			}
			if err := way(short, root); err != nil {
				return err
			}
		}
	}
	least := math.Inf(1)
	for range 2 { // the first one may still be making room for the rest of the buffer
		if on, err := c.next(true); err != nil || !on {
			return err
		}
		s, err := c.watch.Time(ways[0], c.buf, c.roots[0])
		if err != nil {
			return err
		}
		least = min(least, s.Cold)
	}
	told := []float64{least}
	if err := c.watch.Tell(told); err != nil {
		return err
	}
	c.batch = int(min(mostBatch, max(2, math.Ceil(batchTime/told[0])))) // all for a clock that stands still
	c.cheap = told[0] <= cheapTime
	return nil
}

// next is collective: it tells all ranks whether rank 0 wants another round and has the time for
// it. Clocks are compared again before, if need be.
func (c *Contest) next(wanted bool) (bool, error) {
	if c.closed {
		return false, nil
	}
	now := c.watch.Now()
	c.round, c.begun = now-c.begun, now
	const no, yes, late = 0, 1, 2
	answer := []float64{no}
	switch {
	case now+c.round > c.limit:
		answer[0] = late
	case wanted:
		answer[0] = yes
	}
	if err := c.watch.Tell(answer); err != nil {
		return false, err
	}
	if c.closed = answer[0] == late; answer[0] != yes {
		return false, nil
	}
	return true, c.watch.Refresh()
}

// batch are the roots of so many broadcasts back to back in a round: the roots in turn, from another
// one on in each round.
//
// Where all ranks share a host, two rounds of four have one root only. Between hosts they have not:
// in a loop from one root that root only gets rid of messages, as fast as the library takes them, and how
// soon they are there does not show.
func (w *Stopwatch) batch(roots []int, turn, batch int) []int {
	step := 1
	if w.clocks.oneHost {
		step -= turn / 2 % 2
	}
	list := make([]int, batch)
	for i := range list {
		list[i] = roots[(turn+step*i)%len(roots)]
	}
	return list
}

// firstWay is from which way on a round goes through them, another one in each. With up to MostRoots roots it
// keeps step neither with the first root, nor with what batch makes of the turn.
func firstWay(turn, roots int) int {
	if roots%2 == 0 {
		turn += turn / roots
	}
	return turn
}

// run is collective: one round, in which each way broadcasts so many times back to back.
// Samples are rank 0's.
func (c *Contest) run(ways []Way, batch int, samples []Sample) error {
	roots, first := c.watch.batch(c.roots, c.turn, batch), firstWay(c.turn, len(c.roots))
	c.turn++
	for i := range ways {
		way := (first + i) % len(ways)
		var err error
		if samples[way], err = c.watch.Time(ways[way], c.buf, roots...); err != nil {
			return err
		}
	}
	return nil
}

// Best is collective: it returns the indices of the ways, the fastest by its median first. In three rounds
// all are run, then the better half of them in three more, until one is left: none is left out on fewer than
// three times, and what is left out later comes before what was earlier. If the time does not suffice for three rounds
// their order stays. What is best here may be so by luck, so nothing is to be said of it by these times: Beats takes
// new ones.
func (c *Contest) Best(ways []Way) ([]int, error) {
	const rounds = 3
	ranked := make([]int, len(ways))
	for i := range ranked {
		ranked[i] = i
	}
	left := ranked // the first of them, which are still in
	taken := make([][]Sample, len(ways))
	batch := 1
	if c.cheap {
		batch = c.batch
	}
	for len(left) > 1 {
		running := make([]Way, len(left))
		for i, k := range left {
			running[i] = ways[k]
		}
		samples := make([]Sample, len(left))
		for range rounds {
			on, err := c.next(true)
			if err != nil {
				return nil, err
			}
			if !on {
				return ranked, nil
			}
			if err := c.run(running, batch, samples); err != nil {
				return nil, err
			}
			for i, k := range left {
				taken[k] = append(taken[k], samples[i])
			}
		}
		order := make([]float64, len(left))
		for i, k := range left {
			order[i] = float64(k)
		}
		score := func(k float64) float64 { return medians(taken[int(k)]).score() }
		slices.SortStableFunc(order, func(a, b float64) int { return cmp.Compare(score(a), score(b)) })
		if err := c.watch.Tell(order); err != nil {
			return nil, err
		}
		for i := range left {
			left[i] = int(order[i])
		}
		left = left[:(len(left)+1)/2]
	}
	return ranked, nil
}

// A Verdict is the outcome of Beats.
//
// A challenger that is slower by the margin of 3 % or more (10 % among ranks that share cores), cold or
// hot, wins with a probability of at most 2.1 %, and one that is no faster by the margin in either
// with one of at most 4.2 %. Slower means here: in half of the pairs or more, whatever the
// distribution of the times, as long as pairs are independent of each other. 2.1 % is for just
// half of the pairs; for 60 % it is 0.24 %.
type Verdict struct {
	Wins       bool
	Decided    bool   // false: the time has run out before
	Rounds     int    // pairs
	Challenger Sample // medians
	Incumbent  Sample
}

// Beats is collective: it tells whether the challenger is to replace the incumbent, the same on
// all ranks.
func (c *Contest) Beats(challenger, incumbent Way) (Verdict, error) {
	test := signTest{margin: c.margin}
	pair := make([]Sample, 2)
	c.since = c.watch.Now()
	if c.least = c.limit; math.IsInf(c.limit, 1) {
		c.least = c.since + usualTime
	}
	for {
		on, err := c.next(c.undecided(&test))
		if err != nil {
			return Verdict{}, err
		}
		if !on {
			break
		}
		if err := c.run([]Way{challenger, incumbent}, c.batch, pair); err != nil {
			return Verdict{}, err
		}
		test.add(pair[0], pair[1])
	}
	ours, other := medians(test.challenger), medians(test.opponent)
	told := []float64{0, 0, ours.Cold, ours.Hot, other.Cold, other.Hot}
	if test.over() {
		told[1] = 1
		if test.won() {
			told[0] = 1
		}
	}
	if err := c.watch.Tell(told); err != nil {
		return Verdict{}, err
	}
	return Verdict{told[0] > 0, told[1] > 0, test.rounds, Sample{told[2], told[3]}, Sample{told[4], told[5]}}, nil
}

// undecided tells rank 0 whether the test needs another round, and is worth it.
func (c *Contest) undecided(t *signTest) bool {
	if t.over() {
		return false
	}
	if t.rounds < sureRounds {
		return true
	}
	next := t.rounds + 1 // look
	for !slices.Contains(looks[:], next) {
		next++
	}
	now := c.watch.Now()
	each := (now - c.since) / float64(t.rounds)
	return now+float64(next-t.rounds)*each <= c.least
}
