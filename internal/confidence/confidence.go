package confidence

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// Evidence is what the measurements say of one group, before any verdict: order statistics and counts. Logarithms are natural, so
// that they do not depend on the unit of time. Nothing in it is a threshold.
//
// Outsiders are the hosts of the group's parent that are no members. The near ones are those with the smallest median of
// measurements to the members. Of single measurements the smallest is the luckiest, and luckier the larger the machine.
type Evidence struct {
	Hosts   float64 // of the machine
	Around  float64 // hosts of the parent
	Members float64
	Inside  float64 // measurements inside that were looked at
	Links   float64 // pairs of children of the group: what measurements inside are of, however many they are
	Margins float64 // pairs of a child and another child of the parent

	ResidualNoise float64  // residual noise of a measurement, of the machine; NaN if not known
	Spread        float64  // standard deviation of the measurements to outsiders, from their median deviation
	Mean          float64  // median measurement to outsiders over the mean of those inside
	Ticks         float64  // steps in ticks of the clock: to outsiders, and from those to the groups beside; +Inf if none is seen
	Near          Contrast // to near outsiders, as it was measured
	Average       Contrast // what near would be had the measurements of a small group no luck; for a large group near
}

// A Contrast compares measurements to near outsiders with those inside.
type Contrast struct {
	Step    float64 // median to near outsiders over that inside
	Overlap float64 // share of the pairs of a measurement inside and one to a near outsider that are in the wrong order; ties count half
}

// A criterion grades a quantity of the evidence in [0, 1]. From uncertain on a group is reported, from confident on it is confident.
type criterion struct{ uncertain, confident float64 }

// grade is the logistic curve through (uncertain, 0.5) and (confident, ConfidentFrom). The grade of NaN is 0: measurements are so far
// apart that their ratio is no number.
func (c criterion) grade(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return 1 / (1 + math.Exp(-confidentOdds*(x-c.uncertain)/(c.confident-c.uncertain)))
}

var confidentOdds = math.Log(topology.ConfidentFrom / (1 - topology.ConfidentFrom)) // ln of the odds at the threshold of confidence

// The thresholds of the judgement. The confidence in a group is the least of its grades. So each criterion says by itself what a
// confident group must show.
//
// Each comment says what a change does to 2,407 machines: the 1,240 for tuning that package linkage tests, 776 perturbed and
// 225 measured ones, and 166 made of measured leaves.
var (
	// The step to near outsiders, as a logarithm, beyond what few measurements owe to chance. Cores of one kind are up to 9 % nearer
	// to their neighbours than to others (dies, ring stops). Levels of switches differ by 12 % and more. Without it 95 confident
	// groups are false. With uncertain at 0.09, 12 machines of measured leaves are lost. With confident at 0.075 three false groups of
	// cores are confident; at 0.15 a twentieth of the true ones are not.
	stepCriterion = criterion{uncertain: 0.045, confident: 0.107}
	// The overlap of the measurements inside with those to near outsiders. Pieces of lines, rings and tori have 0.25 and more,
	// whatever their size: their outermost members are as near to hosts outside as to each other. Without it 24 confident groups
	// are false, most of them neighbouring switches.
	overlapCriterion = criterion{uncertain: clarity(0.22), confident: clarity(0.07)}
	// The steps on both sides in ticks of the clock. Times on one side of a tick are measured alike. So what hosts add makes a step of
	// one tick, and of two with noise, but on one side only. Without it 29 more uncertain groups are false.
	tickCriterion = criterion{uncertain: 1.5, confident: 2.8}
	// The log-likelihood ratio of the measurements inside: that the group exists, against that its hosts are those that happen to be
	// measured lowest. At 6 the group is four hundred times as likely. Without it 93 of 100 trees of 1,024 hosts come out exactly,
	// with it 96.
	chanceCriterion = criterion{uncertain: 0, confident: 6}
)

const (
	// A share that is no evidence against a group: one measurement in a hundred, a hundredth of a step.
	leastShare = 0.01
	// What chance may add to a step: standard deviations of the measurements to outsiders, over the root of the number of links and
	// margins that they measure: 99 % of all. With 1.25 there are 33 more uncertain groups that are false; with 3.5, 9 machines are lost.
	chanceSpread = 2.5
	// The spread before it is seen, and its upper bound, and how many margins that is worth: cores of one kind. Without either two cores of
	// a measured processor of four become a confident pair.
	usualSpread, usualMargins = 0.05, 8
	// By luck the spread to outsiders may be less than the noise, by a third.
	luckySpread = 1.5
	// Least noise: exact data is not infinitely precise.
	leastNoise = 0.005
)

// clarity grades shares that are bad for a group: what counts is by which factor one is less.
func clarity(share float64) float64 { return -math.Log(share + leastShare) }

// UncertainCeiling is the most confidence in a group for which arguments speak that are not direct evidence. It is below ConfidentFrom by
// construction.
const UncertainCeiling = 0.85

// Confidence is the confidence in the group, in [0, 1]. Two arguments are no evidence, and make groups uncertain, never confident:
//
//   - Chance alone may make such a group of so many hosts.
//   - Noise may explain why some outsiders seem near. That counts for a small group whose members see outsiders no more differently
//     than noise explains. The group may be reported with its luck taken out.
func (e Evidence) Confidence() float64 {
	s := e.grade(e.Near)
	if !(e.ResidualNoise > 0) {
		return s
	}
	likely := chanceCriterion.grade(e.chance())
	s = min(s, max(UncertainCeiling, likely))
	return max(s, min(UncertainCeiling, likely, e.grade(e.Average)))
}

// grade is the least grade of the criteria.
func (e Evidence) grade(c Contrast) float64 {
	return min(
		stepCriterion.grade(c.Step-e.chanceStep()),
		overlapCriterion.grade(clarity(c.Overlap)),
		tickCriterion.grade(e.Ticks),
	)
}

// chanceStep is what of a step few measurements may owe to chance: the smallest of few is lucky.
func (e Evidence) chanceStep() float64 {
	spread := min(e.Spread, usualSpread)
	variance := (e.Margins*spread*spread + usualMargins*usualSpread*usualSpread) / (e.Margins + usualMargins)
	return chanceSpread * math.Sqrt(variance/(e.Links*e.Margins))
}

// chance is the log-likelihood ratio of the measurements inside: that the group exists, against that its members are the nearest of
// as many hosts by noise alone. It is the gain of normal noise, less what it takes to name the members (minimum description length).
func (e Evidence) chance() float64 {
	if e.Mean <= 0 {
		return math.Inf(-1)
	}
	noise := min(e.ResidualNoise, luckySpread*e.Spread)        // structure elsewhere counts as noise of the machine
	sigmas := (1 - math.Exp(-e.Mean)) / max(noise, leastNoise) // of latencies: of logarithms the lower tail of noise is longer
	return e.Inside*sigmas*sigmas/2 - lnChoose(e.Around, e.Members) - math.Log(e.Hosts/e.Around)
}

// lnChoose is ln of the binomial coefficient n over k.
func lnChoose(n, k float64) float64 {
	lnFactorial := func(x float64) float64 {
		y, _ := math.Lgamma(x + 1)
		return y
	}
	return lnFactorial(n) - lnFactorial(k) - lnFactorial(n-k)
}

// LuckOfSmallest is how far the smallest of some normal values lies below their mean, in standard deviations. It is the median over
// groups of few members, which have one such value per member.
func LuckOfSmallest(outsiders int) float64 {
	return math.Sqrt2 * math.Erfinv(1-1/float64(outsiders))
}

// Overlap is the share of pairs of a value of within and one of near, times factor, of which the first is larger. Ties count half.
// The values of within ascend.
func Overlap(within, near []float32, factor float32) float64 {
	wrong := 0.0
	for _, x := range near {
		x *= factor
		above, _ := slices.BinarySearch(within, x)
		wrong += float64(len(within) - above)
		for ; above < len(within) && within[above] == x; above++ {
			wrong -= 0.5
		}
	}
	return wrong / float64(len(near)*len(within))
}

// OfStep is the confidence in a group of which only the step to the group around it, as a logarithm, is in question.
func OfStep(step float64) float64 { return stepCriterion.grade(step) }
