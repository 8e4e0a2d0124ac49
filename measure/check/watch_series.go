package check

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/stats"
)

// A series is what a pair, host or link took in each run.
type series struct {
	name     string
	from, to string    // of a pair
	of       []int     // pairs of a host or link
	weights  []float64 // by what share a change of it makes each of these take longer
	x        []float64 // logarithms, NaN where missing
	scale    float64   // of its noise, against other series of its kind
	sigma    float64   // of its noise
	freedom  float64   // degrees of it: how many samples tell sigma
}

// A family are the series of one kind of messages.
type family struct {
	long    bool
	pairs   []series
	shared  []series // of hosts and links, which several pairs share
	clipped float64  // by how much a pair counts at most in what it shares

	changes map[[3]int][]float64 // of all pairs, by the begin, middle and end of two spans of runs, since the last fill
}

func newFamily(runs []Run, long bool, c *candidates, step float64) (*family, error) {
	pairs, err := pairSeries(runs, long)
	if err != nil {
		return nil, err
	}
	f := &family{long: long, pairs: pairs, shared: sharedSeries(pairs, long, c)}
	f.polish()
	typical := setSigmas(f.pairs)
	f.clipped = max(math.Log1p(step), clipAt*typical)
	f.fill()
	setSigmas(f.shared)
	return f, nil
}

// pairSeries sorts the points of a kind by pairs. Several of one pair in a run, as there and back,
// are one sample: their mean, or the least if they disagree.
func pairSeries(runs []Run, long bool) ([]series, error) {
	index := map[[2]string]int{}
	var all []series
	for t, run := range runs {
		points := map[int][]float64{} // logarithms, by pair
		for _, p := range run.Points {
			if p.isDamaged() {
				return nil, fmt.Errorf("check: watch: run %d, %s-%s: %g s: want above 0 and finite", t, p.From, p.To, p.Seconds)
			}
			if p.Long != long || p.From == p.To {
				continue
			}
			from, to, name := p.From, p.To, "long messages "+p.From+" > "+p.To
			if !long {
				if hostlist.Naturally(to, from) < 0 {
					from, to = to, from
				}
				name = "latency " + from + " - " + to
			}
			i, ok := index[[2]string{from, to}]
			if !ok {
				i = len(all)
				index[[2]string{from, to}] = i
				all = append(all, series{name: name, from: from, to: to, x: missing(len(runs)), scale: 1})
			}
			points[i] = append(points[i], math.Log(p.Seconds))
		}
		for i, x := range points {
			all[i].x[t] = stat.Mean(x, nil)
			if least := slices.Min(x); all[i].x[t]-least > disagree {
				all[i].x[t] = least
			}
		}
	}
	return all, nil
}

const (
	disagree      = 0.1 // of the mean of points above the least one, as a logarithm: there are outliers among them
	pairsOfShared = 3   // of so many pairs at least a host or link has a series of its own
	fewSeries     = 5   // below, what runs have in common cannot be told from single changes
	polishSteps   = 5
)

func missing(n int) []float64 {
	return slices.Repeat([]float64{math.NaN()}, n)
}

// sharedSeries are those of what several pairs have in common: of hosts, and where the wiring is known of links. For long
// messages they are of each direction of the links that are not much wider than the narrowest one of the route. A host's only
// cable has no latency apart from its host's.
func sharedSeries(pairs []series, long bool, c *candidates) []series {
	var all []series
	index, host := map[string]int{}, map[string]int{} // by name
	if c != nil {
		host = numbers(c.w.names)
	}
	for i, p := range pairs {
		share := func(name string, weight float64) {
			at, seen := index[name]
			if !seen {
				at = len(all)
				index[name] = at
				all = append(all, series{name: name})
			}
			s := &all[at]
			if n := len(s.of); n > 0 && s.of[n-1] == i { // there and back
				s.weights[n-1] += weight
				return
			}
			s.of, s.weights = append(s.of, i), append(s.weights, weight)
		}
		share("host "+p.from, 1)
		share("host "+p.to, 1)
		a, isA := host[p.from]
		b, isB := host[p.to]
		var x path
		switch {
		case !isA || !isB || !c.w.find(&x, a, b):
		case long:
			there := x.arcs[:x.turn]
			for _, e := range there {
				if c.w.rate[e]*fullEnough <= c.w.slowest(there) {
					share(c.nameOf(c.ofChannel(e)), 1)
				}
			}
		default:
			c.w.eachLink(&x, func(link int32, part float64) {
				if c.all[c.ofLink(link)].v >= 0 {
					share(c.nameOf(c.ofLink(link)), part)
				}
			})
		}
	}
	all = slices.DeleteFunc(all, func(s series) bool { return len(s.of) < pairsOfShared })
	for i := range all {
		all[i].scale = 1 / floats.Norm(all[i].weights, 2)
	}
	return all
}

// nameOf is the name of a link, or of a direction of one.
func (c *candidates) nameOf(candidate int32) string {
	if x := &c.all[candidate]; x.From != "" {
		return "link " + x.From + " > " + x.To
	}
	return c.w.suspect(c.w.links[candidate]).Name
}

// polish takes out of all pairs what each run has added to most, and their medians (median polish; Tukey 1977).
func (f *family) polish() {
	for step := range polishSteps {
		for i := range f.pairs {
			floats.AddConst(-medianOf(f.pairs[i].x), f.pairs[i].x)
		}
		if len(f.pairs) < fewSeries || step == polishSteps-1 {
			continue
		}
		for t := range f.pairs[0].x {
			var column []float64
			for _, pair := range f.pairs {
				column = append(column, pair.x[t])
			}
			for m, i := medianOf(column), 0; i < len(f.pairs); i++ {
				f.pairs[i].x[t] -= m // where all is missing, so is it
			}
		}
	}
}

// fill finds what hosts and links have added in each run, by least squares of what their pairs took, which are clipped: an
// outlier is nobody's fault.
func (f *family) fill() {
	f.changes = map[[3]int][]float64{}
	for i := range f.shared {
		s := &f.shared[i]
		s.x = missing(len(f.pairs[0].x))
		for t := range s.x {
			sum, squares, n := 0.0, 0.0, 0
			for k, pair := range s.of {
				if v := f.pairs[pair].x[t]; !math.IsNaN(v) {
					sum += s.weights[k] * clip(v, f.clipped)
					squares += s.weights[k] * s.weights[k]
					n++
				}
			}
			if n >= pairsOfShared {
				s.x[t] = sum / squares
			}
		}
	}
}

const (
	mostPrior        = 200  // samples that the sigma of all series weighs at most against a series' own
	differenceWeight = 0.4  // of a difference: their upper quartile tells this share of what samples do
	quartile         = 1.15 // sigma of a normal distribution: three quarters of the values are within
	errorOfSpread    = 2.33 // of the square of a spread by one normal value, as a share: it falls as the root of their number
)

// setSigmas finds the sigmas of series, from differences of samples that follow each other, which a step hardly changes: the
// series' own, drawn to that of all by as much as these agree (Smyth 2004, https://doi.org/10.2202/1544-6115.1027). It returns
// the median.
//
// The sigma of all weighs few samples where the logarithms of the variances of series differ by more than they would by
// chance: that of n samples has a variance of 2/n. What they differ by is an estimate, too, of which two standard errors are chance.
func setSigmas(all []series) (typical float64) {
	var differences, logs, sigmas []float64
	own, known := make([]float64, len(all)), make([]float64, len(all)) // sigma of a series, and the samples that tell it
	chance := 0.0
	for i, s := range all {
		x := slices.DeleteFunc(slices.Clone(s.x), math.IsNaN)
		var steps []float64
		for k := 1; k < len(x); k++ {
			steps = append(steps, math.Abs(x[k]-x[k-1])/s.scale)
		}
		differences = append(differences, steps...)
		if len(steps) > 0 {
			own[i], known[i] = max(leastSigma, sigmaOfSteps(steps)), differenceWeight*float64(len(steps))
			logs, chance = append(logs, 2*math.Log(own[i])), chance+2/known[i]
		}
	}
	common := leastSigma
	if len(differences) > 0 {
		common = max(common, sigmaOfSteps(differences))
	}
	prior := float64(mostPrior)
	if n := float64(len(logs)); n >= fewSeries {
		spread := stats.SigmaAbout(medianOf(logs), logs)
		byChance := chance / n * (1 + 2*errorOfSpread/math.Sqrt(n))
		prior = min(prior, 2/max(spread*spread-byChance, 2/prior))
	}
	for i := range all {
		variance := (prior*common*common + known[i]*own[i]*own[i]) / (prior + known[i])
		all[i].sigma, all[i].freedom = math.Sqrt(variance)*all[i].scale, prior+known[i]
		sigmas = append(sigmas, all[i].sigma)
	}
	return medianOf(sigmas)
}

// sigmaOfSteps is the sigma of one sample by differences of two each. Their upper quartile tells it better than their median does.
func sigmaOfSteps(differences []float64) float64 {
	return stats.Quantile(differences, 0.75) / quartile / math.Sqrt2
}

// medianOf is the median of what is not missing, NaN if all is.
func medianOf(x []float64) float64 {
	return stats.MiddleMedian(stats.SortedFinite(x))
}
