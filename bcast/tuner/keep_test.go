package tuner

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A job is a loop of broadcasts, by ways whose times change, that follows a keeper.
type job struct {
	used        []int   // broadcasts of the loop by each way
	changes     []int   // broadcasts after which the way changed
	loop, extra float64 // s
	dearest     float64 // s, the dearest try
	tries, last int
}

// runJob plays the job with ways of which times says what each takes at each broadcast.
func runJob(t *testing.T, seed uint64, broadcasts, ways, incumbent, current int, noise, share float64, times func(way, i int) float64) job {
	t.Helper()
	s := &solo{}
	rng := rand.New(rand.NewPCG(seed, 3))
	w := quick(t, s)
	at := 0
	var all []Way
	for way := range ways {
		all = append(all, func([]byte, int) error {
			s.now += times(way, at) * (1 + noise*rng.ExpFloat64())
			return nil
		})
	}
	k := w.Keep(all, incumbent, current, []int{0}, 2, false, share)
	j := job{used: make([]int, ways)}
	left, since := 10, 0
	for ; at < broadcasts; at++ {
		before := s.now
		if err := all[current](nil, 0); err != nil {
			t.Fatal(err)
		}
		j.loop += s.now - before
		j.used[current]++
		since++
		if left--; left > 0 {
			continue
		}
		before = s.now
		c, err := k.Try(nil, since)
		if err != nil {
			t.Fatal(err)
		}
		cost := s.now - before
		j.extra, j.dearest = j.extra+cost, max(j.dearest, cost)
		j.tries++
		if c.Way != current {
			j.changes = append(j.changes, at)
		}
		current, left, since = c.Way, c.After, 0
	}
	j.last = current
	return j
}

// Of what changes in the middle of a job a keeper becomes aware, without spending more than its share
// of the time and its stock of tries.
func TestKeeperFollowsTheCluster(t *testing.T) {
	const (
		n     = 40000
		share = 0.02
		us    = 1e-6
	)
	steady := func(times ...float64) func(int, int) float64 {
		return func(way, _ int) float64 { return times[way] * us }
	}
	from := func(at int, times func(int, int) float64, then func(int, int) float64) func(int, int) float64 {
		return func(way, i int) float64 {
			if i < at {
				return times(way, i)
			}
			return then(way, i)
		}
	}
	for _, c := range []struct {
		name      string
		incumbent int
		current   int
		times     func(way, i int) float64
		last      []int // ways that may be in use in the end
		changes   int
		within    int // broadcasts from the middle to the last change
	}{
		{"all stays", 0, 0, steady(100, 120, 150), []int{0}, 0, 0},
		{"a tie is native's", 0, 0, steady(100, 99, 150), []int{0}, 0, 0},
		{"the library's own slows down", 0, 0, from(n/2, steady(100, 120, 150), steady(300, 120, 150)), []int{1}, 2, 1000},

		{"all of ours slow down", 0, 1, from(n/2, steady(100, 50, 60), steady(100, 500, 600)), []int{0}, 1, 1000},
		{"one of ours slows down", 0, 1, from(n/2, steady(100, 50, 60), steady(100, 500, 60)), []int{2}, 1, 1000},
		{"and recovers", 0, 0, from(n/4, steady(100, 120, 150), from(n/2, steady(300, 120, 150), steady(100, 120, 150))), []int{0}, 3, 3000},
		{"another is dreadful", 0, 0, steady(100, 10000, 150), []int{0}, 0, 0},
		{"no incumbent: a tie stays", None, 1, steady(100, 100, 150), []int{1}, 0, 0},
		{"no incumbent: the way in use slows down", None, 0, from(n/2, steady(50, 100, 60), steady(500, 100, 60)), []int{2}, 1, 1000},
	} {
		j := runJob(t, 1, n, 3, c.incumbent, c.current, 0.05, share, c.times)
		t.Logf("%s: used %v, changes %v, %d tries, extra %.3g of %.3g s", c.name, j.used, j.changes, j.tries, j.extra, j.loop)
		if !slices.Contains(c.last, j.last) {
			t.Errorf("%s: way %d in the end, want one of %v", c.name, j.last, c.last)
		}
		if len(j.changes) > c.changes || c.changes > 0 && len(j.changes) == 0 {
			t.Errorf("%s: changes after %v, want up to %d", c.name, j.changes, c.changes)
		}
		if k := len(j.changes); k > 0 && j.changes[k-1] > n/2+c.within {
			t.Errorf("%s: the last change after %d, want %d at most", c.name, j.changes[k-1], n/2+c.within)
		}
		if bound := share*j.loop + (inStock+1)*j.dearest; j.extra > bound {
			t.Errorf("%s: tries cost %g s of %g, want at most %g", c.name, j.extra, j.loop, bound)
		}
	}
}

// A way that has become no better than the library's own gives way to it, sooner or later: seven pairs in a row
// are needed in which it is not worse, and each comes out either way.
func TestKeeperGoesBackToNative(t *testing.T) {
	const jobs = 20
	back := 0
	for seed := range jobs {
		j := runJob(t, uint64(seed), 40000, 3, 0, 1, 0.05, 0.02, func(way, _ int) float64 { return []float64{100e-6, 100e-6, 150e-6}[way] })
		if len(j.changes) > 1 {
			t.Errorf("job %d: changes after %v: ties are the library's", seed, j.changes)
		}
		if j.last == 0 {
			back++
		}
	}
	if back <= jobs/2 {
		t.Errorf("%d of %d jobs are back at the library's own, want more than half", back, jobs)
	}
}

// Where all ways slow down alike the wait for the next pair is as long as broadcasts take now: those between two pairs
// pay for one, and no longer.
func TestKeeperWaitsForWhatItPays(t *testing.T) {
	const n, share = 4000, 0.02
	var tries [2]int
	for slower := range tries {
		j := runJob(t, 1, n, 2, None, 0, 0, share, func(_, i int) float64 {
			if i >= n/4 && slower == 1 {
				return 2e-3
			}
			return 100e-6
		})
		tries[slower] = j.tries
		if bound := share*j.loop + (inStock+1)*j.dearest; j.extra > bound {
			t.Errorf("tries cost %g s, want at most %g", j.extra, bound)
		}
	}
	if tries[1] < tries[0]*3/4 {
		t.Errorf("%d tries where all became 20 times as slow, %d where nothing did", tries[1], tries[0])
	}
}

// Of the pairs of a keeper, either way comes first from each root.
func TestTriesMixRootsAndOrder(t *testing.T) {
	for n := 1; n <= MostRoots; n++ {
		s := &solo{}
		var first []int // way and root of the first broadcast of a try
		way := func(i int) Way {
			return func(_ []byte, root int) error {
				s.now += 1e-3
				if first == nil {
					first = []int{i, root}
				}
				return nil
			}
		}
		k := quick(t, s).Keep([]Way{way(0), way(1)}, 0, 0, []int{0, 1, 2}[:n], 2, false, 0.02)
		seen := make(map[[2]int]int)
		for range 12 {
			first = nil
			if _, err := k.Try(nil, 100); err != nil {
				t.Fatal(err)
			}
			seen[[2]int(first)]++
		}
		for what, times := range seen {
			if len(seen) != 2*n || times != 12/(2*n) {
				t.Errorf("%d roots: %d tries begin with way %d from root %d, of %d combinations; want %d of %d", n, times, what[0], what[1], len(seen), 12/(2*n), 2*n)
			}
		}
	}
}

// A way that is faster by a twentieth displaces the library's own after eleven tries, and never where ranks share cores.
func TestKeeperWantsMoreOnCrowdedCores(t *testing.T) {
	for _, crowded := range []bool{false, true} {
		s := &solo{}
		way := func(each float64) Way {
			return func([]byte, int) error { s.now += each; return nil }
		}
		k := quick(t, s).Keep([]Way{way(1e-3), way(0.95e-3)}, 0, 0, []int{0}, 2, crowded, 0.02)
		changed := 0
		for try := 1; try <= 30 && changed == 0; try++ {
			c, err := k.Try(nil, 100)
			if err != nil {
				t.Fatal(err)
			}
			if c.Way == 1 {
				changed = try
			}
		}
		if want := map[bool]int{false: window, true: 0}[crowded]; changed != want {
			t.Errorf("crowded %v: changed over at try %d, want %d", crowded, changed, want)
		}
	}
}

// What displaces the way in use, and after how many pairs: the incumbent does so after seven in which it is as fast in
// one respect and not slower by the margin in the other, another way has to be faster by the margin in one, eleven
// times against the incumbent.
func TestWhatDisplacesTheWayInUse(t *testing.T) {
	for _, c := range []struct {
		name      string
		incumbent int // of ways 0, which is in use, and 1
		other     Sample
		after     int // pairs; 0: never
	}{
		{"the incumbent ties", 1, Sample{1, 1}, enough},
		{"the incumbent is as fast cold, and slower hot by less than the margin", 1, Sample{1, 1.02}, enough},
		{"the incumbent is as fast hot, and slower cold by less than the margin", 1, Sample{1.02, 1}, enough},
		{"the incumbent is slower by less than the margin", 1, Sample{1.01, 1.01}, 0},
		{"the incumbent is faster cold, and slower hot", 1, Sample{0.5, 1.05}, 0},
		{"the incumbent is faster hot, and slower cold", 1, Sample{1.05, 0.5}, 0},
		{"another ties", None, Sample{1, 1}, 0},
		{"another is faster by less than the margin", None, Sample{0.98, 0.98}, 0},
		{"another is faster cold", None, Sample{0.9, 1.02}, enough},
		{"another is faster hot", None, Sample{1.02, 0.9}, enough},
		{"another is faster cold than the incumbent", 0, Sample{0.9, 1.02}, window},
		{"another is faster hot than the incumbent", 0, Sample{1.02, 0.9}, window},
		{"another is faster cold than the incumbent, and slower hot", 0, Sample{0.5, 1.05}, 0},
	} {
		j := newJudge(2, c.incumbent, 0, margin, 0.02)
		after := 0
		for pair := 1; pair <= 2*window && after == 0; pair++ {
			if j.add(1, Sample{1, 1}, c.other); j.current == 1 {
				after = pair
			}
		}
		if after != c.after {
			t.Errorf("%s: changed over after %d pairs, want %d", c.name, after, c.after)
		}
	}
}

// A try of two batches of two broadcasts of 1 ms costs 4 ms, or two and twice the other's time, which 200 broadcasts of
// 1 ms earn at 2 %. It is repeated 16 times sooner if the way in use has lost. Where no time passes there is nothing to earn.
func TestWhenIsTheNextTry(t *testing.T) {
	for _, c := range []struct {
		name           string
		current, other float64 // s
		least, most    int
	}{
		{"a tie", 1e-3, 1e-3, 200, 201},
		{"the other is slower", 1e-3, 2e-3, 300, 301},
		{"the other is faster", 1e-3, 0.5e-3, 10, 10}, // 150/16
		{"a clock that stands still", 0, 0, mostWait, mostWait},
	} {
		s := &solo{}
		way := func(each float64) Way {
			return func([]byte, int) error { s.now += each; return nil }
		}
		got, err := quick(t, s).Keep([]Way{way(c.current), way(c.other)}, 0, 0, []int{0}, 2, false, 0.02).Try(nil, 0)
		if err != nil || got.Way != 0 || got.After < c.least || got.After > c.most {
			t.Errorf("%s: %+v, %v, want way 0 for %d to %d broadcasts", c.name, got, err, c.least, c.most)
		}
	}
}
