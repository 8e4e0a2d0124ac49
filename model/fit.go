package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// FitSettings say how to fit. The zero value works.
type FitSettings struct {
	// Network is what else the network shall know. Its Levels, Bandwidth, Links,
	// RTTBias and MeasuredOverPredicted are fitted where the observations say them.
	Network Settings
	// LongBytes is the size from which transfers tell of bandwidths; smaller ones
	// only give the levels' times. 0: 100,000.
	LongBytes int64
	// Arcs are directions of links whose bandwidth was measured by itself, as
	// throughput.Result.Measured has them: From, To and Bandwidth count, in the graph of
	// New. They stay as they are, and the two directions of a link may differ; what is
	// not given is fitted.
	Arcs []topology.Arc
	// Overhead is the time in s that the software of a rank takes for a short message, sent or
	// received, which all levels get. 0: not measured.
	Overhead float64
	// Parameters are PLogP parameters of ordered pairs, as plogp.Result has them: the levels of these pairs get
	// their L, g and overheads, which go before Overhead. nil: not measured.
	Parameters []PairParams
	// Forwarding says how the latencies of the graph, made of times of messages
	// of Network.Measured.Bytes, are corrected for the fitted bandwidths.
	Forwarding Forwarding
	// Steps is the most steps that the search takes. 0: 30.
	Steps int
}

// Defaults of FitSettings: 100 kB take some ten times the latency, at 10 GB/s and 1 us as at
// 118 MB/s and 50 us, so that their time tells of bandwidths. The search ends before thirty steps where none
// gains (gainSettled).
const (
	usualLongBytes = 100_000
	usualSteps     = 30
)

// Fit makes a network of a reconstruction and of timed transfers. Typical
// times per level and size come from single transfers. The bandwidths of the
// links, the coupling of each link class and the RTT bias come from all long
// transfers, by least squares on the logarithm of measured over predicted times, with Huber
// weights against outliers. Coupling and RTT bias stay 0, fair sharing, unless patterns held out are better with them. Where these leave transfers both ways unexplained, and patterns held out
// are better with it, what both directions of links and connections share is fitted, too (LinkClasses.Duplex).
// A link that no transfer crosses, or that holds none up and was crossed only while others were under way,
// gets the bandwidth that is typical of its level, and is marked as estimated. Parameters that the
// data do not determine are said in Warnings, which the network keeps. Network.Interval comes from
// patterns predicted by fits that have not seen them, four fifths of all each. It
// takes some ten patterns of several transfers for a choice of the law of coupling, and some
// thirty for intervals that hold what they promise.
//
// Errors name the observation. Each of the steps of the search, some eight times
// FitSettings.Steps at most, plays each pattern once per parameter that
// matters to it.
func Fit(r *topology.Result, observations []Observation, s *FitSettings) (*Fitted, error) {
	if s == nil {
		s = &FitSettings{}
	}
	settings := *s
	if settings.LongBytes == 0 {
		settings.LongBytes = usualLongBytes
	}
	if settings.Steps == 0 {
		settings.Steps = usualSteps
	}
	if err := settings.Forwarding.check(); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	if settings.LongBytes < 1 || settings.Steps < 1 {
		return nil, fmt.Errorf("model: fit: LongBytes is %d, Steps %d: want at least 1", settings.LongBytes, settings.Steps)
	}
	if !(settings.Overhead >= 0) || math.IsInf(settings.Overhead, 0) {
		return nil, fmt.Errorf("model: fit: Overhead is %g s: want at least 0 and finite", settings.Overhead)
	}
	base, err := New(r, &s.Network)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	if err := checkObservations(observations, base.Ranks()); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	if err := checkParameters(s.Parameters, base.Ranks()); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	given, err := givenArcs(base.graph, s.Arcs)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	var levelWarnings []string
	if s.Network.Levels == nil {
		var levels []LevelParams
		levels, levelWarnings = fitLevels(base, observations)
		if settings.Overhead > 0 {
			for i := range levels {
				levels[i].addOverhead(settings.Overhead)
			}
		}
		addParameters(base, levels, s.Parameters)
		base.setLevels(levels)
	}
	f, err := newFitter(base, observations, settings.LongBytes, given)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	f.chooseLaw(settings.Steps)
	f.chooseDuplex(settings.Steps)
	out := f.result()

	fitted := s.Network
	fitted.Links = base.links // of the graph without the switches of weak groups
	if len(f.patterns) > 0 {
		fitted.Links = LinkClasses{
			Classes: out.Coupling, OfArc: f.classOf, Law: out.Law, Duplex: out.Duplex, Connection: out.Connection,
		}
		f.predictUnseen(settings.Steps)
		fitted.RTTBias, fitted.MeasuredOverPredicted = out.RTTBias, ratiosOf(slices.Concat(f.unseen...))
		if warning := missWarning(fitted.MeasuredOverPredicted); warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
	}
	if s.Network.Levels == nil {
		for i, residuals := range f.unseenByLevel(len(base.levels)) {
			if len(residuals) >= leastOfLevel {
				base.levels[i].MeasuredOverPredicted = ratiosOf(residuals)
			}
		}
		fitted.Levels = base.levels
		out.Warnings = append(out.Warnings, levelWarnings...)
	}
	arcs, estimated := f.fill()
	if warning := estimateWarning(estimated, linksOf(base.graph)); warning != "" {
		out.Warnings = append(out.Warnings, warning)
	}
	graph, err := base.graph.WithArcs(arcs)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	if graph, err = CorrectLatencies(graph, base.measured.Bytes, settings.Forwarding); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	result := *r
	result.Graph = graph
	result.Warnings = append(slices.Clone(r.Warnings), out.Warnings...)
	if out.Network, err = newNetwork(&result, &fitted); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	return out, nil
}
