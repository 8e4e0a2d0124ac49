package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/model/contention"
)

// PredictSettings say how to predict, and what if. The zero value predicts
// what the network was fitted to.
type PredictSettings struct {
	// Sharing of links. It is all of the law. nil: the law that the network was fitted to, fair if it was not.
	Sharing *contention.Sharing
	// NoLatency leaves out the latency of paths.
	NoLatency bool
}

// A Predictor predicts concurrent transfers on a Network. It keeps its
// working memory, so it allocates next to nothing once warm. It belongs to one
// goroutine; the Network may have many.
//
// Channels of its solver are the arcs, then what both directions of the link of each arc share, then what both directions
// of each connection share.
type Predictor struct {
	n           *Network
	s           PredictSettings
	law         Law
	exact       bool      // rates are, as a fit needs them: see SetLaw
	capacity    []float64 // per arc, B/s; NaN: not known
	both        []int32   // per arc: the channel that both directions of its link share; -1: none
	connections int       // for which there are channels
	solver      *contention.Solver

	pattern Pattern           // of the last prediction
	flows   []contention.Flow // that were played last
	shared  []int32           // arena of their channels
}

// NewPredictor prepares predictions. Sharing must not change while it is in use.
func (n *Network) NewPredictor(s *PredictSettings) (*Predictor, error) {
	if s == nil {
		s = &PredictSettings{}
	}
	p := &Predictor{n: n, s: *s, law: n.s.Law}
	if s.Sharing != nil {
		p.law = Law{}
	}
	arcs := n.graph.Arcs()
	for i, a := range arcs {
		p.capacity, p.both = append(p.capacity, a.Bandwidth), append(p.both, -1)
		if back := n.graph.ArcIndex(a.To, a.From); back >= 0 && !(n.graph.IsSwitch(a.From) && n.graph.IsSwitch(a.To)) {
			p.both[i] = int32(len(arcs) + min(i, back))
		}
	}
	if err := p.newSolver(); err != nil {
		return nil, fmt.Errorf("model: predict: %w", err)
	}
	return p, nil
}

// newSolver makes a solver over all channels.
func (p *Predictor) newSolver() error {
	arcs := len(p.capacity)
	channels := arcs
	if p.law.limitsDirections() {
		channels = 2*arcs + p.connections
	}
	capacity := slices.Repeat([]float64{math.Inf(1)}, channels)
	for arc, rate := range p.capacity {
		if !math.IsNaN(rate) { // a channel without a known capacity carries no flow: see Play
			capacity[arc] = rate
		}
		if p.sharesLink(arc) {
			capacity[p.both[arc]] = p.bothDirections(arc)
		}
	}
	sharing := contention.Sharing{Coupling: p.law.Coupling}
	if p.s.Sharing != nil {
		sharing = *p.s.Sharing
	} else if p.law.Coupling > 0 && !p.exact {
		sharing.Tolerance = fittedTolerance
	}
	var err error
	p.solver, err = contention.NewSolver(capacity, &sharing)
	return err
}

// fittedTolerance is the share to which rates are kept where links are coupled. It is far below what a fit is off by,
// which is some per cent.
const fittedTolerance = 0.001

// SetLaw changes how links are shared, as a fit does that tries many laws. From then on rates are exact. It must not be used
// with PredictSettings.Sharing.
func (p *Predictor) SetLaw(law Law) error {
	if p.exact && law == p.law {
		return nil
	}
	if err := law.check(); err != nil {
		return fmt.Errorf("model: predict: law: %w", err)
	}
	p.law, p.exact = law, true
	return p.newSolver()
}

// SetBandwidth changes the bandwidth of an arc of the graph to one in B/s above 0; NaN: not known. What-if predictions ask
// so: what if an uplink had half its bandwidth.
func (p *Predictor) SetBandwidth(arc int, rate float64) error {
	if arc < 0 || arc >= len(p.capacity) || rate <= 0 || math.IsInf(rate, 0) {
		return fmt.Errorf("model: predict: arc %d of %g B/s: want an arc in [0, %d) and a bandwidth above 0, or NaN", arc, rate, len(p.capacity))
	}
	if p.capacity[arc] == rate {
		return nil
	}
	p.capacity[arc] = rate
	if math.IsNaN(rate) {
		rate = math.Inf(1)
	}
	if err := p.solver.SetCapacity(arc, rate); err != nil {
		return err
	}
	if p.sharesLink(arc) {
		return p.solver.SetCapacity(int(p.both[arc]), p.bothDirections(arc))
	}
	return nil
}

// sharesLink tells whether both directions of the link of an arc share what the link carries.
func (p *Predictor) sharesLink(arc int) bool { return p.both[arc] >= 0 && isDuplexLimit(p.law.Duplex) }

// bothDirections is what both directions of the link of an arc carry together, in B/s; +Inf if one is not known.
func (p *Predictor) bothDirections(arc int) float64 {
	a := p.n.graph.Arcs()[arc]
	shared := bothWays(p.capacity[arc], p.capacity[p.n.graph.ArcIndex(a.To, a.From)], p.law.Duplex)
	if math.IsNaN(shared) {
		return math.Inf(1)
	}
	return shared
}

// Predict appends to dst the times in s at which the transfers are complete,
// the first one's beginning being at its Start. Each begins to flow when the latency of its
// path has passed. That has what every message pays at its ends and the handshake of a long one. So a transfer alone takes
// what Time says. It flows over the fixed route of the graph; what share it gets while
// others flow is said at Sharing and Solver. With more than 10,000 of them under way, rates are held to
// a thousandth (contention.Sharing.Tolerance). An error names the
// transfer whose rank is unknown, whose size is not above 0, or that has no route. So it does if the
// capacity of a link on the route is not known.
//
// What if another job ran too? Its transfers are further ones. What if ranks were elsewhere? Src and Dst are the ranks
// that ran there.
func (p *Predictor) Predict(dst []float64, transfers []Transfer) ([]float64, error) {
	err := p.fill(&p.pattern, transfers, false)
	if err == nil {
		dst, err = p.Play(dst, &p.pattern)
	}
	if err != nil {
		return dst, fmt.Errorf("model: predict: %w", err)
	}
	return dst, nil
}

// startUp is the time in s from the start of a message until its bytes flow, over a route of the given latency in s.
// A message that is part of a stream waits for no rendezvous.
func (n *Network) startUp(src, dst int, bytes int64, latency float64, streamed bool) float64 {
	start := latency + n.found.Fit.Overhead
	level := n.LevelOf(src, dst)
	perByte := n.perByte[level]
	if math.IsNaN(perByte) {
		return start
	}
	short := n.Time(src, dst, n.s.Measured.Bytes) - perByte*float64(n.s.Measured.Bytes)
	if math.Abs(short-start) <= likeLatency*start { // the level knows it better than a single route
		start = math.Max(0, short)
	}
	if wait := n.s.Levels[level].handshakeAt(bytes, perByte); wait > 0 && !streamed {
		start += wait * n.RouteShare(src, dst)
	}
	return start
}

// Predict predicts concurrent transfers as the network was fitted: see
// Predictor, which is faster for many predictions.
func (n *Network) Predict(dst []float64, transfers []Transfer) ([]float64, error) {
	p, ok := n.predictors.Get().(*Predictor)
	if !ok {
		var err error
		if p, err = n.NewPredictor(nil); err != nil {
			return dst, err
		}
	}
	defer n.predictors.Put(p)
	return p.Predict(dst, transfers)
}
