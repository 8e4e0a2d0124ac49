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
// links between hosts, of hosts and between switches, each in both directions. Of a network that is to be measured
// again it measures the latencies, too. It is
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
	return harness.Conduct(ctx, comm, s.Silence, func(conductor *harness.Conductor) (*Result, error) {
		left := conductor.Remaining(s.Budget)
		c := &campaign{Conductor: conductor, s: &s, progress: s.Steps("steps")}
		p, err := harness.Share(c.Comm, conductor, c.plan)
		if err != nil {
			return nil, err
		}
		if len(p.Sizes) > 0 {
			if err := c.measureLatencies(p.Sizes, left(budgetShare)); err != nil {
				return nil, err
			}
		}
		err = c.LeadPairs(left(1), newStream(c.Comm, p.Size).exchange, func(play harness.PlayPairs) error {
			c.play = play
			return c.measure()
		})
		return c.r, err
	})
}

// A plan is what all ranks need to know.
type plan struct {
	Size  int   `json:"size_B"`
	Sizes []int `json:"sizes_B"` // of the messages whose latencies are measured; none: no latencies are
}

// A campaign is a rank's side of a measurement. What is measured next depends on what was seen of hosts and switches before:
// rank 0 decides. Others have no graph and no result.
type campaign struct {
	*harness.Conductor
	s        *Settings
	play     harness.PlayPairs
	progress func(done, of int)

	g      *topology.Graph
	routes *topology.Routes
	r      *Result
}

// plan prepares rank 0.
func (c *campaign) plan() (p plan, err error) {
	if c.g, err = c.s.wiring(c.Comm.Size()); err != nil {
		return p, err
	}
	if c.routes, err = topology.NewRoutes(c.g, topology.ChooseLowest); err != nil {
		return p, err
	}
	c.r = &Result{Graph: c.g, Size: c.s.Size, Samples: c.s.Samples}
	for _, a := range c.g.Arcs() {
		c.r.Links = append(c.r.Links, Link{From: a.From, To: a.To, Rate: math.NaN()})
	}
	return plan{c.s.Size, c.latencySizes()}, nil
}

// measure measures one thing after the other until all is done, or all ranks have stopped.
func (c *campaign) measure() error {
	for _, part := range []func() error{c.parallel, c.links, c.maximum, c.blocking} {
		if c.Stopped() != "" {
			break
		}
		if err := part(); err != nil {
			return err
		}
	}
	c.r.Stopped, c.r.Seconds = cmp.Or(c.r.Stopped, c.Stopped()), c.Elapsed()
	c.warn()
	return c.renew()
}

// links measures all links, and tells which rates are only bounds.
func (c *campaign) links() error {
	crossings := findCrossings(c.g, c.s.Pairs)
	if c.s.PerSwitch {
		crossings = onePerSwitch(crossings)
	}
	err := c.take(c.steps(slices.Concat(c.edges(), c.hosts(), c.uplinks(crossings))))
	c.judge()
	return err
}

// A load is what is measured as one: messages between pairs of ranks at the same
// time, from the first of each to the second. A step has several loads that do not
// disturb each other; no rank is in two pairs of a step.
type load struct {
	pairs    [][2]int
	messages int      // of each pair, per sample
	links    [][2]int // the ends of those that all pairs pass, and whose rate it may show
	rate     float64  // B/s, of the measurement that it gave; NaN: it gave none
	back     *load    // the other way; nil: it is not measured
}

// load is that of pairs which all pass the given links.
func (c *campaign) load(pairs [][2]int, links ...[2]int) *load {
	return &load{pairs: pairs, links: links, messages: c.messages(len(pairs)), rate: math.NaN()}
}

// messages of each of so many pairs that load one link: fewer where they are many, as the link
// is then loaded for longer.
func (c *campaign) messages(pairs int) int {
	if pairs <= 2 {
		return c.s.Messages
	}
	return max(fewestMessages, 2*c.s.Messages/pairs)
}

// reversed is the load the other way.
func (l *load) reversed() *load {
	turned := func(all [][2]int) [][2]int {
		all = slices.Clone(all)
		for i, p := range all {
			all[i] = [2]int{p[1], p[0]}
		}
		return all
	}
	return &load{pairs: turned(l.pairs), links: turned(l.links), messages: l.messages, rate: math.NaN()}
}

// A round is loads that do not disturb each other.
type round []*load

// steps has rounds in steps, as many at once as need no host, link or switch in common (Bufe 2014, section
// 2.3.3). Behind each step comes the same one with all pairs turned round.
func (c *campaign) steps(rounds []round) []round {
	var all []round
	for _, together := range harness.Greedy(rounds, c.needs) {
		step := slices.Concat(together...)
		back := make(round, len(step))
		for i, l := range step {
			l.back = l.reversed()
			back[i] = l.back
		}
		all = append(all, step, back)
	}
	return all
}

// needs are the hosts, links and switches that a round takes, without the switches that were seen to
// carry all their hosts at once: nothing waits there. Links have the numbers of their lower arcs, behind those of
// the vertices.
func (c *campaign) needs(r round) []int {
	var all []int
	for _, l := range r {
		for _, p := range l.pairs {
			all = append(all, p[:]...)
			for _, w := range [][2]int{p, {p[1], p[0]}} {
				route, err := c.route(w[0], w[1])
				if err != nil {
					continue // it will not be measured to any use
				}
				for _, a := range route {
					from, to := c.g.Arcs()[a].From, c.g.Arcs()[a].To
					link := int(a)
					if back := c.g.ArcIndex(to, from); back >= 0 {
						link = min(link, back)
					}
					all = append(all, c.g.Vertices()+link)
					if c.g.IsSwitch(to) && !c.carriesAll(to) {
						all = append(all, to)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// route is the one between two vertices, as numbers of arcs.
func (c *campaign) route(from, to int) ([]int32, error) { return c.routes.AppendRoute(nil, from, to) }

// take measures steps, where messages go one way, and keeps the measurements, as far as the ranks have come.
//
// A step is a round in which the pairs greet each other, and one round for each sample. Greetings take longer between
// ranks that are far from each other. Within the first sample, these pairs would begin after the others. Their arrivals, timed from then
// on, would add up to more than the link that they share carries.
func (c *campaign) take(steps []round) error {
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
			c.keep(l, before+i, func(turn, rank int) []float64 { return seen[[2]int{i*perStep + turn, rank}] })
		}
	}
	return nil
}

// keep makes a measurement of what the receivers of a load have seen in the turns of its step, if all have taken a sample.
func (c *campaign) keep(l *load, step int, seen func(turn, rank int) []float64) {
	x := measurement{Pairs: l.pairs, Messages: l.messages, Step: step}
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
	if len(samples) == 0 {
		return
	}
	best := chosen(x.Rates)
	x.Rate, l.rate = x.Rates[best], x.Rates[best]
	for _, f := range samples[best] {
		x.Seconds = append(x.Seconds, f.end()-f.start()+f.rtt/2)
	}
	for _, ends := range l.links {
		if arc := c.g.ArcIndex(ends[0], ends[1]); arc >= 0 {
			c.r.Links[arc].take(len(c.r.measurements), x.Rate)
		}
	}
	c.r.measurements = append(c.r.measurements, x)
}

// take takes the rate of a measurement as that of the link, if it is the highest.
func (l *Link) take(measurement int, rate float64) {
	l.measurements = append(l.measurements, measurement)
	if !(rate <= l.Rate) {
		l.Rate = rate
	}
}
