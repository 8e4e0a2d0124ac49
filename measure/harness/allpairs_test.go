package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// answers is a test in which each rank tells the other its number, and finds two rows.
type answers struct {
	comm mpi.Communicator
	warm int // exchanges that are not counted
	hook func(peer int) error
}

func (a *answers) exchange(rows []float64, peer int, _ bool, task int) ([]float64, error) {
	if task == WarmUp {
		a.warm++
		_, err := a.ask(peer)
		return append(rows, 17), err // which is forgotten
	}
	if a.hook != nil {
		if err := a.hook(peer); err != nil {
			return rows, err
		}
	}
	answer, err := a.ask(peer)
	return append(rows, 0, answer, 1, -answer), err
}

// ask returns the number that the peer tells.
func (a *answers) ask(peer int) (float64, error) {
	own, other := []byte{byte(a.comm.Rank())}, []byte{0}
	tell := func() error { return a.comm.Send(own, peer, FirstTag) }
	hear := func() error { return a.comm.Recv(other, peer, FirstTag) }
	if a.comm.Rank() > peer {
		tell, hear = hear, tell
	}
	if err := tell(); err != nil {
		return 0, err
	}
	err := hear()
	return float64(other[0]), err
}

// worlds are the ways in which the tests run ranks.
var worlds = map[string]func(n int, body func(mpi.Communicator) error) error{
	"local": func(n int, body func(mpi.Communicator) error) error { return local.Run(n, nil, body) },
	"rendezvous": func(n int, body func(mpi.Communicator) error) error {
		return local.Run(n, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error { return body(bare{c}) })
	},
	"simnet": func(n int, body func(mpi.Communicator) error) error {
		cluster, err := gen.Parse(fmt.Sprintf("star:%d", n))
		if err != nil {
			return err
		}
		return simnet.Run(cluster.Graph, nil, nil, body)
	},
}

// pairsOf conducts all pairs of one's own test; the settings of rank 0 count.
func pairsOf(ctx context.Context, comm mpi.Communicator, test Exchange, s *Settings) (*Outcome, error) {
	s = cmp.Or(s, &Settings{})
	return Conduct(ctx, comm, s.Silence, func(c *Conductor) (*Outcome, error) { return c.AllPairs(test, s) })
}

// allPairs runs answers under the settings, and returns what rank 0 is told.
func allPairs(t *testing.T, world string, n int, s Settings) (*Outcome, []Row) {
	t.Helper()
	var rows []Row
	var outcome *Outcome
	s.Deliver = func(found []Row, _ Progress) {
		for _, row := range found { // two of each exchange
			for values := range slices.Chunk(row.Values, 2) {
				row.Values = values
				rows = append(rows, row)
			}
		}
	}
	err := worlds[world](n, func(c mpi.Communicator) error {
		var own *Settings // only rank 0's count
		if c.Rank() == 0 {
			own = &s
		}
		o, err := pairsOf(context.Background(), c, (&answers{comm: c}).exchange, own)
		if c.Rank() == 0 {
			outcome = o
		} else if o != nil {
			return fmt.Errorf("rank %d has an outcome", c.Rank())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome, rows
}

// checkRows: each pair of the given ones has been measured once in each
// repetition, by both ranks, in one round, and each found its two rows.
func checkRows(t *testing.T, rows []Row, repetitions int, isPair func(a, b int) bool, ranks int) {
	t.Helper()
	type key struct{ repetition, from, to int }
	rounds := make(map[key]int)
	for _, r := range rows {
		if to := float64(r.To); !slices.Equal(r.Values, []float64{0, to}) && !slices.Equal(r.Values, []float64{1, -to}) {
			t.Fatalf("row %+v, want what rank %d has told", r, r.To)
		}
		if r.Values[0] == 0 {
			k := key{r.Repetition, r.From, r.To}
			if _, twice := rounds[k]; twice {
				t.Fatalf("%+v is there twice", k)
			}
			rounds[k] = r.Round
		}
	}
	count := 0
	for k := range repetitions {
		for a := range ranks {
			for b := range a {
				there, ok := rounds[key{k, a, b}]
				back, okBack := rounds[key{k, b, a}]
				if want := isPair(b, a); ok != want || okBack != want || there != back {
					t.Fatalf("repetition %d, pair %d, %d: measured %t and %t in rounds %d and %d, want %t", k, b, a, ok, okBack, there, back, want)
				}
				if ok {
					count += 2
				}
			}
		}
	}
	if len(rows) != 2*count {
		t.Errorf("%d rows, want %d", len(rows), 2*count)
	}
}

// checkOneByOne: each group has one pair at most in each round.
func checkOneByOne(t *testing.T, rows []Row, groups *topology.Hierarchy) {
	t.Helper()
	type key struct{ repetition, round, group int }
	pairs := make(map[key][2]int)
	for _, r := range rows {
		k := key{r.Repetition, r.Round, 0}
		if groups != nil {
			k.group = groups.Common(r.From, r.To)
		}
		p := [2]int{min(r.From, r.To), max(r.From, r.To)}
		if other, ok := pairs[k]; ok && other != p {
			t.Fatalf("%+v: pairs %v and %v are measured at once", k, other, p)
		}
		pairs[k] = p
	}
}

func TestAllPairs(t *testing.T) {
	every := func(a, b int) bool { return true }
	h := tree(t)
	within := func(a, b int) bool { return h.Common(a, b) != 0 }
	for world := range worlds {
		for _, c := range []struct {
			name     string
			ranks    int
			settings Settings
			rounds   int // per repetition: n-1 for even n and n for odd, or by hand
			isPair   func(a, b int) bool
		}{
			{"one rank", 1, Settings{}, 0, every},
			{"two", 2, Settings{Repetitions: 2}, 1, every},
			{"seven", 7, Settings{Repetitions: 2}, 7, every},
			{"ten", 10, Settings{Seed: 4}, 9, every},
			{"ten by halving", 10, Settings{Pairs: Pairs{Halving: true}}, 11, every},
			{"seven, one pair at a time", 7, Settings{Pairs: Pairs{Sequential: true}}, 21, every},
			{"groups", 12, Settings{Pairs: Pairs{Groups: h}, Repetitions: 2}, 3 + 5 + 11, every},
			{"groups by halving", 12, Settings{Pairs: Pairs{Groups: h, Halving: true}}, 3 + 6 + 12, every},
			{"groups alone", 12, Settings{Pairs: Pairs{Groups: h, WithinGroups: true}}, 3 + 5, within},
			// Two pairs at once in a host of 4, three in a rack, six of all.
			{"groups, one pair at a time", 12, Settings{Pairs: Pairs{Groups: h, Sequential: true}}, 3*2 + 5*3 + 11*6, every},
			{"chosen", 5, Settings{Pairs: Pairs{Chosen: [][][2]int{{{0, 4}, {3, 1}}, {{1, 4}}}}, Repetitions: 2}, 2, func(a, b int) bool {
				return b == 4 && a < 2 || a == 1 && b == 3
			}},
		} {
			t.Run(world+"/"+c.name, func(t *testing.T) {
				var last Progress
				c.settings.Progress = func(p Progress) {
					if p.Pairs < last.Pairs || p.Done < last.Done || p.Pairs > p.TotalPairs || p.Rate < 0 {
						t.Errorf("progress %+v after %+v", p, last)
					}
					last = p
				}
				o, rows := allPairs(t, world, c.ranks, c.settings)
				if last.Pairs != o.Pairs || last.TotalPairs != o.Pairs || last.Done != o.Rounds {
					t.Errorf("progress ends with %+v, outcome %+v", last, o)
				}
				repetitions := max(c.settings.Repetitions, 1)
				if o.Rounds != repetitions*c.rounds || o.TotalRounds != o.Rounds || o.Stopped != "" || len(o.Notes) != 0 {
					t.Errorf("outcome %+v, want %d rounds", o, repetitions*c.rounds)
				}
				checkRows(t, rows, repetitions, c.isPair, c.ranks)
				if c.settings.Sequential {
					checkOneByOne(t, rows, c.settings.Groups)
				}
				if o.Pairs != len(rows)/4 {
					t.Errorf("%d pairs, but rows of %d", o.Pairs, len(rows)/4)
				}
			})
		}
	}
}

// A still communicator has a clock that stands still.
type still struct{ mpi.Communicator }

func (still) Now() float64 { return 0 }

// TestGroupsGoAtTheirOwnPace: in the second repetition one host's ranks wait in their first exchange
// until the other host has done all of its own. With a barrier of all ranks before each
// round that would never be. How long they go by themselves depends on how long rounds take: no time here.
func TestGroupsGoAtTheirOwnPace(t *testing.T) {
	const n = 16
	h, err := topology.NewHierarchy(n, []topology.Level{{}}, []topology.Group{
		{Hosts: []int{0, 1, 2, 3, 4, 5, 6, 7}}, {Hosts: []int{8, 9, 10, 11, 12, 13, 14, 15}},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	const each = 7        // exchanges of a rank with its host in a repetition
	var done atomic.Int32 // by the first host
	all := make(chan struct{})
	err = local.Run(n, nil, func(c mpi.Communicator) error {
		own := 0
		test := &answers{comm: c}
		test.hook = func(peer int) error {
			if peer/8 != c.Rank()/8 {
				return nil
			}
			own++
			switch {
			case own <= each:
			case c.Rank() < 8:
				if done.Add(1) == 8*each {
					close(all)
				}
			default:
				select {
				case <-all:
				case <-time.After(time.Minute):
					return fmt.Errorf("rank %d: the other host has only done %d exchanges of %d", c.Rank(), done.Load(), 8*each)
				}
			}
			return nil
		}
		_, err := pairsOf(context.Background(), still{c}, test.exchange, &Settings{Pairs: Pairs{Groups: h}, Repetitions: 2})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryPairOfRandomGroups: whatever the groups, every pair is measured once, no
// rank twice in a round, pairs of one round are of one level, levels go
// upwards, and joining takes no more rounds than all ranks by themselves.
func TestEveryPairOfRandomGroups(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := 2 + rng.IntN(40)
		ranks := rng.Perm(n)
		var groups []topology.Group
		for start := 0; start < n; {
			size := min(1+rng.IntN(9), n-start)
			if rack := ranks[start : start+size]; size > 1 && size < n {
				groups = append(groups, topology.Group{Hosts: rack, Level: 1})
				if part := rng.IntN(size); part > 1 {
					groups = append(groups, topology.Group{Hosts: rack[:part]})
				}
			}
			start += size
		}
		h, err := topology.NewHierarchy(n, []topology.Level{{}, {}}, groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, halving := range []bool{false, true} {
			p := Pairs{Groups: h, Halving: halving}
			seen := make(map[[2]int]bool)
			last := 0
			for i, round := range pairs(t, p, n, seed, int(seed%3)) {
				for _, pair := range round {
					level := h.Groups()[h.Common(pair[0], pair[1])].Level
					if seen[pair] || level < last {
						t.Fatalf("seed %d, halving %t, round %d: pair %v of level %d after level %d, twice: %t", seed, halving, i, pair, level, last, seen[pair])
					}
					seen[pair] = true
					last = level
				}
			}
			if len(seen) != n*(n-1)/2 {
				t.Fatalf("seed %d, halving %t: %d pairs, want %d", seed, halving, len(seen), n*(n-1)/2)
			}
			joining := 0 // rounds of all ranks
			for _, r := range roundsOf(t, p, n, seed, int(seed%3)) {
				if r.level == 0 {
					joining++
				}
			}
			if !halving && joining > circleRounds(n) {
				t.Fatalf("seed %d: %d rounds to join all %d ranks, want at most %d", seed, joining, n, circleRounds(n))
			}
		}
	}
}

// TestEqualGroupsTakeTheFewestRounds: k hosts of g ranks take g-1 rounds inside, and (k-1)g
// between them: n-1 together, as without groups.
func TestEqualGroupsTakeTheFewestRounds(t *testing.T) {
	for _, c := range [][2]int{{2, 2}, {2, 32}, {4, 8}, {8, 4}, {6, 10}} {
		n := c[0] * c[1]
		var groups []topology.Group
		for host := range c[0] {
			g := topology.Group{}
			for i := range c[1] {
				g.Hosts = append(g.Hosts, host*c[1]+i)
			}
			groups = append(groups, g)
		}
		h, err := topology.NewHierarchy(n, []topology.Level{{}}, groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(roundsOf(t, Pairs{Groups: h}, n, 0, 0)); got != n-1 {
			t.Errorf("%d hosts of %d ranks: %d rounds, want %d", c[0], c[1], got, n-1)
		}
	}
}

// TestHalvingIsBufesExample: the steps of the example of ten nodes in Bufe 2014, section 2.3.2. The
// five of the first division stand in the text as they are here; in the others
// the text shifts the other way round, so they are compared as a set.
func TestHalvingIsBufesExample(t *testing.T) {
	numbers := make([]int, 1025)
	for i := range numbers {
		numbers[i] = i + 1
	}
	steps := halving(numbers[:10])
	for _, step := range steps {
		slices.SortFunc(step, func(a, b [2]int) int { return a[0] - b[0] })
	}
	first := [][][2]int{
		{{1, 6}, {2, 7}, {3, 8}, {4, 9}, {5, 10}},
		{{1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 6}},
		{{1, 8}, {2, 9}, {3, 10}, {4, 6}, {5, 7}},
		{{1, 9}, {2, 10}, {3, 6}, {4, 7}, {5, 8}},
		{{1, 10}, {2, 6}, {3, 7}, {4, 8}, {5, 9}},
	}
	second := []string{
		"[[1 3] [2 4] [6 8] [7 9]]", "[[1 5] [2 3] [6 10] [7 8]]", "[[1 4] [2 5] [6 9] [7 10]]",
	}
	last := [][2]int{{4, 5}, {9, 10}}
	if len(steps) != 11 || !reflect.DeepEqual(steps[:5], first) || !reflect.DeepEqual(steps[10], last) {
		t.Errorf("%d steps: %v; want 11, first %v, last %v", len(steps), steps, first, last)
	}
	for _, step := range steps[5:8] {
		if !slices.Contains(second, fmt.Sprint(step)) {
			t.Errorf("step %v, want one of %v", step, second)
		}
	}
	// T(n) of equation 2.3; computed by specs and by hand, and n-1 for powers of two.
	for n, want := range map[int]int{1: 0, 2: 1, 10: 11, 12: 12, 16: 15, 64: 63, 1000: 1001, 1025: 1034} {
		if got := len(halving(numbers[:n])); got != want {
			t.Errorf("halving(%d players) takes %d rounds, want %d", n, got, want)
		}
	}
}

// TestChosenRounds: each round has its pairs, in the order given, and no other.
func TestChosenRounds(t *testing.T) {
	chosen := [][][2]int{{{3, 1}}, {{0, 2}}, {{1, 3}, {0, 4}}}
	_, rows := allPairs(t, "local", 5, Settings{Pairs: Pairs{Chosen: chosen}, Repetitions: 2})
	if len(rows) != 2*2*2*4 {
		t.Errorf("%d rows, want two of either rank of 4 pairs, twice", len(rows))
	}
	for _, r := range rows {
		if p := [2]int{r.From, r.To}; !slices.Contains(chosen[r.Round], p) && !slices.Contains(chosen[r.Round], [2]int{p[1], p[0]}) {
			t.Errorf("round %d has pair %d", r.Round, p)
		}
	}
}

// TestAgain: rank 0 has two rounds measured again, and then all.
func TestAgain(t *testing.T) {
	const n = 6
	again := [][][2]int{{{0, 1}, {5, 3}}, {{2, 1}}}
	o, rows := allPairs(t, "local", n, Settings{Again: func(repetitions int) ([][][2]int, bool) {
		switch repetitions {
		case 1:
			return again, true
		case 2:
			return nil, true
		}
		return nil, false
	}})
	if o.Rounds != 5+2+5 || o.TotalRounds != o.Rounds || o.Repetitions != 3 || o.Pairs != 15+3+15 {
		t.Errorf("outcome %+v, want 12 rounds of 33 pairs in 3 repetitions", o)
	}
	count := make([]int, 3)
	for _, r := range rows {
		count[r.Repetition]++
		if r.Repetition == 1 {
			if p := [2]int{min(r.From, r.To), max(r.From, r.To)}; r.Round != 5 && r.Round != 6 || r.Round == 5 && p != [2]int{0, 1} && p != [2]int{3, 5} || r.Round == 6 && p != [2]int{1, 2} {
				t.Errorf("row %+v of a repetition of %v", r, again)
			}
		}
	}
	if want := []int{60, 12, 60}; !slices.Equal(count, want) {
		t.Errorf("%d rows by repetition, want %d", count, want)
	}
}

// silent lets rank 3 fall silent in the round in which it meets rank 1, until
// the others have ended.
func silent(c mpi.Communicator, s *Settings, over <-chan struct{}) error {
	test := &answers{comm: c}
	if c.Rank() == 3 {
		test.hook = func(peer int) error {
			if peer == 1 {
				<-over
			}
			return nil
		}
	}
	_, err := pairsOf(context.Background(), c, test.exchange, s)
	return err
}

// silence is what the tests allow: ranks on a busy machine are late by less. All tests wait at once.
const silence = time.Second

// TestSilentRankIsNamed: the pair is named on a rank that waits, with the hosts and the round; the
// world ends with that.
func TestSilentRankIsNamed(t *testing.T) {
	t.Parallel()
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			var once sync.Once
			var named [6]error
			err := local.Run(6, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
				err := silent(c, &Settings{Control: Control{Silence: silence}}, over)
				if c.Rank() != 3 {
					once.Do(func() { close(over) })
				}
				named[c.Rank()] = err
				return err
			})
			// Both wait for each other as far as they know: either may be first to say so.
			var s *SilentError
			if !errors.As(err, &s) || min(s.Rank, s.Peer) != 1 || max(s.Rank, s.Peer) != 3 || s.doing != measuring || s.PeerHost == "" || s.Host == "" {
				t.Fatalf("error %v, want one that names ranks 1 and 3", err)
			}
			if !errors.As(named[s.Rank], &s) {
				t.Errorf("rank %d returns %v", s.Rank, named[s.Rank])
			}
			want := fmt.Sprintf("rank %d on %s and rank %d on %s have not ended round %d of repetition 0 for ", s.Rank, s.Host, s.Peer, s.PeerHost, s.Round)
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}

// TestStandstillIsNoSilence: a machine that was suspended for an hour blames nobody; each wait is given its own
// looks, and a barrier as many times more as it has limits.
func TestStandstillIsNoSilence(t *testing.T) {
	w := &watch{limit: silence}
	now := time.Unix(1e9, 0)
	after := func(wait time.Duration, looks int) bool {
		for range looks - 1 {
			if now = now.Add(wait); w.overdue(now) {
				t.Fatalf("overdue after %v", w.silent.Waited)
			}
		}
		now = now.Add(wait)
		return w.overdue(now)
	}
	const step = silence / looks
	w.wait(1, measuring, 1)
	if after(time.Hour, 2) || after(step, looks-2) {
		t.Error("overdue for a standstill")
	}
	w.wait(1, measuring, 1)
	if after(step, looks) {
		t.Error("a new wait is overdue with the old one")
	}
	w.done()
	if after(step, 3*looks) {
		t.Error("overdue, and waits for nothing")
	}
	w.wait(2, meeting, 2)
	if after(step, 2*looks) || !after(step, 1) || w.silent.Waited != 2*silence || w.silent.Peer != 2 {
		t.Errorf("after two limits: %v", w.silent)
	}
}

// TestRankThatDoesNotComeIsNamed: one that is stuck between rounds is missed in the barrier. Of
// those who wait there, the first to give up names it, and not one that waits itself.
func TestRankThatDoesNotComeIsNamed(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup // at once, for they only wait
	for _, stuck := range []int{0, 2, 7} {
		all.Go(func() {
			over := make(chan struct{})
			var once sync.Once
			err := local.Run(8, nil, func(c mpi.Communicator) error {
				ctx := context.Background()
				if c.Rank() == stuck {
					ctx = &stuckContext{Context: ctx, over: over}
				}
				_, err := pairsOf(ctx, c, (&answers{comm: c}).exchange, &Settings{Control: Control{Silence: silence}})
				if c.Rank() != stuck {
					once.Do(func() { close(over) })
				}
				return err
			})
			var s *SilentError
			if !errors.As(err, &s) || s.Peer != stuck || s.doing != meeting {
				t.Errorf("error %v, want one that names rank %d", err, stuck)
			}
		})
	}
	all.Wait()
}

// stuckContext gets stuck when it is asked for the third time.
type stuckContext struct {
	context.Context
	asked int
	over  <-chan struct{}
}

func (c *stuckContext) Err() error {
	if c.asked++; c.asked == 3 {
		<-c.over
	}
	return nil
}

// TestSilentSimulatedRank: in virtual time nobody waits in vain: the simulation ends, and
// the one that waits says for whom.
func TestSilentSimulatedRank(t *testing.T) {
	cluster, err := gen.Parse("star:4")
	if err != nil {
		t.Fatal(err)
	}
	var named error
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Faults: simnet.Faults{Lost: []simnet.LostRank{{Rank: 3, From: 1e-3}}}}, func(c mpi.Communicator) error {
		test := &answers{comm: c}
		test.hook = func(int) error {
			c.(*simnet.Comm).Sleep(400e-6)
			return nil
		}
		_, err := pairsOf(context.Background(), c, test.exchange, &Settings{Repetitions: 2})
		if err != nil && strings.Contains(err.Error(), "exchange with rank 3") {
			named = err
		}
		return err
	})
	if !errors.Is(err, simnet.ErrDeadlock) || !errors.Is(named, mpi.ErrAborted) {
		t.Errorf("error %v, and %v of the one that waits", err, named)
	}
}

// TestBudgetUsedUpByTheLastRound: when all is measured nothing was cut off, however long it took; otherwise
// what is there is told.
func TestBudgetUsedUpByTheLastRound(t *testing.T) {
	cluster, err := gen.Parse("star:4")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sleep   int // the round in which a second passes
		rounds  int
		stopped Stopped
	}{{1, 1, StoppedByBudget}, {2, 2, StoppedByBudget}, {3, 3, ""}} {
		var outcome *Outcome
		err := simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			test, round := &answers{comm: comm}, 0
			test.hook = func(int) error {
				if round++; round == c.sleep {
					comm.(*simnet.Comm).Sleep(1)
				}
				return nil
			}
			o, err := pairsOf(context.Background(), comm, test.exchange, &Settings{Control: Control{Budget: time.Second / 2}})
			if o != nil {
				outcome = o
			}
			return err
		})
		if err != nil || outcome.Rounds != c.rounds || outcome.Stopped != c.stopped {
			t.Errorf("a second in round %d: %+v, %v; want %d rounds, stopped %q", c.sleep, outcome, err, c.rounds, c.stopped)
		}
	}
}
