package throughput

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Measure measures what the links of a known machine carry (Bufe 2014, section 2.3):
// links between hosts, of hosts and between switches, each in both directions. It is
// collective; the settings of rank 0 count. The result is nil on other ranks.
//
// The end of the context, on any rank, or of the budget ends it on all ranks after the same sample; what was
// measured until then is the result, and Stopped says so. An error means that nothing was measured:
// wrong settings, or a failure of the communicator, which is unusable afterwards.
//
// The number of steps is that of the greatest switch's hosts (Settings.ByLatency: 2), of the highest degree between hosts, and of links between switches that share
// switches. A step takes Messages*Size bytes of each pair per sample and direction. Each rank
// has a buffer of two messages.
func Measure(ctx context.Context, comm mpi.Communicator, settings *Settings) (*Result, error) {
	s := *cmp.Or(settings, &Settings{})
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (*Result, error) { return measure(c, &s) })
}

func measure(c *harness.Conductor, s *Settings) (r *Result, err error) {
	p, err := harness.Share(c.Comm, c, func() (Load, error) {
		err := s.validate(c.Comm.Size())
		return s.Load, err
	})
	if err != nil {
		return nil, err
	}
	err = c.LeadPairs(s.Budget, newStream(c.Comm, p.Size).exchange, func(play harness.PlayPairs) error {
		x, err := newCampaign(s)
		if err != nil {
			return err
		}
		x.play, x.progress = play, s.Steps("steps")
		if err := x.measure(c); err != nil {
			return err
		}
		r = x.r
		return nil
	})
	return r, err
}

// A campaign is what rank 0 knows while it decides on the next steps.
type campaign struct {
	play     harness.PlayPairs
	progress func(done, of int)

	s      *Settings
	g      *topology.Graph
	routes *topology.Routes
	r      *Result
}

func newCampaign(s *Settings) (*campaign, error) {
	g := s.wiring
	routes, err := topology.NewRoutes(g, topology.ChooseLowest)
	if err != nil {
		return nil, err
	}
	c := &campaign{s: s, g: g, routes: routes, r: &Result{Graph: g, Size: s.Size, Samples: s.Samples}}
	for _, a := range g.Arcs() {
		kind := switchSwitch
		switch {
		case !g.IsSwitch(a.From) && !g.IsSwitch(a.To):
			kind = nodeNode
		case !g.IsSwitch(a.From) || !g.IsSwitch(a.To):
			kind = nodeSwitch
		}
		c.r.Links = append(c.r.Links, Link{From: a.From, To: a.To, what: kind, Rate: math.NaN()})
	}
	return c, nil
}

// measure measures one thing after the other until all is done, or all ranks have stopped.
func (c *campaign) measure(conductor *harness.Conductor) error {
	parts := []func() error{c.nodeNode, c.parallel, c.nodeSwitch, c.switchSwitch}
	if c.s.Switches {
		parts = append(parts, c.maximum)
	}
	for _, part := range append(parts, c.blocking) {
		if conductor.Stopped() != "" {
			break
		}
		if err := part(); err != nil {
			return err
		}
	}
	c.r.Stopped, c.r.Seconds = conductor.Stopped(), conductor.Elapsed()
	c.warn()
	return nil
}

// A load is what is measured as one: messages between pairs of ranks at the same
// time, from the first of each to the second. A step has several loads that do not
// disturb each other; no rank is in two pairs of a step.
type load struct {
	from, to int // the arc that it is about, or a switch and -1
	pairs    [][2]int
	messages int
	rate     float64 // B/s, of the reading that it gave; NaN: it gave none
}

// take measures steps, where messages go one way in both directions, and keeps the
// readings, as far as the ranks have come.
//
// A step is a round in which the pairs greet each other, and one round for each sample. Greetings take longer between
// ranks that are far from each other. Within the first sample, these pairs would begin after the others. Their arrivals, timed from then
// on, would add up to more than the link that they share carries.
func (c *campaign) take(what target, steps [][]*load) error {
	if what != parallel && what != blocking {
		steps = bothWays(steps)
	}
	if len(steps) == 0 {
		return nil
	}
	perStep := 1 + c.s.Samples
	var rounds [][]harness.Pair
	for _, step := range steps {
		var greet, send []harness.Pair
		for _, l := range step {
			for _, p := range l.pairs {
				greet = append(greet, harness.Pair{A: p[0], B: p[1], Task: greeting})
				send = append(send, harness.Pair{A: p[0], B: p[1], Task: l.messages})
			}
		}
		rounds = append(append(rounds, greet), slices.Repeat([][]harness.Pair{send}, c.s.Samples)...)
	}
	before := c.r.Steps
	c.progress(0, len(steps))
	rows, err := c.play(rounds, func(done int) {
		if done%perStep == 0 {
			c.r.Steps = before + done/perStep
			c.progress(done/perStep, len(steps))
		}
	})
	if err != nil {
		return err
	}
	seen := make(map[[2]int][]float64, len(rows)) // by round and receiver
	for _, row := range rows {
		seen[[2]int{row.Round, row.From}] = row.Values
	}
	for i, step := range steps {
		for _, l := range step {
			c.keep(what, before+i, l, func(turn, rank int) []float64 { return seen[[2]int{i*perStep + turn, rank}] })
		}
	}
	return nil
}

// bothWays has behind each step the same one with all pairs turned round.
func bothWays(steps [][]*load) [][]*load {
	var all [][]*load
	for _, step := range steps {
		var back []*load
		for _, l := range step {
			turned := &load{from: l.to, to: l.from, messages: l.messages}
			for _, p := range l.pairs {
				turned.pairs = append(turned.pairs, [2]int{p[1], p[0]})
			}
			back = append(back, turned)
		}
		all = append(all, step, back)
	}
	return all
}

// keep makes a reading of what the receivers of a load have seen in the turns of its step, if all have taken a sample.
func (c *campaign) keep(what target, step int, l *load, seen func(turn, rank int) []float64) {
	x := reading{what: what, From: l.from, To: l.to, Pairs: l.pairs, Messages: l.messages, Step: step}
	var samples [][]flow
	for turn := 1; turn <= c.s.Samples; turn++ {
		var flows []flow
		for _, p := range l.pairs {
			if arrived := seen(turn, p[1]); arrived != nil {
				flows = append(flows, flow{bytes: float64(c.s.Size), rtt: seen(0, p[1])[0], met: arrived[0], arrivals: arrived[1:]})
			}
		}
		if len(flows) == len(l.pairs) {
			samples, x.Rates = append(samples, flows), append(x.Rates, together(flows))
		}
	}
	l.rate = math.NaN()
	if len(samples) == 0 {
		return
	}
	best := chosen(x.Rates)
	x.Rate, l.rate = x.Rates[best], x.Rates[best]
	for _, f := range samples[best] {
		x.Seconds = append(x.Seconds, f.end()-f.start()+f.rtt/2)
	}
	c.r.readings = append(c.r.readings, x)
}

// messages of each of so many pairs that load one link: fewer where they are many, as the link
// is then loaded for longer.
func (c *campaign) messages(pairs int) int {
	if pairs <= 2 {
		return c.s.Messages
	}
	return max(fewestMessages, 2*c.s.Messages/pairs)
}
