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
	// Sharing of the channels, which are the graph's arcs in their order; its
	// Coupling is per arc. nil: what the network was fitted to, fair if it was not.
	Sharing *contention.Sharing
	// RTTBias b weights flows that share a channel by 1/RTT^b. NaN: as fitted, 0 if
	// it was not. Used with Sharing only; without, it is as fitted.
	RTTBias float64
	// NoLatency leaves out the latency of paths.
	NoLatency bool
	// Window is how many bytes a flow has under way at most: it bounds its rate
	// to Window over the round-trip time of its path. 0: no bound.
	Window int64
	// Background transfers are under way too, but not reported.
	Background []Transfer
	// Capacity changes the bandwidth of arcs by a factor above 0: 0.5 halves.
	Factors []ArcFactor
	// Place moves ranks: transfers of rank r run as those of rank Place[r] of
	// the network. nil: they stay. Background is moved too.
	Place []int
}

// ArcFactor multiplies the bandwidth of one arc.
type ArcFactor struct {
	Arc    int // its number in the graph's Arcs()
	Factor float64
}

// A Predictor predicts concurrent transfers on a Network. It keeps its
// working memory, so it allocates next to nothing once warm. It belongs to one
// goroutine; the Network may have many.
type Predictor struct {
	n        *Network
	s        PredictSettings
	capacity []float64 // per arc, then what directions share; NaN: not known
	sharing  contention.Sharing
	solver   *contention.Solver
	rttBias  float64
	playback *contention.Playback
	flows    []contention.Flow // of the last prediction
	route    []int32           // arena of all flows' channels
	times    []float64

	limitsLinks, limitsConnections bool // whether both directions of a link, or of a connection, share a channel
}

// NewPredictor prepares predictions. Slices of the settings must not change
// while it is in use.
func (n *Network) NewPredictor(s *PredictSettings) (*Predictor, error) {
	p := &Predictor{n: n, rttBias: n.rttBias}
	if s != nil {
		p.s = *s
	}
	if s != nil && s.Sharing != nil && !math.IsNaN(s.RTTBias) {
		p.rttBias = s.RTTBias
	}
	sharing := p.s.Sharing
	if sharing == nil {
		sharing = n.sharing()
	}
	for i, f := range p.s.Factors {
		if f.Arc < 0 || f.Arc >= n.graph.NumArcs() || !(f.Factor > 0) || math.IsInf(f.Factor, 0) {
			return nil, fmt.Errorf("model: predict: capacity %d: arc %d by %g: want an arc in [0, %d) and a factor above 0", i, f.Arc, f.Factor, n.graph.NumArcs())
		}
	}
	if p.s.Window < 0 {
		return nil, fmt.Errorf("model: predict: window of %d bytes: want at least 0", p.s.Window)
	}
	if err := checkPlace(p.s.Place, n.Ranks()); err != nil {
		return nil, fmt.Errorf("model: predict: %w", err)
	}
	for _, a := range n.graph.Arcs() {
		p.capacity = append(p.capacity, a.Bandwidth)
	}
	for _, f := range p.s.Factors {
		p.capacity[f.Arc] *= f.Factor
	}
	if p.s.Sharing == nil {
		p.limitDuplex()
	}
	p.sharing = *sharing
	if err := p.newSolver(); err != nil {
		return nil, fmt.Errorf("model: predict: %w", err)
	}
	return p, nil
}

// newSolver makes a solver over all channels.
func (p *Predictor) newSolver() error {
	// A channel without a known capacity carries no flow: see add.
	finite := slices.Clone(p.capacity)
	for c, x := range finite {
		if math.IsNaN(x) {
			finite[c] = math.Inf(1)
		}
	}
	sharing := p.sharing
	if k := sharing.Coupling; k != nil && len(k) == p.n.graph.NumArcs() {
		sharing.Coupling = append(slices.Clone(k), make([]float64, len(finite)-len(k))...)
	}
	var err error
	if p.solver, err = contention.NewSolver(finite, &sharing); err != nil {
		return err
	}
	p.playback = contention.NewPlayback(p.solver)
	return nil
}

func checkPlace(place []int, ranks int) error {
	if place == nil {
		return nil
	}
	if len(place) > ranks {
		return fmt.Errorf("%d places for %d ranks", len(place), ranks)
	}
	taken := make([]bool, ranks)
	for r, at := range place {
		if at < 0 || at >= ranks || taken[at] {
			return fmt.Errorf("place of rank %d is %d: want each in [0, %d) at most once", r, at, ranks)
		}
		taken[at] = true
	}
	return nil
}

// Predict appends to dst the times in s at which the transfers are complete,
// the first one's beginning being at its Start. Each begins to flow when the latency of its
// path has passed, with what every message pays at its ends and the handshake of a long one. So a transfer alone takes
// what Time says. It flows over the fixed route of the graph; what share it gets while
// others flow is said at Sharing and Solver. With more than 10,000 of them under way, rates are held to
// a thousandth (contention.Sharing.Tolerance). It is an error, which names the
// transfer, if a rank is unknown, a size not above 0, there is no route, or the
// capacity of a link on it is not known.
func (p *Predictor) Predict(dst []float64, transfers []Transfer) ([]float64, error) {
	p.flows, p.route = p.flows[:0], p.route[:0]
	all := transfers
	if len(p.s.Background) > 0 {
		all = slices.Concat(transfers, p.s.Background)
	}
	connections, err := p.connect(all)
	if err != nil {
		return dst, fmt.Errorf("model: predict: %w", err)
	}
	for i, t := range all {
		connection := -1
		if connections != nil {
			connection = connections[i]
		}
		if err := p.add(t, connection); err != nil {
			name := fmt.Sprintf("transfer %d", i)
			if i >= len(transfers) {
				name = fmt.Sprintf("background transfer %d", i-len(transfers))
			}
			return dst, fmt.Errorf("model: predict: %s (%v): %w", name, t, err)
		}
	}
	times, err := p.playback.Times(p.times[:0], p.flows)
	if err != nil {
		return dst, fmt.Errorf("model: predict: %w", err)
	}
	p.times = times
	return append(dst, times[:len(transfers)]...), nil
}

// connect numbers the connections of transfers, and makes room for their channels. It returns nil where connections
// limit nothing.
func (p *Predictor) connect(transfers []Transfer) ([]int, error) {
	if !p.limitsConnections {
		return nil, nil
	}
	of, count := Connections(transfers)
	first := 2 * p.n.graph.NumArcs()
	if len(p.capacity) >= first+count {
		return of, nil
	}
	for len(p.capacity) < first+count {
		p.capacity = append(p.capacity, math.Inf(1))
	}
	return of, p.newSolver()
}

// add makes a flow of a transfer, which is of a connection unless that is -1.
func (p *Predictor) add(t Transfer, connection int) error {
	n := p.n
	src, dst := t.Src, t.Dst
	ranks := n.Ranks()
	if p.s.Place != nil {
		ranks = len(p.s.Place)
	}
	switch {
	case src < 0 || src >= ranks:
		return fmt.Errorf("unknown rank %d: want in [0, %d)", src, ranks)
	case dst < 0 || dst >= ranks:
		return fmt.Errorf("unknown rank %d: want in [0, %d)", dst, ranks)
	case t.Bytes <= 0:
		return fmt.Errorf("size is %d bytes: want above 0", t.Bytes)
	case !(t.Start >= 0) || math.IsInf(t.Start, 0):
		return fmt.Errorf("start is %g s: want at least 0 and finite", t.Start)
	}
	src, dst = p.placed(t)
	f := contention.Flow{Bytes: float64(t.Bytes), Start: t.Start}
	if src == dst {
		return fmt.Errorf("stays on its host: want two different ranks")
	}
	from := len(p.route)
	var err error
	if p.route, err = n.routes.AppendRoute(p.route, src, dst); err != nil {
		return err
	}
	mid := len(p.route)
	if p.route, err = n.routes.AppendRoute(p.route, dst, src); err != nil {
		return fmt.Errorf("way back: %w", err)
	}
	f.Data, f.Reverse = p.route[from:mid:mid], p.route[mid:len(p.route):len(p.route)]
	forth, back := 0.0, 0.0
	for _, c := range f.Data {
		a := &n.graph.Arcs()[c]
		if math.IsNaN(p.capacity[c]) {
			return fmt.Errorf("the bandwidth of the link %s->%s is not known", n.graph.Name(a.From), n.graph.Name(a.To))
		}
		forth += a.Latency
	}
	for _, c := range f.Reverse {
		back += n.graph.Arcs()[c].Latency
	}
	if p.limitsLinks || connection >= 0 {
		first := len(p.route)
		p.route = append(p.route, f.Data...)
		if p.route, err = p.appendShared(p.route, f.Data, f.Reverse, connection); err != nil {
			return err
		}
		f.Data = p.route[first:len(p.route):len(p.route)]
	}
	if p.rttBias != 0 && forth+back > 0 {
		if f.Share = math.Pow((forth+back)/typicalRTT, -p.rttBias); !(f.Share > 0) || math.IsInf(f.Share, 0) {
			return fmt.Errorf("a round-trip time of %g s makes an RTT bias of %g a share of %g", forth+back, p.rttBias, f.Share)
		}
	}
	if p.s.Window > 0 && forth+back > 0 {
		f.Bound = float64(p.s.Window) / (forth + back)
	}
	if !p.s.NoLatency {
		if math.IsNaN(forth) {
			return fmt.Errorf("the latency of its path is not known")
		}
		f.Start += n.StartUp(src, dst, t.Bytes, forth, false)
	}
	p.flows = append(p.flows, f)
	return nil
}

// StartUp is the time in s from the start of a message until its bytes flow, over a route of the given latency in s.
// A message that is part of a stream waits for no rendezvous.
func (n *Network) StartUp(src, dst int, bytes int64, latency float64, streamed bool) float64 {
	start := latency + n.fit.Overhead
	level := n.LevelOf(src, dst)
	perByte := n.longPerByte[level]
	if math.IsNaN(perByte) {
		return start
	}
	short := n.Time(src, dst, n.measured.Bytes) - perByte*float64(n.measured.Bytes)
	if math.Abs(short-start) <= likeLatency*start { // the level knows it better than a single route
		start = math.Max(0, short)
	}
	if wait := n.levels[level].handshakeAt(bytes, perByte); wait > 0 && !streamed {
		start += wait * n.RouteShare(src, dst)
	}
	return start
}

// placed are the ranks of the network that a transfer runs between.
func (p *Predictor) placed(t Transfer) (src, dst int) {
	if p.s.Place == nil {
		return t.Src, t.Dst
	}
	return p.s.Place[t.Src], p.s.Place[t.Dst]
}

// typicalRTT scales round-trip times so that shares are near 1; shares matter
// only relative to each other.
const typicalRTT = 100e-6

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
