package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Settings say how to fit. The zero value works.
type Settings struct {
	// Network is what else the network shall know. Its Levels, LevelBandwidth, Law
	// and MeasuredOverPredicted are fitted where the observations say them.
	Network model.Settings
	// Arcs are directions of links whose bandwidth was measured by itself, as
	// throughput.Result.Measured has them: From, To and Bandwidth count, in the graph of
	// model.New. They stay as they are, and the two directions of a link may differ; what is
	// not given is fitted. An arc over which transfers were faster by more than 15 % counts as not given.
	Arcs []topology.Arc
	// Overhead is the time in s that the software of a rank takes for a short message, sent or
	// received, which all levels get. 0: not measured.
	Overhead float64
	// Parameters are PLogP parameters of ordered pairs, as plogp.Result has them: the levels of these pairs get
	// their L, g and overheads, which go before Overhead. nil: not measured.
	Parameters []model.PairParams
}

// longBytes is the size from which transfers tell of bandwidths: some ten times the latency, at 10 GB/s and 1 us as at
// 118 MB/s and 50 us. Shorter ones only give the levels' times.
const longBytes = 100_000

// Network makes a network of a reconstruction and of timed transfers.
//
//   - Times per level and size are medians over single transfers.
//   - Bandwidths of links, the coupling of their directions and the RTT bias come from all long transfers: least squares
//     on the logarithm of measured over predicted times, with Huber weights against outliers.
//   - Sharing is fair, unless patterns that were held out are predicted better with coupling, with an RTT bias, or with
//     what both directions of links and connections share (model.Law).
//   - Of several routes of about the same latency transfers take those that explain the patterns best (Settings.Routing).
//   - A link that no transfer tells of gets the bandwidth that is typical of its level, with the mark Arc.Estimated. So has a link
//     of which transfers tell a lower bound alone, which may be its bandwidth.
//   - Network.Interval comes from patterns that were held out.
//
// With fewer than ten patterns of several transfers there are no intervals, and no sharing is chosen. What the data do
// not determine is said in Warnings, which the network keeps.
//
// Errors name the observation. Each step of the search plays each pattern once per parameter that matters to it; a
// search ends after thirty steps at most.
func Network(r *topology.Result, observations []Observation, s *Settings) (*Result, error) {
	if s == nil {
		s = &Settings{}
	}
	if !(s.Overhead >= 0) || math.IsInf(s.Overhead, 0) {
		return nil, fmt.Errorf("fit: network: Overhead is %g s: want at least 0 and finite", s.Overhead)
	}
	base, err := model.New(r, &s.Network)
	if err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	if err := checkObservations(observations, base.Ranks()); err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	if err := checkParameters(s.Parameters, base.Ranks()); err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	given, err := givenArcs(base.Graph(), s.Arcs)
	if err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	levels, levelWarnings := fitLevels(base, observations)
	if s.Overhead > 0 {
		for i := range levels {
			addOverhead(&levels[i], s.Overhead)
		}
	}
	addParameters(base, levels, s.Parameters)
	fitted := s.Network
	fitted.Levels = levels
	if base, err = chooseRoutes(r, &fitted, observations); err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	dropped, err := dropRefuted(base, observations, given)
	if err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	f, err := newFitter(base, observations, given)
	if err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	f.chooseLaw()
	out := f.result()

	if len(f.patterns) > 0 {
		fitted.Law = out.Law
	}
	if several := len(f.several()); f.unseen != nil {
		f.addDeviations()
		fitted.MeasuredOverPredicted = ratiosOf(slices.Concat(f.unseen...), len(f.unseen))
		if warning := missWarning(fitted.MeasuredOverPredicted); warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
		for i, residuals := range f.unseenByLevel() {
			if len(residuals) >= leastOfLevel {
				fitted.Levels[i].MeasuredOverPredicted = ratiosOf(residuals, len(f.unseen))
			}
		}
	} else if several > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf(
			"predictions have no intervals: %s of concurrent transfers timed, which takes %d", words.Count(several, "pattern"), manyPatterns))
	}
	if dropped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the measured rates of %s are not used: single transfers over these were faster", words.Count(dropped, "direction")))
	}
	out.Warnings = append(out.Warnings, levelWarnings...)
	graph, err := base.Graph().WithArcs(f.fill())
	if err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	if warning := estimateWarning(graph); warning != "" {
		out.Warnings = append(out.Warnings, warning)
	}
	result := *r
	result.Graph = graph
	result.Warnings = append(slices.Clone(r.Warnings), out.Warnings...)
	if out.Network, err = model.New(&result, &fitted); err != nil {
		return nil, fmt.Errorf("fit: network: %w", err)
	}
	return out, nil
}

// An Observation is a set of transfers that were timed while they were under
// way together; a single transfer is one too.
type Observation struct {
	Transfers []model.Transfer
	Seconds   []float64 // how long each took, from its Start on

	// Deviations are the relative standard deviations of single times, where Seconds are medians of many; nil: Seconds are
	// single times. Intervals of predictions are of single times.
	Deviations []float64

	// Streamed says that each transfer went as several messages, the next of which asked for consent while the
	// last one flowed: no handshake shows in its time.
	Streamed bool
}

// isLong tells whether all transfers of an observation tell of bandwidths.
func (o *Observation) isLong() bool {
	return !slices.ContainsFunc(o.Transfers, func(t model.Transfer) bool { return t.Bytes < longBytes })
}

func checkObservations(observations []Observation, ranks int) error {
	for i, o := range observations {
		if len(o.Transfers) == 0 || len(o.Transfers) != len(o.Seconds) {
			return fmt.Errorf("observation %d: %d transfers, %d times: want as many of each, and one at least", i, len(o.Transfers), len(o.Seconds))
		}
		if o.Deviations != nil && len(o.Deviations) != len(o.Transfers) {
			return fmt.Errorf("observation %d: %d transfers, %d deviations: want as many of each, or none", i, len(o.Transfers), len(o.Deviations))
		}
		for k, t := range o.Transfers {
			switch {
			case o.Deviations != nil && !(o.Deviations[k] >= 0 && o.Deviations[k] <= math.MaxFloat64):
				return fmt.Errorf("observation %d: transfer %d (%v): deviation %g: want at least 0 and finite", i, k, t, o.Deviations[k])
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

// Result is what Network found, and how well.
type Result struct {
	Network *model.Network // with the fitted bandwidths in its graph
	// Law is how transfers share links. Duplex and Connection are 0 unless transfers both ways are explained much better by
	// them than without.
	model.Law
	Links    []Link
	Residual float64 // median of |measured - predicted| / predicted of long transfers
	Warnings []string
}

// Link is the bandwidth of one link, the same in both directions unless one was given
// (Settings.Arcs).
type Link struct {
	A, B          int     // vertices, A < B
	OneWay        bool    // only the direction from A to B, of which either may be lower
	Given         bool    // by Settings.Arcs, and not fitted
	Bandwidth     float64 // B/s; NaN if no observation crosses the link
	RelativeError float64 // relative standard error; +Inf if only a lower bound is known
	Determined    bool    // whether the error is at most 5 %

	isIdle   bool // it holds no transfer up, not even together with another link: Bandwidth is what it carried
	isHidden bool // no transfer would be clearly faster without it: Bandwidth is a lower bound
}
