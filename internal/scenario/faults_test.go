package scenario

import (
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// dashed has two switches, one with the mark of links in its name.
func dashed(t *testing.T) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for h := range 4 {
		arcs = topology.AppendLink(arcs, h, 4+h/2, 5e-6, 1e9)
	}
	arcs = topology.AppendLink(arcs, 4, 5, 10e-6, 1e9)
	g, err := topology.NewGraph(4, 2, []string{"n-1", "n-2", "m1", "m2", "sw-a", "swb"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The arcs of dashed are, in this order: 0>4, 1>4, 2>5, 3>5, 4>0, 4>1, 4>5, 5>2, 5>3, 5>4.
func TestAddFault(t *testing.T) {
	slow := func(latency, rate float64, arcs ...int) simnet.Settings {
		return simnet.Settings{Faults: simnet.Faults{Slow: []simnet.Slow{{Arcs: arcs, Latency: latency, Rate: rate}}}}
	}
	of := func(s simnet.Slow) simnet.Settings {
		return simnet.Settings{Faults: simnet.Faults{Slow: []simnet.Slow{s}}}
	}
	when := func(w simnet.When) simnet.Settings {
		return of(simnet.Slow{Arcs: []int{2, 7}, Latency: 4, Rate: 0.25, When: w})
	}
	for _, c := range []struct {
		text string
		want simnet.Settings
	}{
		{"link n-1-sw-a 2x", slow(2, 0.5, 0, 4)},
		{"link 0-4 latency=1.5x", slow(1.5, 0, 0, 4)},
		{"link sw-a-swb rate=0.1x latency=3x", slow(3, 0.1, 6, 9)},
		{"uplink n-1-n-2 rate=0.5x", slow(0, 0.5, 6, 9)},
		{"uplink m2 2x", slow(2, 0.5, 3, 8)},
		{"direction m1>swb rate=0.5x", slow(0, 0.5, 2)},
		{"  direction   5>m1  2x ", slow(2, 0.5, 7)},
		{"direction 0>4 1x", slow(1, 1, 0)},
		{"link n-1-sw-a rate=1e-6x latency=1e6x", slow(1e6, 1e-6, 0, 4)},
		{"load 2x", slow(2, 0.5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)},
		{"host m2 2x", of(simnet.Slow{Arcs: []int{3, 8}, Software: []int{3}, Latency: 2, Rate: 0.5})},
		{"software m2 2x", of(simnet.Slow{Software: []int{3}, Latency: 2, Rate: 0.5})},
		{"card m2 rate=0.5x", of(simnet.Slow{Through: []int{3}, Rate: 0.5})},
		{"switch swb rate=0.6x", of(simnet.Slow{Through: []int{5}, Rate: 0.6})},
		{"cable sw-a-swb rate=0.5x", of(simnet.Slow{Cables: []int{6, 9}, Rate: 0.5})},
		{"link m1-swb 4x from=20ms", when(simnet.When{From: 0.02})},
		{"link m1-swb 4x at=20ms", when(simnet.When{From: 0.02})},
		{"link m1-swb 4x until=3s from=1s", when(simnet.When{From: 1, Until: 3})},
		{"link m1-swb 4x over=10s", when(simnet.When{Over: 10})},
		{"link m1-swb 4x on=30% every=2ms", when(simnet.When{Share: 0.3, Every: 0.002})},
		{"link m1-swb 4x on=1/4", when(simnet.When{Share: 0.25})},
		{"lost 7", simnet.Settings{Faults: simnet.Faults{Lost: []simnet.LostRank{{Rank: 7}}}}},
		{"lost 0 from=1500ms", simnet.Settings{Faults: simnet.Faults{Lost: []simnet.LostRank{{Rank: 0, From: 1.5}}}}},
		{"noise 3%", simnet.Settings{Noise: simnet.Noise{Sigma: 0.03}}},
		{"noise 0.03 outliers=1/50 seed=7", simnet.Settings{Noise: simnet.Noise{Sigma: 0.03, Outliers: 0.02}, Seed: 7}},
	} {
		var got simnet.Settings
		if _, err := AddFault(&got, c.text, dashed(t)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("AddFault(%q) = %+v, %v, want %+v", c.text, got.Faults, err, c.want.Faults)
		}
	}
}

// TestWrongCable: a host that is at another switch has its cable there, with the latency and the rate that it had.
func TestWrongCable(t *testing.T) {
	for _, text := range []string{"host n-2 at swb", "host 1 at m1"} {
		var f simnet.Settings
		g, err := AddFault(&f, text, dashed(t))
		if err != nil {
			t.Fatal(err)
		}
		out := g.Out(1)
		if len(out) != 1 || out[0].To != 5 || out[0].Latency != 5e-6 || out[0].Bandwidth != 1e9 || g.ArcIndex(5, 1) < 0 || g.ArcIndex(4, 1) >= 0 {
			t.Errorf("%q: the links of n-2 are %+v, want one to swb with 5 us and 1 GB/s", text, out)
		}
		if !reflect.DeepEqual(f, simnet.Settings{}) {
			t.Errorf("%q left %+v", text, f)
		}
	}
}

// TestFaultsStayWithTheirCables: a fault is of the same cable whether a wrong cable stands before it or after it. The
// cable that is moved keeps its own fault.
func TestFaultsStayWithTheirCables(t *testing.T) {
	const wrong = "host n-1 at swb"
	for _, c := range []struct{ before, after string }{
		{"link n-2-sw-a 2x", "link n-2-sw-a 2x"},
		{"direction sw-a>n-2 2x", "direction sw-a>n-2 2x"},
		{"cable sw-a-swb rate=0.5x", "cable sw-a-swb rate=0.5x"},
		{"link n-1-sw-a 2x", "link n-1-swb 2x"},
		{"host n-1 2x", "host n-1 2x"},
		{"load 2x", "load 2x"},
	} {
		var got [2]simnet.Settings
		for i, texts := range [][]string{{c.before, wrong}, {wrong, c.after}} {
			g := dashed(t)
			for _, text := range texts {
				var err error
				if g, err = AddFault(&got[i], text, g); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Errorf("%q before %q = %+v, want %+v as after it", c.before, wrong, got[0].Faults, got[1].Faults)
		}
	}
}

func TestAddFaultRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "want link A-B"},
		{"link", `"": want two hosts or switches`},
		{"wire 0-4 2x", `"wire": want link A-B 1.5x, direction, uplink, cable, switch, card, host, software, load, lost or noise`},
		{"link 0-1 2x", "there is no link n-1-n-2: n-1 is linked to sw-a"},
		{"link 0>4 2x", `"0>4"`},
		{"link a-b 2x", `"a-b": want two hosts or switches`},
		{"link 0-9 2x", `"0-9"`},
		{"link 0-4", "want how slow it is"},
		{"link 0-4 0.5x", `"0.5x": want a factor from 1x to 1e+06x, such as 1.5x`},
		{"link 0-4 2", `"2": want a factor`},
		{"link 0-4 2x from=soon", `"from=soon": want a time`},
		{"link 0-4 from=2s", "want how slow it is"},
		{"link 0-4 2x until=0s", `"until=0s": want a time`},
		{"link 0-4 2x from=3s until=2s", "want later than from=3s"},
		{"link 0-4 2x on=0", `"on=0": want above 0`},
		{"link 0-4 2x on=4/3", `"on=4/3": want a share`},
		{"link 0-4 2x on=1/0", `"on=1/0": want a share`},
		{"link 0-4 2x on=NaN", `"on=NaN": want a share`},
		{"link 0-4 2x on=1/2 every=1ns", `"every=1ns": want a time of at least 1µs`},
		{"link 0-4 2x every=1s", "every=: want on= with it"},
		{"link 0-4 2x 3x", `"3x": want how slow it is`},
		{"link 0-4 2x rate=0.5x", `"rate=0.5x": want how slow it is`},
		{"load", "want how slow it is"},
		{"noise", "want noise 3%"},
		{"noise 200%", `"200%": want a share`},
		{"noise 3% seed=x", `"seed=x": want a whole number`},
		{"noise 3% loud=2", `"loud=2": want noise 3%`},
		{"link 0-4 latency=0.5x", `"latency=0.5x": want a factor from 1x`},
		{"link 0-4 rate=2x", `"rate=2x": want a factor from 1e-06x to 1x, such as rate=0.5x`},
		{"link 0-4 rate=0x", "to 1x"},
		{"link 0-4 rate=0.5x rate=0.5x", `"rate=0.5x": want rate= once`},
		{"link 0-4 2x speed=2x", `"speed=2x": want how slow it is`},
		{"link 0-4 NaNx", "NaNx"},
		{"link 0-4 2e6x", `"2e6x"`},
		{"direction 0>4 rate=1e-7x", `"rate=1e-7x"`},
		{"direction 0-4 2x", `"0-4"`},
		{"host 4 2x", `"4" is no host: want a name such as n-1, or a number from 0 to 3`},
		{"host sw-a 2x", "is no host"},
		{"host 0", "want how slow it is"},
		{"host 0 at 9", `"9" is no switch`},
		{"uplink n-2-m1 2x", `no link leads from these hosts`},
		{"uplink n-2-n-1 2x", `"n-2-n-1": want hosts, such as n-1-m2`},
		{"uplink n-1-sw-a 2x", `"n-1-sw-a": want hosts, such as n-1-m2`},
		{"uplink sw-a 2x", `"sw-a": want hosts, such as n-1-m2`},
		{"host 0 0.9x", `"0.9x": want a factor from 1x to 1e+06x, such as 1.5x`},
		{"lost x", "the number of a rank"},
		{"switch 0 rate=0.5x", "no switch"},
		{"switch 4 2x", "what the switch carries"},
		{"card 0 latency=2x", "what the card carries"},
		{"card 4 rate=0.5x", `"4" is no host`},
		{"cable 4-5 2x", "what the cable carries"},
		{"switch 4 latency=2x", "what the switch carries"},
		{"lost -1", "the number of a rank"},
		{"lost 1 2s", "from=2s"},
		{"lost 1 from=-2s", "from=2s"},
		{"lost 1 until=2s", "does not come back"},
	} {
		var f simnet.Settings
		_, err := AddFault(&f, c.text, dashed(t))
		if err == nil || !strings.HasPrefix(err.Error(), "fault ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("AddFault(%q) = %v, want %q", c.text, err, c.want)
		}
		if !reflect.DeepEqual(f, simnet.Settings{}) {
			t.Errorf("AddFault(%q) left %+v", c.text, f)
		}
	}
}

// TestFaultsMultiply: what several lines say of one link or host counts together, up to a million times.
func TestFaultsMultiply(t *testing.T) {
	for _, c := range []struct {
		text []string
		want string // of the last one; "": it is taken
	}{
		{[]string{"link 0-4 rate=0.001x", "link 0-4 rate=0.001x"}, ""},
		{[]string{"link 0-4 rate=0.001x", "direction 0>4 rate=0.0005x"}, `"n-1>sw-a" is 2e+06 times as slow`},
		{[]string{"link 0-4 latency=1000x", "load 2000x"}, `"n-1>sw-a" is 2e+06 times as slow`},
		{[]string{"link 0-4 latency=1000x", "link 1-4 2000x"}, ""},
		{[]string{"software 0 1000x", "host 0 2000x"}, `"n-1" is 2e+06 times as slow`},
		{[]string{"host 0 1000x", "host 0 2000x"}, `"n-1" is 2e+06 times as slow`}, // and not its links
		{[]string{"cable 4-5 rate=0.001x", "uplink 0-1 rate=0.0005x"}, `"sw-a>swb" is 2e+06 times as slow`},
	} {
		var s simnet.Settings
		for i, text := range c.text {
			_, err := AddFault(&s, text, dashed(t))
			if last := i == len(c.text)-1; last && c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || !(last && c.want != "") && err != nil {
				t.Errorf("AddFault(%q) after %q = %v, want an error with %q at the last", text, c.text[:i], err, c.want)
			}
		}
		if got, want := len(s.Faults.Slow), len(c.text); c.want == "" && got != want || c.want != "" && got != want-1 {
			t.Errorf("%q: %d faults are kept", c.text, got)
		}
	}
}

// TestOnlyTheOneCableIsMoved: of a host with two cables nobody knows which is meant.
func TestOnlyTheOneCableIsMoved(t *testing.T) {
	var arcs []topology.Arc
	for _, to := range []int{2, 3} {
		arcs = topology.AppendLink(arcs, 0, to, 5e-6, 1e9)
	}
	arcs = topology.AppendLink(arcs, 1, 2, 5e-6, 1e9)
	g, err := topology.NewGraph(2, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AddFault(new(simnet.Settings), "host 0 at 3", g); err == nil || !strings.Contains(err.Error(), "h0 has not one cable to a switch") {
		t.Errorf("a host with two cables was moved: %v", err)
	}
	// Two hosts that are wired to each other have no cable to a switch.
	pair, err := topology.NewGraph(2, 1, nil, topology.AppendLink(nil, 0, 1, 5e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AddFault(new(simnet.Settings), "host 0 at 2", pair); err == nil || !strings.Contains(err.Error(), "h0 has not one cable to a switch") {
		t.Errorf("a host without a switch was moved: %v", err)
	}
}

func FuzzAddFault(f *testing.F) {
	for _, text := range []string{"link 0-4 2x", "direction 0>4 rate=0.5x", "host 1 1.2x", "lost 3 from=1s", "link 0-1 2x from=1s over=1s until=9s on=1/3", "cable 0-1 rate=0.5x", "card 0 rate=0.5x", "load 2x", "noise 3% seed=7", "link --- ="} {
		f.Add(text)
	}
	var arcs []topology.Arc
	arcs = topology.AppendLink(arcs, 0, 1, 1e-6, 1e9)
	g, err := topology.NewGraph(1, 1, nil, arcs)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s simnet.Settings
		if _, err := AddFault(&s, text, g); err != nil {
			return
		}
		s.Faults.Lost = nil // there is one rank
		err := simnet.Run(g, nil, &s, func(mpi.Communicator) error { return nil })
		if err != nil {
			t.Errorf("AddFault(%q) took what Run refuses: %v", text, err)
		}
	})
}
