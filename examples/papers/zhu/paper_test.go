package zhu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
)

// mbit is 1 Mbit/s in B/s.
const mbit = 1e6 / 8

// twoRackChannels are Zhu's testbed: node i has channel 2i to its switch and
// 2i+1 from it; the first half of the nodes is rack X; the last two channels are
// the backbone X->Y and Y->X.
func twoRackChannels(nodes int, backbone float64) []float64 {
	capacity := make([]float64, 2*nodes+2)
	for i := range capacity {
		capacity[i] = 940 * mbit // Zhu 2014, section 5
	}
	capacity[2*nodes], capacity[2*nodes+1] = backbone, backbone
	return capacity
}

func twoRackFlow(nodes, src, dst int, bytes float64) contention.Flow {
	route := func(a, b int) []int32 {
		r := []int32{int32(2 * a)}
		switch x, y := a < nodes/2, b < nodes/2; {
		case x && !y:
			r = append(r, int32(2*nodes))
		case !x && y:
			r = append(r, int32(2*nodes+1))
		}
		return append(r, int32(2*b+1))
	}
	f := contention.Flow{Data: route(src, dst), Bytes: bytes}
	for _, c := range f.Data {
		f.Reverse = append(f.Reverse, c^1)
	}
	return f
}

// solverRates are the rates of contention.Solver.
func solverRates(t *testing.T, capacity []float64, flows []contention.Flow, asymmetric bool) []float64 {
	t.Helper()
	var sharing contention.Sharing
	if asymmetric {
		sharing.Coupling = 1
	}
	solver, err := contention.NewSolver(capacity, &sharing)
	if err != nil {
		t.Fatal(err)
	}
	ids, rates := make([]int, len(flows)), make([]float64, len(flows))
	for i, f := range flows {
		if ids[i], err = solver.Add(f.Data, f.Reverse, math.Inf(1), 1); err != nil {
			t.Fatal(err)
		}
	}
	solver.Solve(nil)
	for i, id := range ids {
		rates[i] = solver.Rate(id)
	}
	return rates
}

// near tells whether got is want within a relative tolerance.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Max(math.Abs(got), math.Abs(want))
}

// Reference: Zhu 2014, Table I and section 6.3. The five links are placed as
// far as the text says: e1, e2 leave X1; e1, e3, e4 cross the backbone; e5 starts on Y1
// and shares a resource with one link of 313.3, here the receiver of e4.
func TestZhuTableI(t *testing.T) {
	const nodes = 10 // X1..X5 are 0..4, Y1..Y5 are 5..9
	capacity := twoRackChannels(nodes, 940*mbit)
	flows := []contention.Flow{
		twoRackFlow(nodes, 0, 6, 10e6), twoRackFlow(nodes, 0, 3, 20e6), twoRackFlow(nodes, 1, 7, 20e6),
		twoRackFlow(nodes, 2, 8, 20e6), twoRackFlow(nodes, 5, 8, 20e6),
	}
	for _, asymmetric := range []bool{true, false} {
		printed := Model{asymmetric}.Rates(capacity, flows)
		ours := solverRates(t, capacity, flows, asymmetric)
		for i, want := range []float64{313.3, 626.7, 313.3, 313.3, 626.7} {
			for name, got := range map[string][]float64{"printed": printed, "solver": ours} {
				if math.Abs(got[i]/mbit-want) > 0.05 {
					t.Errorf("asymmetric %v, %s: rate of e%d = %.2f Mbit/s, want %.1f", asymmetric, name, i+1, got[i]/mbit, want)
				}
			}
		}
		second := Model{asymmetric}.Rates(capacity, flows[2:4])
		for i, got := range second {
			if !near(got, 470*mbit, 1e-9) {
				t.Errorf("asymmetric %v: rate of e%d in step 2 = %g Mbit/s, want 470", asymmetric, i+3, got/mbit)
			}
		}
		times, steps := Model{asymmetric}.Times(capacity, flows)
		if steps != 2 {
			t.Errorf("asymmetric %v: %d steps, want 2", asymmetric, steps)
		}
		// The table prints 0.255 and 0.425; 30 MB over 940 Mbit/s are 0.2553 s.
		for i, want := range []float64{0.2553, 0.2553, 0.4255, 0.4255, 0.2553} {
			if math.Abs(times[i]-want) > 5e-5 {
				t.Errorf("asymmetric %v: time of e%d = %.5f s, want %.4f", asymmetric, i+1, times[i], want)
			}
		}
	}
}

// Reference: Zhu 2014, eq. 5 and 6, section 5.1 and 5.2.
func TestZhuProperties(t *testing.T) {
	const nodes = 30
	many := func(pairs [][2]int) (flows []contention.Flow) {
		for _, p := range pairs {
			flows = append(flows, twoRackFlow(nodes, p[0], p[1], 1e6))
		}
		return flows
	}
	across := func(forth, back int) (pairs [][2]int) { // different nodes in X and Y
		for i := range forth {
			pairs = append(pairs, [2]int{i, 15 + i})
		}
		for i := range back {
			pairs = append(pairs, [2]int{29 - i, 14 - i})
		}
		return pairs
	}
	into := func(in, out int) (pairs [][2]int) { // of node 0
		for i := range in {
			pairs = append(pairs, [2]int{1 + i, 0})
		}
		for range out {
			pairs = append(pairs, [2]int{0, 14})
		}
		return pairs
	}
	repeat := func(n int, x float64) (xs []float64) {
		for range n {
			xs = append(xs, x)
		}
		return xs
	}
	for _, c := range []struct {
		name       string
		backbone   float64
		pairs      [][2]int
		asymmetric bool
		want       []float64 // Mbit/s
	}{
		{"eq. 5, 10 links on the optical backbone", 9400, across(10, 0), true, repeat(10, 940)},
		{"eq. 5, 12 links on the optical backbone", 9400, across(12, 0), true, repeat(12, 9400.0/12)},
		{"eq. 5, 4 links on the electrical backbone", 940, across(4, 0), true, repeat(4, 235)},
		{"eq. 6, 3 and 2 links on the electrical backbone", 940, across(3, 2), true, repeat(5, 940.0/3)},
		{"eq. 6, 2 in and 1 out on a NIC", 940, into(2, 1), true, []float64{470, 470, 470}},
		{"the same, fair", 940, into(2, 1), false, []float64{470, 470, 940}},
		{"eq. 6, 12 in and 1 out on a NIC", 940, into(12, 1), true, repeat(13, 940.0/12)},
		{"the same, fair", 940, into(12, 1), false, append(repeat(12, 940.0/12), 940)},
	} {
		t.Run(c.name, func(t *testing.T) {
			capacity := twoRackChannels(nodes, c.backbone*mbit)
			flows := many(c.pairs)
			printed := Model{c.asymmetric}.Rates(capacity, flows)
			ours := solverRates(t, capacity, flows, c.asymmetric)
			for i, want := range c.want {
				if !near(printed[i], want*mbit, 1e-9) || !near(ours[i], want*mbit, 1e-9) {
					t.Errorf("rate of %v = %g printed, %g solver, want %g Mbit/s", c.pairs[i], printed[i]/mbit, ours[i]/mbit, want)
				}
			}
		})
	}
}

// Two cases in which the printed algorithm over-commits a channel, with the
// rates as worked out by hand in the notes on the model (940 Mbit/s
// everywhere, first half of the nodes in rack X).
func TestZhuOverCommits(t *testing.T) {
	const any = -1 // not given
	for _, c := range []struct {
		name          string
		nodes         int
		pairs         [][2]int
		asymmetric    bool
		printed, want []float64
	}{
		{
			"A, fair", 6,
			[][2]int{{4, 5}, {1, 5}, {2, 5}, {1, 3}, {2, 3}, {4, 3}, {3, 4}, {2, 4}},
			false,
			[]float64{564, 188, 188, 188, 188, 564, any, any},
			[]float64{470, 188, 188, 188, 188, 470, 752, 188},
		},
		{
			"A, asymmetric", 6,
			[][2]int{{4, 5}, {1, 5}, {2, 5}, {1, 3}, {2, 3}, {4, 3}, {3, 4}, {2, 4}},
			true,
			[]float64{564, 188, 188, 188, 188, 564, any, any},
			[]float64{470, 188, 188, 188, 188, 470, 470, 188},
		},
		{
			"B, asymmetric", 10,
			[][2]int{{4, 9}, {9, 0}, {8, 4}, {4, 0}, {6, 0}, {2, 0}, {2, 0}, {1, 5}},
			true,
			[]float64{564, any, any, any, any, any, any, 564},
			[]float64{470, 188, 470, 188, 188, 188, 188, 470},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			capacity := twoRackChannels(c.nodes, 940*mbit)
			var flows []contention.Flow
			for _, p := range c.pairs {
				flows = append(flows, twoRackFlow(c.nodes, p[0], p[1], 1e6))
			}
			printed := Model{c.asymmetric}.Rates(capacity, flows)
			ours := solverRates(t, capacity, flows, c.asymmetric)
			for i := range c.want {
				if c.printed[i] != any && !near(printed[i], c.printed[i]*mbit, 1e-6) {
					t.Errorf("printed: rate of %v = %g Mbit/s, want %g", c.pairs[i], printed[i]/mbit, c.printed[i])
				}
				if !near(ours[i], c.want[i]*mbit, 1e-9) {
					t.Errorf("solver: rate of %v = %g Mbit/s, want %g", c.pairs[i], ours[i]/mbit, c.want[i])
				}
			}
		})
	}
}

// The printed algorithm ends, and never rates a flow above its own links.
func TestZhuEndsOnRandomPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for trial := range 200 {
		nodes := []int{10, 20, 30}[trial%3]
		capacity := twoRackChannels(nodes, []float64{940, 9400}[trial%2]*mbit)
		var flows []contention.Flow
		for _, x := range model.RandomPattern(r, nodes, 1+trial%3, 20e6) {
			flows = append(flows, twoRackFlow(nodes, x.Src, x.Dst, float64(x.Bytes)))
		}
		for _, asymmetric := range []bool{true, false} {
			times, steps := Model{asymmetric}.Times(capacity, flows)
			if steps > len(flows) {
				t.Errorf("trial %d: %d steps for %d flows", trial, steps, len(flows))
			}
			for i, x := range times {
				if x < 20e6/(940*mbit)*(1-1e-9) || math.IsInf(x, 0) {
					t.Errorf("trial %d: time of flow %d = %g s, faster than its NIC or never", trial, i, x)
				}
			}
		}
	}
}
