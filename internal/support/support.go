package support

import (
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// Evidence is what the readings say of one group, before any verdict: order statistics in
// ln units, which do not depend on the unit of time, and counts. Nothing in it is a threshold.
//
// Outsiders are the hosts of the group's parent that are no members. The near ones are those
// whose median reading to the members is smallest: of single readings the smallest is
// the luckiest, and luckier the larger the machine.
type Evidence struct {
	Hosts   float64 // of the machine
	Around  float64 // hosts of the parent
	Members float64
	Inside  float64 // readings inside that were looked at
	Links   float64 // pairs of children of the group: what readings inside measure, however many they are
	Borders float64 // pairs of a child and another child of the parent

	White   float64  // noise of a measurement, of the machine; NaN if not known
	Spread  float64  // standard deviation of the readings to outsiders, from their median deviation
	Mean    float64  // median reading to outsiders over the mean of those inside
	Ticks   float64  // steps in ticks of the clock: to outsiders, and from those to the groups beside; +Inf if none is seen
	Near    Contrast // to near outsiders, as it was read
	Average Contrast // what near would be had the readings of a small group no luck; for a large group near
}

// A Contrast is how readings to near outsiders compare with those inside.
type Contrast struct {
	Step    float64 // median to near outsiders over that inside
	Overlap float64 // share of the pairs of a reading inside and one to a near outsider that are in the wrong order; ties count half
}

// A criterion grades a quantity of the evidence in [0, 1]: at weak a group is just to be reported,
// at firm it is just firm.
type criterion struct{ weak, firm float64 }

// grade is the logistic curve through (weak, 0.5) and (firm, FirmSupport). NaN, from readings so
// far apart that their ratio is no number, speaks for nothing.
func (c criterion) grade(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return 1 / (1 + math.Exp(-firmOdds*(x-c.weak)/(c.firm-c.weak)))
}

var firmOdds = math.Log(topology.FirmSupport / (1 - topology.FirmSupport)) // of firm to not firm, in nats

// The thresholds of the judgement. A group's support is the least of its grades, so each says
// by itself what a firm group must show.
//
// Other grades were tried, and changed no verdict or made it worse. One is the ratio of the step to the spread on both
// sides. Another is the share of resamples in which a group comes back, at ten times the time. A third is how far readings
// inside go up. Noise alone, as what makes a group firm, invents groups.
//
// Behind each stands what happens to machines when it is scaled, or taken out: its plateau and what it buys. They are the 1,240 for
// tuning that package linkage tests, 776 perturbed and 225 measured ones, and 166 made of measured leaves.
var (
	// The step to near outsiders, in ln units, beyond what few readings owe to chance. Cores of one
	// kind are up to 9 % nearer to their neighbours than to others (dies, ring stops);
	// levels of switches differ by 12 % and more. Without it 95 firm groups are false. Weak: 0.045 to
	// 0.065 moves 3 machines, 0.09 loses 12 of those made of real leaves. Firm: at 0.075 three false
	// groups of cores are firm, at 0.15 a twentieth of the true ones are not.
	stepCriterion = criterion{weak: 0.045, firm: 0.107}
	// The overlap of the readings inside with those to near outsiders. Pieces of
	// lines, rings and tori have 0.25 and more, whatever their size: their outermost members
	// are as near to hosts outside as to each other. Without it 24 firm groups are false, most
	// of them neighbouring switches; half of both to twice moves 4 machines at most.
	overlapCriterion = criterion{weak: clarity(0.22), firm: clarity(0.07)}
	// The steps on both sides in ticks of the clock. What lies on one side of a tick reads alike. So what
	// hosts add makes a step of one tick, and of two with noise; but on one side only.
	// Half to twice moves one machine; without it 29 weak groups more are false.
	tickCriterion = criterion{weak: 1.5, firm: 2.8}
	// How much likelier the readings inside are if the group exists than if its hosts are those that
	// happen to read lowest, in nats: for a firm group four hundred times. Four nats less to eight more
	// moves one machine; without it 93 of 100 trees of 1,024 hosts come out exactly, with it 96.
	chanceCriterion = criterion{weak: 0, firm: 6}
)

const (
	// A share that is no evidence against a group: one reading in a hundred, a hundredth of a step.
	// Half to twice: nothing.
	leastShare = 0.01
	// Standard deviations of the readings to outsiders that chance may add to a step, over the root of the
	// number of links and borders that they measure: 99 % of all. 1.25 adds 33 weak false groups, 3.5 loses 9
	// machines.
	chanceSpread = 2.5
	// What the spread is taken to be before it is seen, and at most, and how many borders that is worth: cores of
	// one kind. Half to the whole of the spread, half to twice the borders: 2 machines; without either two
	// cores of a measured processor of four become a firm pair.
	usualSpread, usualBorders = 0.05, 8
	// By luck the spread to outsiders may be less than the noise, by a third.
	luckySpread = 1.5
	// Least noise: exact data is not infinitely precise.
	leastWhite = 0.005
)

// clarity grades shares that are bad for a group: what counts is by which factor one is less.
func clarity(share float64) float64 { return -math.Log(share + leastShare) }

// WeakCeiling is the most support of a group for which arguments speak that are not direct
// evidence: below firm by construction.
const WeakCeiling = 0.85

// Support says in [0, 1] how firmly the evidence speaks for the group. Two arguments, which are no evidence,
// make groups weak, never firm: that chance alone may make such a group of so many hosts; and, for
// a small group whose members see outsiders no more differently than noise explains, that
// noise may also explain why some outsiders seem near: with its luck taken out the group may be
// reported.
func (e Evidence) Support() float64 {
	s := e.grade(e.Near)
	if !(e.White > 0) {
		return s
	}
	likely := chanceCriterion.grade(e.chance())
	s = min(s, max(WeakCeiling, likely))
	return max(s, min(WeakCeiling, likely, e.grade(e.Average)))
}

// grade is the least grade of the criteria.
func (e Evidence) grade(c Contrast) float64 {
	return min(
		stepCriterion.grade(c.Step-e.chanceStep()),
		overlapCriterion.grade(clarity(c.Overlap)),
		tickCriterion.grade(e.Ticks),
	)
}

// chanceStep is what of a step few readings may owe to chance: the smallest of few is lucky.
func (e Evidence) chanceStep() float64 {
	spread := min(e.Spread, usualSpread)
	variance := (e.Borders*spread*spread + usualBorders*usualSpread*usualSpread) / (e.Borders + usualBorders)
	return chanceSpread * math.Sqrt(variance/(e.Links*e.Borders))
}

// chance is how much likelier, in nats, the readings inside are if the group exists than if its
// members are the nearest of as many hosts by noise alone: the gain of normal noise, less what it
// takes to name them (minimum description length).
func (e Evidence) chance() float64 {
	if e.Mean <= 0 {
		return math.Inf(-1)
	}
	noise := min(e.White, luckySpread*e.Spread)                // structure elsewhere counts as noise of the machine
	sigmas := (1 - math.Exp(-e.Mean)) / max(noise, leastWhite) // of latencies: of logarithms the lower tail of noise is longer
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

// LuckOfSmallest is by how many standard deviations the smallest of so many normal values lies
// below their mean, in the median of those that groups of few members read: one per member.
func LuckOfSmallest(outsiders int) float64 {
	return math.Sqrt2 * math.Erfinv(1-1/float64(outsiders))
}

// Overlap is the share of pairs of values of within, in ascending order, and of near, times factor,
// of which the first is larger; ties count half.
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

// OfStep is the support of a group of which nothing but the step to the group around it, in ln units, is in question.
func OfStep(step float64) float64 { return stepCriterion.grade(step) }
