package measure

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// warnings says what is weak in a result.
func warnings(r *Result) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch r.Stopped {
	case StoppedByBudget:
		add("the time budget ended the measurement after %d of %d rounds", r.Rounds, r.TotalRounds)
	case StoppedByContext:
		add("the measurement was cancelled after %d of %d rounds", r.Rounds, r.TotalRounds)
	}
	if pairs, all := r.pairsMeasured(), r.Ranks*(r.Ranks-1)/2; pairs < all && !r.WithinGroups && r.Alone == 0 {
		add("%d of %d pairs were measured", pairs, all)
	}
	const fewSamples = 5 // below, quartiles are the extremes
	if r.Samples < fewSamples {
		add("%d samples per pair are too few for quartiles: want at least %d", r.Samples, fewSamples)
	}
	if crowded := crowdedHosts(r); len(crowded) > 0 {
		add("ranks outnumber the cores on %s: times are scheduler noise", strings.Join(crowded, ", "))
	}
	for k, size := range r.Sizes {
		if share := r.zeroShare(k); share > 0 {
			add("%.0f%% of the readings of %d B are 0: the clock is too coarse", 100*share, size)
		}
		if spread := r.spread(k); spread > 0.5 {
			add("the samples of %d B spread widely: the middle half of a pair's samples covers %.0f%% of their median", size, 100*spread)
		}
		if text := roundWarning(r, k); text != "" {
			add("%s", text)
		}
	}
	return all
}

// pairsMeasured counts the pairs with at least one reading.
func (r *Result) pairsMeasured() int {
	seen := make(map[[2]int]bool)
	for _, x := range r.readings {
		seen[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
	}
	return len(seen)
}

// crowdedHosts lists the hosts where two ranks are bound to one core, or where
// unbound ranks bring the number of ranks above that of usable CPUs.
func crowdedHosts(r *Result) []string {
	type load struct {
		bound   map[int]int
		unbound int
		cpus    int
	}
	loads := make(map[string]*load)
	var names []string
	for rank, host := range r.Hosts {
		l := loads[host]
		if l == nil {
			l = &load{bound: make(map[int]int)}
			loads[host] = l
			names = append(names, host)
		}
		if core := r.Cores[rank]; core >= 0 {
			l.bound[core]++
			continue
		}
		l.unbound++
		l.cpus = max(l.cpus, r.CPUs[rank])
	}
	slices.Sort(names)
	var crowded []string
	for _, host := range names {
		l := loads[host]
		isCrowded := l.unbound > 0 && l.unbound+len(l.bound) > l.cpus
		for _, ranks := range l.bound {
			isCrowded = isCrowded || ranks > 1
		}
		if isCrowded {
			crowded = append(crowded, host)
		}
	}
	const most = 5
	if n := len(crowded); n > most {
		crowded = append(crowded[:most], fmt.Sprintf("and %d more hosts", n-most))
	}
	return crowded
}

// zeroShare is the share of readings whose lower quartile is 0.
func (r *Result) zeroShare(size int) float64 {
	zero, count := 0, 0
	for _, x := range r.readings {
		if x.Size == size {
			count++
			if x.Q1 == 0 {
				zero++
			}
		}
	}
	if zero == 0 {
		return 0
	}
	return float64(zero) / float64(count)
}

// spread is the median over all readings of the width of the middle half of
// the samples, relative to their median.
func (r *Result) spread(size int) float64 {
	var all []float64
	for _, x := range r.readings {
		if x.Size == size && x.Median > 0 {
			all = append(all, (x.Q3-x.Q1)/x.Median)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return stat.Quantile(0.5, stat.Empirical, all, nil)
}
