package throughput

import (
	"cmp"
	"context"
	"math"

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
	var r *Result
	err := harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (err error) {
		r, err = measure(c, &s)
		return err
	})
	return r, err
}

func measure(c *harness.Conductor, s *Settings) (*Result, error) {
	p, err := harness.Share(c.Comm, c, func() (Load, error) {
		err := s.validate(c.Comm.Size())
		return s.Load, err
	})
	if err != nil {
		return nil, err
	}
	e := &executor{Conductor: c, stream: newStream(c.Comm, p.Size), samples: p.Samples, bytes: p.Size, progress: s.Steps("steps")}
	var r *Result
	err = e.lead(s.Budget, func() error {
		campaign, err := newCampaign(e, s)
		if err != nil {
			return err
		}
		r, err = campaign.measure()
		return err
	})
	return r, err
}

// A campaign is what rank 0 knows while it decides on the next steps.
type campaign struct {
	run    *executor
	s      *Settings
	g      *topology.Graph
	routes *topology.Routes
	r      *Result
}

func newCampaign(e *executor, s *Settings) (*campaign, error) {
	g := s.wiring
	routes, err := topology.NewRoutes(g, topology.ChooseLowest)
	if err != nil {
		return nil, err
	}
	c := &campaign{run: e, s: s, g: g, routes: routes, r: &Result{Graph: g, Size: s.Size, Samples: s.Samples}}
	for _, a := range g.Arcs() {
		kind := SwitchSwitch
		switch {
		case !g.IsSwitch(a.From) && !g.IsSwitch(a.To):
			kind = NodeNode
		case !g.IsSwitch(a.From) || !g.IsSwitch(a.To):
			kind = NodeSwitch
		}
		c.r.Links = append(c.r.Links, Link{From: a.From, To: a.To, What: kind, Rate: math.NaN()})
	}
	return c, nil
}

// measure measures one thing after the other until all is done, or all ranks have stopped.
func (c *campaign) measure() (*Result, error) {
	going := true
	parts := []func() (bool, error){c.nodeNode, c.parallel, c.nodeSwitch, c.switchSwitch}
	if c.s.Switches {
		parts = append(parts, c.maximum)
	}
	for _, part := range append(parts, c.blocking) {
		if !going {
			break
		}
		var err error
		if going, err = part(); err != nil {
			return nil, err
		}
	}
	c.r.Stopped, c.r.Steps, c.r.Seconds = c.run.Stopped(), c.run.steps, c.run.Elapsed()
	c.warn()
	return c.r, nil
}

// take measures steps, where messages go one way in both directions, and keeps the
// readings. It returns false when all ranks have stopped.
func (c *campaign) take(what What, steps [][]*load) (bool, error) {
	if what != Parallel && what != Blocking {
		steps = bothWays(steps)
	}
	if len(steps) == 0 {
		return true, nil
	}
	before := c.run.steps
	going, err := c.run.run(steps)
	if err != nil {
		return false, err
	}
	for i, step := range steps {
		for _, l := range step {
			c.keep(what, before+i, l)
		}
	}
	return going, nil
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

// keep makes a reading of what a load has brought, if it has.
func (c *campaign) keep(what What, step int, l *load) {
	if len(l.samples) == 0 {
		return
	}
	l.reading = len(c.r.Readings)
	x := Reading{What: what, From: l.from, To: l.to, Pairs: l.pairs, Messages: l.messages, Step: step}
	for _, flows := range l.samples {
		x.Rates = append(x.Rates, together(flows))
	}
	best := chosen(x.Rates)
	x.Rate = x.Rates[best]
	for i := range l.samples[best] {
		f := &l.samples[best][i]
		x.Seconds = append(x.Seconds, f.end()-f.start()+f.rtt/2)
	}
	c.r.Readings = append(c.r.Readings, x)
}

// messages of each of so many pairs that load one link: fewer where they are many, as the link
// is then loaded for longer.
func (c *campaign) messages(pairs int) int {
	if pairs <= 2 {
		return c.s.Messages
	}
	return max(fewestMessages, 2*c.s.Messages/pairs)
}
