package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

// A namedBroadcast is an algorithm under the name that the thesis' tables have for it. Names with _m are broadcasts inside the groups
// of magpie, whose leaders get the message one by one. Pipelines and interpipe cut messages into segments (table 6.2).
type namedBroadcast struct {
	name string
	as   schedule.Algorithm
	cut  bool
}

// nameDefault is the library's own broadcast, which a decision function may choose, too.
const nameDefault = "default"

// nameInterpipe is magpie with segments.
const nameInterpipe = "interpipe"

// namedBroadcasts are those of tables 6.1 and 6.2 for groups of a level, in which "m" alone takes what the library would. Scatter gather is
// the form with a ring: on 1,024 ranks the thesis finds it faster than the library's own, which is that with doubling there.
func namedBroadcasts(ranks, level, group, bytes int) []namedBroadcast {
	inside := func(a schedule.Algorithm) schedule.Algorithm {
		return schedule.Magpie2{Level: level, Between: schedule.Flat{}, Within: a}
	}
	all := []namedBroadcast{
		{"flat", schedule.Flat{}, false},
		{"pipeline", schedule.Chain{}, true},
		{"btree", levelBinary{}, false},
		{"btree swap", schedule.SplitBinary{}, false},
		{"scatter gather", classic.ScatterRing{}, false},
	}
	if group > 1 && group < ranks {
		all = append(all,
			namedBroadcast{"m", inside(openMPIDefault(group, bytes)), false},
			namedBroadcast{"pipeline_m", inside(schedule.Chain{}), true},
			namedBroadcast{"btree_m", inside(levelBinary{}), false},
			namedBroadcast{"btree swap_m", inside(schedule.SplitBinary{}), false},
			namedBroadcast{"scatter gather_m", inside(classic.ScatterRing{}), false},
			namedBroadcast{nameInterpipe, classic.MagPIe{Level: level, Pipelined: true}, true},
		)
	}
	return all
}

// broadcastSizes are those of figure 6.12 and tables 6.4 and 6.6.
func broadcastSizes() []int {
	return []int{1, 8, 16, 64, 256, 512, 2 << 10, 4 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20}
}

// A broadcastMachine is one on which chapter 6 broadcasts.
type broadcastMachine struct {
	name    string
	spec    string
	memory  float64 // B/s, which the cores of a finest group share; 0: nothing shared
	level   int     // of the groups that the thesis took
	large   bool    // with --full only
	printed speedUp
	intel   speedUp // over Intel MPI's
	choices string  // of a table or figure: where
	choice  map[int]string
}

// A speedUp is what the thesis prints of one: at least, about, or a value.
type speedUp struct {
	kind outcome.Kind
	over float64 // 0: not printed
}

// beside compares it with ours.
func (p speedUp) beside(s *outcome.Section, what string, ours float64) {
	if p.over > 0 {
		s.Compare(p.kind, "speed-up over "+what, "", p.over, ours)
	}
}

// What the cores of a socket can copy to each other together, in B/s. A message through shared memory is read twice and written
// twice, so it is a quarter of the memory's bandwidth. FRAM has four channels of DDR4-2400, BETZY eight of DDR4-3200. Of
// ARM1 the thesis tells nothing: as FRAM.
const (
	framMemory  = 4 * 19.2e9 / 4
	betzyMemory = 8 * 25.6e9 / 4
)

func broadcastMachines() []broadcastMachine {
	fram := func(nodes int) string {
		return fmt.Sprintf("core:16 socket:2 host:%d rack:%d%s", 2, nodes/2, framLinks)
	}
	betzy := func(nodes int) string { return fmt.Sprintf("core:64 socket:2 host:%d%s", nodes, betzyLinks) }
	// Columns of tables 6.4 and 6.6, the last ones by the size after them.
	choices := func(sizes []int, names ...string) map[int]string {
		m := map[int]string{}
		for k, size := range sizes {
			if names[k] != "" {
				m[size] = names[k]
			}
		}
		return m
	}
	on64, on66 := []int{16, 4 << 10, 256 << 10, 512 << 10}, []int{64, 512 << 10, 1 << 20, 2 << 20, 8 << 20}
	const table64, table66 = "table 6.4", "table 6.6"
	return []broadcastMachine{
		{
			name: "FRAM, P = 64", spec: fram(2), memory: framMemory,
			choices: table64, choice: choices(on64, "btree_m", "m", nameDefault, nameDefault),
		},
		{
			name: "FRAM, P = 128", spec: fram(4), memory: framMemory, printed: speedUp{outcome.About, 2}, intel: speedUp{outcome.AtLeast, 1.5},
			choices: table64, choice: choices(on64, "btree_m", "m", "m", "scatter gather"),
		},
		{
			name: "FRAM, P = 256", spec: fram(8), memory: framMemory, large: true, printed: speedUp{outcome.AtLeast, 1.4},
			choices: table64, choice: choices(on64, "btree_m", "m", "scatter gather", "scatter gather"),
		},
		{
			name: "ARM1, P = 96", spec: "core:24 numa:2 socket:2 host:1 latency=10ns,150ns,75ns,75ns", memory: framMemory, printed: speedUp{outcome.AtLeast, 1.5},
			choices: "figure 6.12", choice: choices([]int{1, 8, 256, 512, 2 << 10, 4 << 10, 256 << 10, 2 << 20, 8 << 20},
				"pipeline", nameDefault, "m", "btree swap_m", "m", "btree swap_m", "m", "btree swap_m", "btree swap_m"),
		},
		{
			name: "BETZY, P = 512", spec: betzy(4), memory: betzyMemory, level: 1, large: true, printed: speedUp{outcome.AtLeast, 2}, intel: speedUp{outcome.AtLeast, 1.5},
			choices: table66, choice: choices(on66, "btree_m", "btree_m", "pipeline_m", "m", "scatter gather"),
		},
		{
			name: "BETZY, P = 1024", spec: betzy(8), memory: betzyMemory, level: 1, large: true, printed: speedUp{outcome.AtLeast, 1.2}, intel: speedUp{outcome.Measured, 1.2},
			choices: table66, choice: choices(on66, "m", "", "pipeline_m", "scatter gather", "scatter gather"),
		},
		{
			name: "BETZY, P = 2048", spec: betzy(16), memory: betzyMemory, level: 1, large: true, printed: speedUp{outcome.AtLeast, 1.1}, intel: speedUp{outcome.Measured, 1}, // chapter 7: "greater than 1.1"
			choices: table66, choice: choices(on66, "btree_m", "", "scatter gather", "pipeline_m", "pipeline_m"),
		},
	}
}

// simulatedBroadcasts makes the decision functions and speed-ups of chapter 6.
func simulatedBroadcasts(ctx context.Context, stage *stage, machines []broadcastMachine) error {
	s := stage.out.Section("The fastest broadcast by size and ranks (tables 6.3 to 6.6, figure 6.12)")
	s.Say("Predicted from the machine's wiring and groups. Broadcasts are those of tables 6.1 and 6.2 under the names of tables 6.4 and 6.6: _m is inside the groups of magpie, m alone is magpie with the library's own. default is that, by the rules that Open MPI 4.1 has for as many ranks and bytes, always of whole messages.")
	s.Say("Cores of a socket share its memory, of which a message takes four times its length: assumed, as the thesis does not say it (%s on FRAM and ARM1, %s on BETZY, by the memory that such sockets have). Nobody can look into Intel MPI, so speed-ups over it cannot be reproduced.",
		quantity.Rate(4*framMemory), quantity.Rate(4*betzyMemory))
	if !stage.full {
		s.Say("P = 256 to 2,048 are left out: --full has them.")
	}
	var curves []draw.Series
	memories := []float64{1, 0.25, 4} // of what is assumed
	var near [3]nearChoices
	for i := range machines {
		m := &machines[i]
		if m.large && !stage.full {
			continue
		}
		fmt.Fprintf(stage.progress, "broadcasts: %s\n", m.name)
		curve, err := m.decide(ctx, s, fmt.Sprintf("decision-%d", i+1))
		if err != nil {
			return err
		}
		curves = append(curves, curve)
		for k, times := range memories {
			if err := near[k].add(ctx, *m, times); err != nil {
				return err
			}
		}
	}
	s.Because("Of the thesis' %d choices %d take at most 10 %% longer here than the fastest but interpipe, which its tables never choose. An input that decides it: cores of a socket with a quarter of the assumed memory bandwidth have %d such choices, and %d the same; with four times as much they have %d and %d. The thesis prints neither its times nor this bandwidth, nor what a message or a segment costs.",
		near[0].all, near[0].near, near[1].near, near[1].same, near[2].near, near[2].same)
	s.Because("Segments are the thesis': pipelines and interpipe alone have them, of the length that is fastest here, for it prints none.")
	s.Because("Scatter gather is taken for the one of Open MPI's two forms that has a ring: the thesis does not say which it is. The other one doubles, and is the library's own on 1,024 ranks from 512 KiB on, where table 6.6 finds scatter gather faster.")
	if stage.full {
		s.Because("On 1,024 and 2,048 ranks the library's rules take scatter and allgather by doubling. In its last rounds all 128 ranks of a node send up to half of the message each through the one NIC of 100 Gbit/s, which the thesis does print: 235 MB for 2 MiB on 8 nodes, 19 ms at least. Inputs that are not known: whether its library did the same there and how long that took, what 128 ranks of a node can copy at once, and the sizes over which its speed-ups are taken, which it tells of FRAM alone.")
	}
	picture, err := draw.Plot("Speed-up of the fastest broadcast over the library's", draw.Axis{Name: "message size", Log: true, Format: func(x float64) string { return quantity.Bytes(int64(x)) }}, draw.Axis{Name: "speed-up"}, curves)
	return s.Figure("speed-up", picture, err)
}

// network is that of the machine, and how many ranks a group has.
func (m *broadcastMachine) network() (n *model.Network, group int, err error) {
	c, err := cli.SimulatedCluster(m.spec)
	if err == nil && m.memory > 0 {
		c, err = sharedMemory(c, m.memory)
	}
	if err == nil {
		n, err = wiredNetwork(c)
	}
	if err != nil {
		return nil, 0, err
	}
	group = 1
	for _, g := range n.Hierarchy().Groups()[1:] {
		if g.Level == m.level {
			group = max(group, len(g.Hosts))
		}
	}
	return n, group, nil
}

// nearChoices counts choices that the thesis prints.
type nearChoices struct {
	all  int
	same int // are the fastest here
	near int // take at most 10 % longer than the fastest but interpipe, which its tables never choose
}

// add counts the choices on a machine whose cores have so many times the memory bandwidth that is assumed.
func (c *nearChoices) add(ctx context.Context, m broadcastMachine, times float64) error {
	m.memory *= times
	n, group, err := m.network()
	if err != nil {
		return err
	}
	e := predict.New(n)
	for size, choice := range m.choice {
		all, err := m.predict(ctx, e, n, group, size)
		if err != nil {
			return err
		}
		fastest, others, printed := fastestOf(all, choice)
		c.all++
		if fastest.name == choice {
			c.same++
		}
		if printed <= 1.1*others {
			c.near++
		}
	}
	return nil
}

// A predictedBroadcast is how long a broadcast takes.
type predictedBroadcast struct {
	name    string
	seconds float64
	segment float64 // B; NaN: the message is whole
}

// predict predicts all broadcasts of a size, the library's own first. The end of the context ends it after the prediction under way.
func (m *broadcastMachine) predict(ctx context.Context, e *predict.Evaluator, n *model.Network, group, size int) ([]predictedBroadcast, error) {
	library := e.Predict(openMPIDefault(n.Ranks(), size), schedule.Problem{Ranks: n.Ranks(), Bytes: size})
	all := []predictedBroadcast{{nameDefault, library, math.NaN()}}
	for _, b := range namedBroadcasts(n.Ranks(), m.level, group, size) {
		if err := ctx.Err(); err != nil { // after each prediction: on 2,048 ranks they take seconds
			return nil, err
		}
		p := predictedBroadcast{name: b.name, segment: math.NaN()}
		if b.cut {
			plan := e.Candidates([]schedule.Algorithm{b.as}, size, 0)[0]
			if p.seconds = plan.Predicted; plan.Segment > 0 {
				p.segment = float64(plan.Segment)
			}
		} else {
			p.seconds = e.Predict(b.as, schedule.Problem{Ranks: n.Ranks(), Bytes: size, Tree: n.Hierarchy()})
		}
		all = append(all, p)
	}
	return all, nil
}

// fastestOf returns the fastest broadcast. As in the thesis it is never slower than the library's own. Others is the least time but
// for interpipe, and printed the time of the thesis' choice; NaN: it has none.
func fastestOf(all []predictedBroadcast, choice string) (fastest predictedBroadcast, others, printed float64) {
	fastest, others, printed = all[0], all[0].seconds, math.NaN()
	for _, p := range all {
		if p.seconds < fastest.seconds {
			fastest = p
		}
		if p.name != nameInterpipe {
			others = min(others, p.seconds)
		}
		if p.name == choice {
			printed = p.seconds
		}
	}
	return fastest, others, printed
}

// decide makes the decision function of one machine and the curve of its speed-ups over the library's own broadcast. The function
// has the fastest broadcast of each size, and between the sizes the one of straight lines (section 6.5.2).
func (m *broadcastMachine) decide(ctx context.Context, s *outcome.Section, name string) (curve draw.Series, err error) {
	curve.Name = m.name
	n, group, err := m.network()
	if err != nil {
		return curve, err
	}
	t := s.Table(name, outcome.Text("up to"), outcome.Text("fastest"), outcome.Text("printed"), outcome.Number("printed over fastest", ""),
		outcome.Number("segment", "B"), outcome.Number("time", "s"), outcome.Number("default", "s"), outcome.Number("speed-up", ""))
	t.Title = m.name
	e := predict.New(n)
	var names []string    // of the broadcasts
	var times [][]float64 // of each, by size
	var large []float64   // speed-ups from 512 KiB on, as the thesis has them
	same := 0
	for _, size := range broadcastSizes() {
		all, err := m.predict(ctx, e, n, group, size)
		if err != nil {
			return curve, err
		}
		if times == nil {
			times = make([][]float64, len(all))
		}
		names = names[:0]
		library := all[0].seconds
		for k, p := range all {
			names, times[k] = append(names, p.name), append(times[k], p.seconds)
		}
		best, _, printed := fastestOf(all, m.choice[size])
		if best.name == m.choice[size] {
			same++
		}
		speedUp := library / best.seconds
		t.Row(quantity.Bytes(size), best.name, m.choice[size], printed/best.seconds, best.segment, best.seconds, library, speedUp)
		curve.X, curve.Y = append(curve.X, float64(size)), append(curve.Y, speedUp)
		if size >= 512<<10 && size <= 2<<20 {
			large = append(large, speedUp)
		}
	}
	between := s.Table(name+"-between", outcome.Text("from"), outcome.Text("fastest"))
	between.Title = m.name + ": the choice between these sizes, by straight lines (section 6.5.2)"
	for _, d := range decide(broadcastSizes(), times) {
		between.Row(quantity.Bytes(int64(math.Ceil(d.from))), names[d.chosen])
	}
	if m.choice != nil {
		s.Compare(outcome.Measured, fmt.Sprintf("choices as in %s, %s", m.choices, m.name), "", float64(len(m.choice)), float64(same))
	}
	m.printed.beside(s, "Open MPI, 0.5 to 2 MiB, "+m.name, stat.GeometricMean(large, nil))
	m.intel.beside(s, "Intel MPI, "+m.name, math.NaN())
	return curve, nil
}

// sharedMemory lets all messages to the hosts of one switch go through one arc of that bandwidth, as cores share the memory of a
// socket.
func sharedMemory(c *simnet.Cluster, bandwidth float64) (*simnet.Cluster, error) {
	g := c.Graph
	arcs := slices.Clone(g.Arcs())
	memory := make(map[int]int) // of a switch
	switches := g.Vertices() - g.Hosts()
	for i := range arcs[:len(arcs):len(arcs)] {
		a := &arcs[i]
		if g.IsSwitch(a.To) || !g.IsSwitch(a.From) {
			continue
		}
		if _, known := memory[a.From]; !known {
			memory[a.From] = g.Hosts() + switches
			switches++
		}
		a.From = memory[a.From]
	}
	for v := g.Hosts(); v < g.Vertices(); v++ {
		if to, is := memory[v]; is {
			arcs = append(arcs, topology.Arc{From: v, To: to, Bandwidth: bandwidth, Probability: 1})
		}
	}
	shared, err := topology.NewGraph(g.Hosts(), switches, nil, arcs)
	if err != nil {
		return nil, err
	}
	own := *c
	own.Graph = shared
	return &own, nil
}

// wiredNetwork is what is known of a cluster whose graph need not be a tree: its wiring and its groups.
func wiredNetwork(c *simnet.Cluster) (*model.Network, error) {
	found := &topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}
	return model.New(found, &model.Settings{Routing: c.Routing})
}
