package tuner

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// A machine says what variants take, in s, and keeps which of them a search asks for.
type machine struct {
	incumbent float64
	takes     func(v Variant) float64
	asked     []Variant // in the order in which they were first timed
	predicted []Variant
	searched  int // how often the candidates were asked for
	oneRoot   int // batches from one root alone

	oneHost, oversubscribed bool
}

// lead runs the search of rank 0 on a stage.
func (m *machine) lead(s *Search, candidates ...Variant) Decision {
	s.Watch = &Stopwatch{clocks: &clocks{oneHost: m.oneHost}, oversubscribed: m.oversubscribed}
	s.Roots = []int{0, 1}
	s.Limit = cmp.Or(s.Limit, math.Inf(1))
	s.Candidates = func() []Variant {
		m.searched++
		return candidates
	}
	s.Predict = func(v Variant) float64 {
		m.predicted = append(m.predicted, v)
		return 42
	}
	st := &stage{}
	st.play = func(v Variant, roots []int) Sample {
		t := m.incumbent
		if v.Index != Incumbent {
			t = m.takes(v)
			if !slices.Contains(m.asked, v) {
				m.asked = append(m.asked, v)
			}
		}
		if len(roots) > 1 && len(slices.Compact(slices.Clone(roots))) == 1 {
			m.oneRoot++
		}
		st.now += t * float64(len(roots))
		return Sample{t, t}
	}
	return s.lead(st.now, st.conduct)
}

// away is how many times a segment has to be halved or doubled to become another one.
func away(segment, best int) float64 { return math.Abs(math.Log2(float64(segment) / float64(best))) }

// The best two candidates are refined: their segments are moved for as long as that helps, none is tried twice, and none is shorter
// than allowed or as long as the message. The kind of transfers of the best comes last.
func TestSearchRefinesTheBestCandidates(t *testing.T) {
	const kib = 1 << 10
	for _, c := range []struct {
		name     string
		best     int // bytes of the segment that is fastest
		blocking bool
		tried    []int // KiB, the segments of either finalist, after its first one
	}{
		{"longer segments", 32 * kib, false, []int{4, 16, 32, 64}},
		{"shorter segments, down to the least", kib / 2, false, []int{4, 16, 2, 1}},
		{"the segment stays, and one transfer at a time is better", 8 * kib, true, []int{4, 16}},
		{"as far as the message is long", 1 << 20, false, []int{4, 16, 32, 64}},
	} {
		m := machine{incumbent: 1e-3, takes: func(v Variant) float64 {
			took := 1e-4 * (1 + 0.1*away(cmp.Or(v.Segment, 100*kib), c.best)) * []float64{1.5, 1, 3}[v.Index]
			if v.Blocking {
				took *= 0.5
			}
			return took
		}}
		candidates := []Variant{{Index: 0, Segment: 8 * kib}, {Index: 1, Segment: 8 * kib}, {Index: 2, Segment: 8 * kib}}
		d := m.lead(&Search{Bytes: 100 * kib, MinSegment: kib, Blocking: c.blocking}, candidates...)
		want := candidates
		for _, segment := range c.tried {
			want = append(want, Variant{1, segment * kib, false}, Variant{0, segment * kib, false})
		}
		if c.blocking {
			want = append(want, Variant{1, 8 * kib, true})
		}
		if !equalSets(m.asked, want) {
			t.Errorf("%s: timed %v, want %v", c.name, m.asked, want)
		}
		best := slices.MinFunc(m.asked, func(a, b Variant) int { return cmp.Compare(m.takes(a), m.takes(b)) })
		if d.Variant != best || !d.Wins || !d.Decided || d.Pairs != looks[0].rounds || d.Measured != m.takes(best) || d.Incumbent != m.incumbent {
			t.Errorf("%s: %+v, want %+v to win", c.name, d, best)
		}
		if d.Predicted != 42 || !slices.Equal(m.predicted, []Variant{best}) {
			t.Errorf("%s: predicted %g s, asked for %v", c.name, d.Predicted, m.predicted)
		}
	}
}

// A candidate that is behind for its segment alone wins with a better one. Here all segments of variant 0 take as long.
func TestSearchRefinesBeforeItChooses(t *testing.T) {
	m := machine{incumbent: 1e-3, takes: func(v Variant) float64 {
		if v.Index == 0 {
			return 1e-4
		}
		return 0.7e-4 * (1 + 0.3*away(v.Segment, 32<<10))
	}}
	d := m.lead(&Search{Bytes: 1 << 20, MinSegment: 1 << 10}, Variant{Index: 0, Segment: 8 << 10}, Variant{Index: 1, Segment: 8 << 10}, Variant{Index: 0, Segment: 16 << 10})
	if want := (Variant{Index: 1, Segment: 32 << 10}); d.Variant != want {
		t.Errorf("%+v, want %+v", d.Variant, want)
	}
}

// equalSets tells whether two lists have the same variants, in any order.
func equalSets(a, b []Variant) bool {
	for _, v := range a {
		if !slices.Contains(b, v) {
			return false
		}
	}
	return len(a) == len(b)
}

// What is no faster than the incumbent does not replace it, whatever an earlier job has found. Nothing is predicted of it.
func TestSearchKeepsTheIncumbent(t *testing.T) {
	for _, stored := range []*Variant{nil, {Index: 3, Segment: 2 << 10}} {
		m := machine{incumbent: 1e-4, takes: func(Variant) float64 { return 1e-4 }}
		d := m.lead(&Search{Bytes: 100, MinSegment: 1 << 10, Stored: stored}, Variant{Index: 5}, Variant{Index: 6})
		if d.Wins || !d.Decided || d.Index != 5 || d.Measured != 1e-4 || d.Incumbent != 1e-4 || !math.IsNaN(d.Predicted) || m.predicted != nil || m.searched != 1 {
			t.Errorf("stored %v: %+v, %d searches, predictions of %v", stored, d, m.searched, m.predicted)
		}
	}
}

// A stored variant that still wins ends the search: there are no candidates, and nothing is refined. One that does not
// leaves the search to the candidates.
func TestSearchConfirmsWhatIsStored(t *testing.T) {
	stored := Variant{Index: 3, Segment: 8 << 10, Blocking: true}
	m := machine{incumbent: 1e-3, takes: func(Variant) float64 { return 1e-4 }}
	d := m.lead(&Search{Bytes: 100 << 10, MinSegment: 1 << 10, Blocking: true, Stored: &stored}, Variant{Index: 5})
	if d.Variant != stored || !d.Wins || d.Pairs != looks[0].rounds || m.searched != 0 || !slices.Equal(m.asked, []Variant{stored}) || !math.IsNaN(d.Predicted) {
		t.Errorf("%+v after %d searches, timed %v", d, m.searched, m.asked)
	}
	m = machine{incumbent: 1e-3, takes: func(v Variant) float64 { return 2e-3 - 1.9e-3*float64(v.Index-3) }}
	d = m.lead(&Search{Bytes: 100, MinSegment: 1 << 10, Stored: &stored}, Variant{Index: 4})
	if d.Variant != (Variant{Index: 4}) || !d.Wins || m.searched != 1 {
		t.Errorf("%+v after %d searches, want variant 4 to win", d, m.searched)
	}
}

// A search whose time is over decides nothing.
func TestSearchKeepsItsLimit(t *testing.T) {
	m := machine{incumbent: 1, takes: func(Variant) float64 { return 0.1 }}
	d := m.lead(&Search{Bytes: 100 << 10, MinSegment: 1 << 10, Blocking: true, Limit: 3.5}, Variant{Index: 5}, Variant{Index: 6})
	if d.Wins || d.Decided || d.Pairs != 0 || d.Index != 5 || !math.IsNaN(d.Measured) || !math.IsNaN(d.Incumbent) {
		t.Errorf("%+v, want nothing decided", d)
	}
}

// A search knows from the stopwatch whether ranks share cores, so that 5 % are no win, and whether they share a host, so that some
// batches have one root.
func TestSearchKnowsTheHosts(t *testing.T) {
	for _, oneHost := range []bool{false, true} {
		for _, oversubscribed := range []bool{false, true} {
			m := machine{incumbent: 1e-4, takes: func(Variant) float64 { return 0.95e-4 }, oneHost: oneHost, oversubscribed: oversubscribed}
			d := m.lead(&Search{Bytes: 100, MinSegment: 1 << 10}, Variant{Index: 5})
			if d.Wins == oversubscribed || !d.Decided || (m.oneRoot > 0) != oneHost {
				t.Errorf("one host %v, oversubscribed %v: %+v, %d batches from one root", oneHost, oversubscribed, d, m.oneRoot)
			}
		}
	}
}

// A search without candidates keeps the incumbent, and does not know whether anything else is faster.
func TestSearchWithoutCandidates(t *testing.T) {
	m := machine{incumbent: 1, takes: func(Variant) float64 { return 0.1 }}
	if d := m.lead(&Search{Bytes: 100 << 10, MinSegment: 1 << 10, Blocking: true}); d.Wins || d.Decided || d.Pairs != 0 || d.Index != Incumbent {
		t.Errorf("%+v, want nothing decided", d)
	}
}

// A list is a session of rounds that are given.
type list struct {
	rounds  []Round
	samples [][]Sample
}

func (l *list) Next(float64) (Round, bool) {
	if len(l.samples) == len(l.rounds) {
		return Round{}, false
	}
	return l.rounds[len(l.samples)], true
}

func (l *list) Add(_ Round, samples []Sample) { l.samples = append(l.samples, samples) }

// All ranks perform the rounds of rank 0, in their order, session after session, and rank 0 gets the samples. Sessions
// that are over at once are no rounds.
func TestConductPerformsTheRoundsOfRank0(t *testing.T) {
	sessions := []*list{
		{rounds: []Round{{Variants: numbered(0, 1), Roots: []int{2}}, {Variants: []Variant{{Incumbent, 0, false}, {7, 4096, true}}, Roots: []int{1, 0}, Head: true}}},
		{},
		{rounds: []Round{{Variants: numbered(5)}}},
	}
	const want = "[{0 0 false} [2] false {1 0 false} [2] false {-1 0 false} [1 0] true {7 4096 true} [1 0] true {5 0 false} [] false]"
	for _, ranks := range []int{1, 4} {
		err := local.Run(ranks, nil, func(world mpi.Communicator) error {
			w, err := NewStopwatch(world, 1, nil, false)
			if err != nil {
				return err
			}
			for range 2 { // ranks are in step afterwards
				var lists []*list
				for _, s := range sessions {
					lists = append(lists, &list{rounds: s.rounds})
				}
				var performed []string
				err := w.Conduct(func(run func(Session)) {
					for _, l := range lists {
						run(l)
					}
				}, func(v Variant, r Round) (Sample, error) {
					performed = append(performed, fmt.Sprint(v, r.Roots, r.Head))
					return Sample{Cold: float64(v.Index)}, nil
				})
				if got := fmt.Sprint(performed); err != nil || got != want {
					return fmt.Errorf("rank %d: performed %s, %w, want %s", world.Rank(), got, err, want)
				}
				for i, l := range lists {
					if world.Rank() > 0 && l.samples != nil || world.Rank() == 0 && len(l.samples) != len(l.rounds) {
						return fmt.Errorf("rank %d: session %d has samples of %d rounds", world.Rank(), i, len(l.samples))
					}
				}
				if world.Rank() == 0 && fmt.Sprint(lists[0].samples) != "[[{0 0} {1 0}] [{-1 0} {7 0}]]" {
					return fmt.Errorf("samples %v", lists[0].samples)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// After an error nothing is performed any more, on the rank that has it, and Conduct returns it.
func TestConductEndsWithAnError(t *testing.T) {
	failure := errors.New("injected")
	err := local.Run(3, nil, func(world mpi.Communicator) error {
		w, err := NewStopwatch(world, 1, nil, false)
		if err != nil {
			return err
		}
		calls := 0
		two := func() *list { return &list{rounds: []Round{{Variants: numbered(0, 1)}, {Variants: numbered(2)}}} }
		err = w.Conduct(func(run func(Session)) {
			run(two())
			run(two())
		}, func(v Variant, _ Round) (Sample, error) {
			if calls++; v.Index == 1 { // all ranks fail here, as in a broadcast that does not end
				return Sample{}, failure
			}
			return Sample{}, nil
		})
		if !errors.Is(err, failure) || calls != 2 {
			return fmt.Errorf("rank %d: %w after %d calls, want the injected error after 2", world.Rank(), err, calls)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The clocks of hosts are compared again on all ranks if those of rank 0 may have drifted, whatever the other ranks think of theirs.
func TestRank0DecidesThatClocksAreComparedAgain(t *testing.T) {
	cluster, err := gen.Parse("star:3 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []int{0, 1} { // the rank whose clocks seem old
		err := simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			w, err := NewStopwatch(skewed{comm, 1000 * float64(comm.Rank())}, 1, []int{0, 1, 2}, false)
			if err != nil {
				return err
			}
			if comm.Rank() == late {
				w.clocks.at -= 2 * w.Doubt() / drift
			}
			at := w.clocks.at
			_, err = w.round(Round{Variants: numbered(0)}, func(Variant, Round) (Sample, error) { return Sample{}, nil })
			if again := w.clocks.at != at; err != nil || again != (late == 0) {
				return fmt.Errorf("rank %d of clocks that are old on rank %d: compared again: %v, %w", comm.Rank(), late, again, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// All ranks get one decision, with every number of it, and each variant is compiled once per root, before it is timed. Only
// the head of a long message warms up.
func TestDecideIsTheSameOnAllRanks(t *testing.T) {
	cluster, err := gen.Parse("star:4 latency=20us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	const size = 100 << 10
	for _, wins := range []bool{true, false} {
		decisions := make([]Decision, 4)
		err := simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			simulated := comm.(*simnet.Comm)
			w, err := NewStopwatch(comm, 1, []int{0, 1, 2, 3}, false)
			if err != nil {
				return err
			}
			compiled, lengths := make(map[string]int), make(map[int]int)
			s := &Search{
				Watch: w, Bytes: size, Roots: []int{3, 1}, MinSegment: 1 << 10, Limit: math.Inf(1),
				Compile: func(v Variant, root int) func(bytes int) error {
					compiled[fmt.Sprint(v, root)]++
					return func(bytes int) error {
						lengths[bytes]++
						if v.Index == Incumbent == wins {
							simulated.Sleep(1e-3)
						}
						simulated.Sleep(1e-3)
						return nil
					}
				},
			}
			if comm.Rank() == 0 {
				s.Candidates = func() []Variant { return []Variant{{Index: 2, Segment: 4 << 10}} }
				s.Predict = func(Variant) float64 { return 7 }
			}
			d, err := s.Decide()
			decisions[comm.Rank()] = d
			for what, times := range compiled {
				if times != 1 {
					return fmt.Errorf("rank %d: %s is compiled %d times", comm.Rank(), what, times)
				}
			}
			if len(lengths) != 2 || lengths[headBytes] != 2*2 || lengths[size] == 0 {
				return fmt.Errorf("rank %d: broadcasts by length %v, want both variants from both roots with the head alone", comm.Rank(), lengths)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, d := range decisions {
			if fmt.Sprint(d) != fmt.Sprint(decisions[0]) {
				t.Errorf("rank %d: %+v, and rank 0 has %+v", rank, d, decisions[0])
			}
		}
		d := decisions[0]
		if d.Wins != wins || !d.Decided || d.Index != 2 || (d.Predicted == 7) != wins || !(d.Measured > 1e-3 && d.Measured < 1.2e-3) || (d.Incumbent > 2e-3) != wins {
			t.Errorf("%+v, want it to win: %v", d, wins)
		}
	}
}
