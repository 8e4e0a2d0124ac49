package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// An Observation is a set of transfers that were timed while they were under
// way together; a single transfer is one too.
type Observation struct {
	Transfers []Transfer
	Seconds   []float64 // how long each took, from its Start on
}

// FitSettings say how to fit. The zero value works.
type FitSettings struct {
	// Network is what else the network shall know. Its Levels, Bandwidth, Links,
	// RTTBias and MeasuredOverPredicted are fitted where the observations say them.
	Network Settings
	// LongBytes is the size from which transfers tell of bandwidths; smaller ones
	// only give the levels' times. 0: 100,000.
	LongBytes int64
	// Forwarding says how the latencies of the graph, made of times of messages
	// of Network.Measured.Bytes, are corrected for the fitted bandwidths.
	Forwarding Forwarding
	// Steps is the most steps that the search takes. 0: 30.
	Steps int
}

// Fitted is what Fit found, and how well.
type Fitted struct {
	Network  *Network // with the fitted bandwidths in its graph
	RTTBias  float64
	Coupling []LinkClass            // with the classes' coupling
	Law      contention.CouplingLaw // the one that predicts held-out observations better
	Links    []FittedLink
	Residual float64 // median of |measured - predicted| / predicted of long transfers
	Warnings []string
}

// FittedLink is the bandwidth of one link, the same in both directions.
type FittedLink struct {
	A, B          int     // vertices, A < B
	Bandwidth     float64 // B/s; NaN if no observation crosses the link
	RelativeError float64 // relative standard error; +Inf if only a lower bound is known
	Determined    bool    // whether the error is at most 5 %
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
// weights against outliers. A link that no transfer crosses gets the bandwidth
// that is typical of its level, and is marked as estimated. Parameters that the
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
	base, err := New(r, &s.Network)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	if err := checkObservations(observations, base.Ranks()); err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	f, err := newFitter(base, observations, settings.LongBytes)
	if err != nil {
		return nil, fmt.Errorf("model: fit: %w", err)
	}
	f.chooseLaw(settings.Steps)
	f.search(settings.Steps)
	out := f.result()

	fitted := s.Network
	fitted.Links = base.links // of the graph without the switches of weak groups
	if len(f.patterns) > 0 {
		fitted.Links = LinkClasses{Classes: out.Coupling, OfArc: f.classOf, Law: out.Law}
		fitted.RTTBias, fitted.MeasuredOverPredicted = out.RTTBias, f.ratios(settings.Steps)
	}
	if s.Network.Levels == nil {
		levels, warnings := fitLevels(base, observations)
		fitted.Levels = levels
		out.Warnings = append(out.Warnings, warnings...)
	}
	arcs, estimated := f.fill()
	if warning := estimateWarning(estimated, len(f.links)); warning != "" {
		out.Warnings = append(out.Warnings, warning)
	}
	graph, err := rebuild(base.graph, arcs)
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

func checkObservations(observations []Observation, ranks int) error {
	for i, o := range observations {
		if len(o.Transfers) == 0 || len(o.Transfers) != len(o.Seconds) {
			return fmt.Errorf("observation %d: %d transfers, %d times: want as many of each, and one at least", i, len(o.Transfers), len(o.Seconds))
		}
		for k, t := range o.Transfers {
			switch {
			case t.Src < 0 || t.Src >= ranks || t.Dst < 0 || t.Dst >= ranks || t.Src == t.Dst:
				return fmt.Errorf("observation %d: transfer %d (%v): want two different ranks in [0, %d)", i, k, t, ranks)
			case t.Bytes < 0:
				return fmt.Errorf("observation %d: transfer %d (%v): want a size of at least 0", i, k, t)
			case !(o.Seconds[k] > 0) || math.IsInf(o.Seconds[k], 0):
				return fmt.Errorf("observation %d: transfer %d (%v): took %g s: want above 0 and finite", i, k, t, o.Seconds[k])
			}
		}
	}
	return nil
}

// quantile is the p-quantile of unsorted values, at least one.
func quantile(x []float64, p float64) float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return stat.Quantile(p, stat.LinInterp, sorted, nil)
}
