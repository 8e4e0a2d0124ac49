package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// hockney is a machine of equal pairs.
type hockney struct{ latency, perByte float64 }

func (h hockney) Time(_, _ int, bytes int64) float64 { return h.latency + h.perByte*float64(bytes) }

// byLevel is a machine whose pairs differ by the level that joins them.
type byLevel struct {
	*topology.Hierarchy
	perByte []float64 // the root's last
}

func (m byLevel) Time(src, dst int, bytes int64) float64 {
	g := m.Groups()[m.Common(src, dst)]
	return g.Latency + m.perByte[g.Level]*float64(bytes)
}

// unlike lets no two pairs have the same latency, so that nothing happens at once.
type unlike struct{ byLevel }

func (m unlike) Time(src, dst int, bytes int64) float64 {
	return m.byLevel.Time(src, dst, bytes) + 1e-4*math.Sqrt(float64(1+src+100*dst))*m.byLevel.Time(src, dst, 0)
}

// Closed forms on equal pairs. T is the time of a message between idle ranks,
// o the overhead of a send or a receive, b the time that the bytes occupy a link.
func TestPredictionsByHand(t *testing.T) {
	const (
		latency = 1e-6
		o       = 0.3e-6
		perByte = 1e-9
	)
	uniform := func(ranks int) *Evaluator {
		return newEvaluator(machine{ranks: ranks, send: o, recv: o, transfers: hockney{latency, perByte}})
	}
	for _, c := range []struct {
		name string
		a    schedule.Algorithm
		p    schedule.Problem
		want float64
	}{
		{"nobody to send to", schedule.Flat{}, schedule.Problem{Ranks: 1, Bytes: 100}, 0},
		{"nothing to send", schedule.Chain{}, schedule.Problem{Ranks: 5}, 0},
		{"one message takes T", schedule.Flat{}, schedule.Problem{Ranks: 2, Bytes: 1000}, latency + 1000*perByte},
		// b = 0.1 us < o: the sends follow each other by o.
		{"short flat: T + (P-2) o", schedule.Flat{}, schedule.Problem{Ranks: 10, Root: 3, Bytes: 100}, latency + 100*perByte + 8*o},
		// b = 1 us > o: they wait for the link out.
		{"long flat: T + (P-2) b", schedule.Flat{}, schedule.Problem{Ranks: 10, Bytes: 1000}, latency + 1000*perByte + 8*1000*perByte},
		{"binomial of 64: 6 T", schedule.Binomial{}, schedule.Problem{Ranks: 64, Root: 9, Bytes: 100}, 6 * (latency + 100*perByte)},
		{"whole chain: (P-1) T", schedule.Chain{}, schedule.Problem{Ranks: 10, Bytes: 1000}, 9 * (latency + 1000*perByte)},
		// b = 1 us > 2o: each link takes in a segment every b.
		{"chain of 5 segments, (P-1) T + (k-1) b", schedule.Chain{}, schedule.Problem{Ranks: 10, Bytes: 5000, Segment: 1000}, 9*(latency+1000*perByte) + 4*1000*perByte},
		// b = 0.1 us < 2o: a rank in the middle spends o on each receive and o on each send.
		{"chain of 50 segments, (P-1) T + (k-1) 2o", schedule.Chain{}, schedule.Problem{Ranks: 10, Bytes: 5000, Segment: 100}, 9*(latency+100*perByte) + 49*2*o},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := uniform(c.p.Ranks).Predict(c.a, c.p); !casttest.Near(got, c.want, 1e-9) {
				t.Errorf("predict = %g, want %g", got, c.want)
			}
		})
	}
}

// The simulation of 64 ranks at L = 1.5 us, g0 = 0.5 us and 10 GB/s: the
// binomial tree takes 6 (L + g0 + m/B): 12.0 us at 8 B, 51 us at 64 KiB.
// Reference: A. Alexandrov et al. 1995 (LogGP), broadcast by a binomial tree.
func TestBinomialOf64(t *testing.T) {
	e := newEvaluator(machine{ranks: 64, transfers: hockney{2e-6, 1e-10}})
	for _, c := range []struct {
		bytes int
		want  float64
	}{{8, 12.0e-6}, {64 << 10, 51.3e-6}} {
		if got := e.Predict(schedule.Binomial{}, schedule.Problem{Ranks: 64, Bytes: c.bytes}); !casttest.Near(got, c.want, 0.005) {
			t.Errorf("%d bytes: %g s, want %g", c.bytes, got, c.want)
		}
	}
}

// Two groups {0,1} and {2,3}. Both cross to the other group at the same time,
// and the second message waits for the link that the groups share.
func TestPredictionOfASharedLink(t *testing.T) {
	h := casttest.RegularTree(t, 4, 2) // latencies 1 us within, 10 us across
	m := machine{ranks: 4, tree: h, send: 0.1e-6, recv: 0.1e-6, transfers: byLevel{h, []float64{1e-9, 10e-9}}}
	s := casttest.Script{
		{casttest.Send(1, 0, 1000), casttest.Send(2, 0, 1000)},
		{casttest.Recv(0, 0, 1000), casttest.Send(3, 0, 1000)},
		{casttest.Recv(0, 0, 1000)},
		{casttest.Recv(1, 0, 1000)},
	}
	// 0>1: overhead until 0.1, link until 1.1, received at 0.1 + 1 + 1 - 0.1 = 2.0 us.
	// 0>2: from 1.1 (the link out of 0 is free) until 11.1; received at 1.1 - 0.1 + 20 = 21 us.
	// 1>3: ready at 2.1, but the link out of {0,1} is taken until 11.1; received at 11.1 - 0.1 + 20 = 31 us.
	got := newEvaluator(m).Predict(s, schedule.Problem{Ranks: 4, Bytes: 1000, Tree: h})
	if want := 31e-6; !casttest.Near(got, want, 1e-9) {
		t.Errorf("predict = %g, want %g", got, want)
	}
	if got := newEvaluator(m).Predict(casttest.Script{{}, {casttest.Recv(0, 0, 1)}, {}, {}}, schedule.Problem{Ranks: 4, Bytes: 1}); !math.IsInf(got, 1) {
		t.Errorf("a schedule that never ends takes %g s, want +Inf", got)
	}
}

// slowEvaluate is the obvious version: of all that can happen next, a rank that
// can start a send and a message that can enter its next link, it takes the
// earliest, of messages and ranks at the same time a message, of messages that of the pair that was first to
// have one, and of ranks the lowest. It keeps everything in maps. The slowest of a message's links is
// busy for the time of its bytes; perByte says how long, in s per byte, the
// others would need.
func slowEvaluate(m machine, ops [][]schedule.Op, perByte []float64) float64 {
	type pair struct{ src, dst int }
	type passage struct {
		link string
		busy float64
	}
	type letter struct {
		pair
		at   float64 // when it may enter the next link
		end  float64
		left []passage
		wait float64 // beyond its bytes
	}
	next, now := make(map[int]int), make(map[int]float64)
	arrived, queued := make(map[pair][]float64), make(map[pair][]*letter)
	follow := make(map[pair]float64) // when the next letter queues up
	var pairs []pair                 // in the order of their first letters
	free := make(map[string]float64)
	end := 0.0
	for {
		first, start := -1, math.Inf(1)
		for rank := range ops {
			for next[rank] < len(ops[rank]) {
				op := ops[rank][next[rank]]
				if op.Kind == schedule.Send {
					if now[rank] < start {
						first, start = rank, now[rank]
					}
					break
				}
				came := arrived[pair{op.Peer, rank}]
				if len(came) == 0 {
					break
				}
				now[rank] = max(now[rank], came[0]) + m.recv
				arrived[pair{op.Peer, rank}] = came[1:]
				end = max(end, now[rank])
				next[rank]++
			}
		}
		var moves *letter
		for _, pair := range pairs {
			if q := queued[pair]; len(q) > 0 && (q[0].at < start || q[0].at == start && moves == nil) {
				moves, start = q[0], q[0].at
			}
		}
		switch {
		case moves != nil:
			w := moves.left[0]
			moves.at = max(moves.at, free[w.link])
			free[w.link] = moves.at + w.busy
			moves.end = max(moves.end, free[w.link])
			if moves.left = moves.left[1:]; len(moves.left) > 0 {
				continue
			}
			arrived[moves.pair] = append(arrived[moves.pair], moves.end+moves.wait)
			follow[moves.pair] = moves.at
			if queued[moves.pair] = queued[moves.pair][1:]; len(queued[moves.pair]) > 0 {
				after := queued[moves.pair][0] // one after the other
				after.at = max(after.at, moves.at)
			}
		case first >= 0:
			op := ops[first][next[first]]
			next[first]++
			now[first] += m.send
			empty := m.transfers.Time(first, op.Peer, 0)
			bytes := m.transfers.Time(first, op.Peer, int64(op.Length)) - empty
			l := &letter{pair: pair{first, op.Peer}, at: now[first], wait: empty - m.send - m.recv}
			pass := func(link string, level int) {
				l.left = append(l.left, passage{link, min(bytes, perByte[level]*float64(op.Length))})
			}
			groups := m.tree.Groups()
			joins := func(g int) bool { // some of its hosts are in no group within it together
				return !slices.ContainsFunc(groups[g].Children, func(c int) bool { return len(groups[c].Hosts) == len(groups[g].Hosts) })
			}
			var up, down []int // groups that hold one end only
			for g, group := range groups {
				if g == 0 || !joins(group.Parent) { // the link of the group around, which has the same hosts
					continue
				}
				from, to := slices.Contains(group.Hosts, first), slices.Contains(group.Hosts, op.Peer)
				if from && !to {
					up = append(up, g)
				}
				if to && !from {
					down = append(down, g)
				}
			}
			pass(fmt.Sprint("out of rank ", first), groups[m.tree.Smallest(first)].Level)
			for i := len(up) - 1; i >= 0; i-- { // inner ones come last
				pass(fmt.Sprint("out of group ", up[i]), groups[groups[up[i]].Parent].Level)
			}
			for _, g := range down {
				pass(fmt.Sprint("into group ", g), groups[groups[g].Parent].Level)
			}
			pass(fmt.Sprint("into rank ", op.Peer), groups[m.tree.Smallest(op.Peer)].Level)
			if !slices.Contains(pairs, l.pair) {
				pairs = append(pairs, l.pair)
			}
			if len(queued[l.pair]) == 0 {
				l.at = max(l.at, follow[l.pair])
			}
			queued[l.pair] = append(queued[l.pair], l)
		default:
			return end
		}
	}
}

func TestPredictionEqualsTheObviousOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	machines := 20
	if tooltest.Long() {
		machines = 60
	}
	for range machines {
		ranks := 2 + rng.IntN(20)
		tree := casttest.RandomTree(rng, ranks)
		var groups []topology.Group
		for _, g := range tree.Groups()[1:] {
			g.Latency = (1 + rng.Float64()) * math.Pow(10, float64(g.Level)-6)
			groups = append(groups, g)
		}
		tree, err := topology.NewHierarchy(ranks, tree.Levels(), groups, 1e-3)
		if err != nil {
			t.Fatal(err)
		}
		perByte := []float64{1.0731e-10, 2.1117e-9, 0.9713e-9, 1.0377e-8} // no simple ratios: nothing happens at once
		m := machine{ranks: ranks, tree: tree, send: 0.2137e-6, recv: 0.3071e-6, transfers: unlike{byLevel{tree, perByte}}}
		e := newEvaluator(m)
		for _, a := range casttest.Algorithms() {
			p := schedule.Problem{Ranks: ranks, Root: rng.IntN(ranks), Bytes: 1 + rng.IntN(5000), Segment: 400, Tree: tree}
			got, want := e.Predict(a, p), slowEvaluate(m, schedule.AllOps(nil, a, p), perByte)
			if !casttest.Near(got, want, 1e-12) {
				t.Errorf("%s %v, %+v: predict = %g, want %g", a.Name(), a, p, got, want)
			}
		}
	}
}

// Long pipelines are continued, not played: that is exact to 2 %. In rounds in which
// pieces do not come in order the pace varies, and a third of the pieces tells it to 13 %.
func TestLongPipelinesGoOnAtTheirPace(t *testing.T) {
	for _, factors := range [][]int{{}, {4}, {2, 4}, {8, 4}} {
		h := casttest.RegularTree(t, 32, factors...)
		perByte := []float64{1e-10, 5e-10, 2e-9}
		m := machine{ranks: 32, tree: h, send: 0.2e-6, recv: 0.2e-6, transfers: byLevel{h, perByte}}
		e := newEvaluator(m)
		for _, a := range casttest.Algorithms() {
			p := schedule.Problem{Ranks: 32, Root: 7, Bytes: 100 * 4096, Segment: 4096, Tree: h}
			got := e.Predict(a, p)
			e.schedule(a.Prepare(p), p)
			want := e.evaluate(math.Inf(1))
			tolerance := 0.02
			switch a.(type) {
			case schedule.SplitBinary, classic.TwoTree, schedule.Circulant:
				tolerance = 0.13
			}
			if !casttest.Near(got, want, tolerance) {
				t.Errorf("%v, %s: predict = %g, played to the end %g", factors, schedule.Text(a), got, want)
			}
		}
	}
}

func TestPlansFollowTheNetwork(t *testing.T) {
	// Four racks of four at 1 and 10 us, 10 and 2 GB/s.
	n := casttest.NetworkOf(t, casttest.RegularTree(t, 16, 4))
	for _, c := range []struct {
		bytes int
		want  string
	}{
		{0, "flat"},
		// o = 1/3 us. Three leaders, of which the last gets it after 2 o + 10 us and
		// serves its rack in 2 o + 1 us more: 12.3 us. Flat has 12 far ranks: 11 o + 10 us.
		{8, "multilevel"},
		{8 << 20, "chain"},  // every link busy all the time
		{64 << 20, "chain"}, // and ever more so
		{math.MaxInt, "chain"},
	} {
		plans, err := Plans(n, nil, c.bytes, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := plans[0].Name(); got != c.want {
			t.Errorf("%d bytes: %v", c.bytes, plans)
		}
	}
	// Bounded below by the slowest link, within 10 % at 64 MiB.
	plans, err := Plans(n, nil, 64<<20, 5)
	if err != nil {
		t.Fatal(err)
	}
	if bound := float64(64<<20) / 2e9; plans[0].Predicted < bound || plans[0].Predicted > 1.1*bound {
		t.Errorf("64 MiB: %v, want %g s or up to 10 %% more", plans[0], bound)
	}
	for _, plan := range plans {
		p := schedule.Problem{Ranks: 16, Root: 5, Bytes: 64 << 20, Segment: plan.Segment, Tree: n.Hierarchy()}
		if got, err := Predict(n, plan.Algorithm, p); err != nil || got != plan.Predicted {
			t.Errorf("Predict(%v) = %g, %v", plan, got, err)
		}
	}
}

// The network of a prototype that was tried out with C programs over TCP: two
// racks of six, 200 Mbit/s per host, 100 Mbit/s between the racks, 30 us of
// overhead per send and receive. There, sending to all was best for 8 bytes; for
// long messages the depth-first chain with segments of 4 KiB at 1 MiB, at 1.06
// to 1.09 of the physical bound, and of 8 KiB at 8 MiB, at 1.01 to 1.03.
func TestPlansOfTwoRacksOverTCP(t *testing.T) {
	h, err := topology.NewHierarchy(12, []topology.Level{{}}, []topology.Group{
		{Hosts: []int{0, 2, 4, 6, 8, 10}, Latency: 200e-6},
		{Hosts: []int{1, 3, 5, 7, 9, 11}, Latency: 200e-6},
	}, 500e-6)
	if err != nil {
		t.Fatal(err)
	}
	perByte := []float64{8 / 200e6, 8 / 100e6} // s; 200 and 100 Mbit/s
	e := newEvaluator(machine{ranks: 12, tree: h, send: 30e-6, recv: 30e-6, transfers: byLevel{h, perByte}, bias: guessBias, near: 200e-6, turns: true})
	for _, c := range []struct {
		bytes   int
		name    string
		segment int
		bound   float64 // on predicted over physical
	}{
		{8, "flat", 0, 1.61},
		{64 << 10, "", 0, 1.47}, // a tree shaped by the model took 1.34 to 1.47
		{1 << 20, "chain", 4 << 10, 1.09},
		{8 << 20, "chain", 8 << 10, 1.03},
	} {
		got := e.Candidates(schedule.Variants(schedule.Algorithms(), schedule.Problem{Ranks: 12, Tree: h}), c.bytes, 3)[0]
		physical := 500e-6 + float64(c.bytes)*perByte[1]
		if c.name != "" && (got.Name() != c.name || got.Segment != c.segment) || got.Predicted > c.bound*physical || got.Predicted < physical {
			t.Errorf("%d bytes: %v, %.2f of the bound", c.bytes, got, got.Predicted/physical)
		}
	}
}

// A plan is found all the same, but its time would be a guess.
func TestPlansWithoutMeasurements(t *testing.T) {
	for _, ranks := range []int{1, 2, 9} {
		h, err := topology.NewHierarchy(ranks, nil, nil, math.NaN())
		if err != nil {
			t.Fatal(err)
		}
		plans, err := Plans(casttest.NetworkOf(t, h), nil, 1<<20, ranks-1)
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range plans {
			if ranks > 1 && !math.IsNaN(plan.Predicted) || ranks == 1 && plan.Predicted != 0 {
				t.Errorf("%d ranks: %v, want no prediction, or 0 for one rank", ranks, plan)
			}
		}
	}
	n := casttest.NetworkOf(t, casttest.RegularTree(t, 4, 2))
	if _, err := Plans(n, nil, 1, 4); err == nil {
		t.Error("Plans from root 4 of 4: no error")
	}
	if _, err := Predict(n, schedule.Flat{}, schedule.Problem{Ranks: 5}); err == nil || !strings.Contains(err.Error(), "network of 4 ranks") {
		t.Errorf("Predict for 5 ranks of 4: error %v", err)
	}
}

// A network that knows latencies only says nothing of longer messages than it
// was measured with; one that knows bandwidths does.
func TestPlansTellNoGuesses(t *testing.T) {
	h := casttest.RegularTree(t, 8, 4)
	g, err := topology.NewGraph(8, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	short, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		n     *model.Network
		bytes int
		known bool
	}{
		{"latencies, 0 bytes", short, 0, true},
		{"latencies, 1 KiB", short, 1 << 10, false},
		{"bandwidths, 1 KiB", casttest.NetworkOf(t, h), 1 << 10, true},
	} {
		plans, err := Plans(c.n, nil, c.bytes, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range plans {
			if got := !math.IsNaN(plan.Predicted); got != c.known {
				t.Errorf("%s: %v, want a prediction: %v", c.name, plan, c.known)
			}
		}
	}
}

func BenchmarkPlans(b *testing.B) {
	for _, c := range []struct {
		ranks   int
		factors []int
	}{{8, []int{4}}, {64, []int{8}}, {64, []int{4, 4}}, {1024, []int{16}}, {1024, []int{16, 8}}} {
		for _, bytes := range []int{8, 1 << 20} {
			b.Run(fmt.Sprintf("ranks=%d/levels=%d/bytes=%d", c.ranks, len(c.factors), bytes), func(b *testing.B) {
				n := casttest.NetworkOf(b, casttest.RegularTree(b, c.ranks, c.factors...))
				e, all := New(n), schedule.Variants(schedule.Algorithms(), schedule.Problem{Ranks: c.ranks, Tree: n.Hierarchy()})
				b.ReportAllocs()
				for b.Loop() {
					e.Candidates(all, bytes, 0)
				}
			})
		}
	}
}
