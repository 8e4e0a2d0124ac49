package confidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// From uncertain to confident the odds grow from 1 to 9, the odds of ConfidentFrom, and so on at the same
// rate: 81 as far beyond confident, 1/9 as far below uncertain.
func TestGradeOfACriterion(t *testing.T) {
	for _, c := range []criterion{{1, 3}, {-7, -6.5}, {0, 4}} {
		for _, tt := range []struct{ at, odds float64 }{{-1, 1.0 / 9}, {0, 1}, {0.5, 3}, {1, 9}, {2, 81}} {
			x := c.uncertain + tt.at*(c.confident-c.uncertain)
			if got, want := c.grade(x), tt.odds/(1+tt.odds); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: grade(%g) = %g, want %g", c, x, got, want)
			}
		}
		for x, want := range map[float64]float64{math.Inf(1): 1, math.Inf(-1): 0} {
			if got := c.grade(x); got != want {
				t.Errorf("%v: grade(%g) = %g, want %g", c, x, got, want)
			}
		}
		if got := c.grade(math.NaN()); got != 0 {
			t.Errorf("%v: grade(NaN) = %g, want 0", c, got)
		}
	}
}

// certain is Evidence without any doubt: eight hosts of 64, a step of 1 and no noise.
func certain() Evidence {
	return Evidence{
		Hosts: 64, Around: 64, Members: 8, Inside: 28, Links: 28, Margins: 448,
		ResidualNoise: 0.01, Spread: 0.01, Mean: 1, Ticks: math.Inf(1),
		Near: Contrast{Step: 1}, Average: Contrast{Step: 1},
	}
}

// shareAt is the share whose clarity is c.
func shareAt(c float64) float64 { return math.Exp(-c) - leastShare }

// Without noise, or without knowing of any, chance is not asked, however few the measurements are.
func TestChanceNeedsNoise(t *testing.T) {
	for _, residualNoise := range []float64{0, math.NaN()} {
		e := certain()
		if e.Inside, e.ResidualNoise = 0, residualNoise; e.Confidence() <= topology.ConfidentFrom {
			t.Errorf("noise %g: confidence %g, want it confident", residualNoise, e.Confidence())
		}
	}
	e := certain()
	if e.Inside = 0; e.Confidence() > UncertainCeiling {
		t.Errorf("confidence %g of what chance may have made, want up to %g", e.Confidence(), UncertainCeiling)
	}
}

// Each criterion decides alone where all others leave no doubt.
func TestEachCriterionDecidesAlone(t *testing.T) {
	if s := certain().Confidence(); s <= topology.ConfidentFrom {
		t.Fatalf("certain Evidence has confidence %g, want it confident", s)
	}
	for _, tt := range []struct {
		name string
		of   criterion
		set  func(e *Evidence, x float64)
	}{
		{"step", stepCriterion, func(e *Evidence, x float64) { e.Near.Step = x + e.chanceStep() }},
		{"overlap", overlapCriterion, func(e *Evidence, x float64) { e.Near.Overlap = shareAt(x) }},
		{"ticks", tickCriterion, func(e *Evidence, x float64) { e.Ticks = x }},
	} {
		if tt.of.confident <= tt.of.uncertain {
			t.Errorf("%s: confident %g, want above uncertain, %g", tt.name, tt.of.confident, tt.of.uncertain)
		}
		for _, at := range []struct{ x, want float64 }{{tt.of.uncertain, 0.5}, {tt.of.confident, topology.ConfidentFrom}, {tt.of.uncertain - (tt.of.confident - tt.of.uncertain), 1 - topology.ConfidentFrom}} {
			e := certain()
			tt.set(&e, at.x)
			e.Average = e.Near
			if got := e.Confidence(); math.Abs(got-at.want) > 1e-9 {
				t.Errorf("%s at %g: confidence %.12f, want %g", tt.name, at.x, got, at.want)
			}
		}
	}
}

// Chance is an argument, not Evidence: what it explains is uncertain, and confident is what it does not.
func TestChanceMakesUncertain(t *testing.T) {
	for _, tt := range []struct{ ratio, want float64 }{
		{-100, UncertainCeiling}, {chanceCriterion.uncertain, UncertainCeiling}, {chanceCriterion.confident, topology.ConfidentFrom}, {2*chanceCriterion.confident - chanceCriterion.uncertain, 81.0 / 82},
	} {
		e := certain()
		e.Inside = 0
		cost := -e.chance()
		e.Inside = 1
		e.Inside = (tt.ratio + cost) / (e.chance() + cost)
		if got := e.Confidence(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("log-likelihood ratio %g: confidence %.12f, want %g", tt.ratio, got, tt.want)
		}
		e.Near = Contrast{Step: 0, Overlap: 0.5} // luck gets it reported only if chance does not
		if got, want := e.Confidence(), max(e.grade(e.Near), min(UncertainCeiling, chanceCriterion.grade(tt.ratio))); math.Abs(got-want) > 1e-9 {
			t.Errorf("log-likelihood ratio %g, luck: confidence %.12f, want %g", tt.ratio, got, want)
		}
	}
}

func TestConfidenceOfWhatIsNotKnown(t *testing.T) {
	e := certain()
	e.Inside, e.Mean = 1, 0 // nothing speaks against chance
	if s := e.Confidence(); s != UncertainCeiling {
		t.Errorf("confidence %g of what chance explains, want %g", s, UncertainCeiling)
	}
	if e.ResidualNoise = math.NaN(); e.Confidence() <= topology.ConfidentFrom {
		t.Errorf("noise is not known: confidence %g, want it confident, as chance is then not asked", e.Confidence())
	}
	e = certain()
	for _, step := range []float64{0, -1} {
		e.Near.Step, e.Average.Step = step, step
		if s := e.Confidence(); !(s < 0.5) {
			t.Errorf("confidence %g at a step of %g, want none", s, step)
		}
	}
}

// Averaged luck gets a group reported, but not confident.
func TestLuckMakesNothingConfident(t *testing.T) {
	unlucky := certain()
	unlucky.Near = Contrast{Step: 0, Overlap: 0.5}
	for _, tt := range []struct {
		name   string
		change func(e *Evidence)
		want   float64
	}{
		{"luck", func(e *Evidence) {}, UncertainCeiling},
		{"nothing known of noise", func(e *Evidence) { e.ResidualNoise = math.NaN() }, unlucky.grade(unlucky.Near)},
		{"no luck", func(e *Evidence) { e.Average = e.Near }, unlucky.grade(unlucky.Near)},
	} {
		e := unlucky
		if tt.change(&e); math.Abs(e.Confidence()-tt.want) > 1e-9 {
			t.Errorf("%s: confidence %g, want %g", tt.name, e.Confidence(), tt.want)
		}
	}
	sure := certain()
	if sure.Average.Step = 2; sure.Confidence() != sure.grade(sure.Near) {
		t.Errorf("confidence %g with luck, want %g as without", sure.Confidence(), sure.grade(sure.Near))
	}
}

// The step that chance explains, by hand: at the usual spread it is that spread over the root of what
// was measured. Eight margins without any spread are worth as much as the eight
// that are assumed, so half of the variance is left.
func TestChanceStep(t *testing.T) {
	for _, tt := range []struct {
		e    Evidence
		want float64
	}{
		{Evidence{Spread: usualSpread, Links: 1, Margins: 1}, chanceSpread * usualSpread},
		{Evidence{Spread: usualSpread, Links: 9, Margins: 4}, chanceSpread * usualSpread / 6},
		// A wide spread is that of the machine beyond: levels farther out.
		{Evidence{Spread: 10 * usualSpread, Links: 9, Margins: 4}, chanceSpread * usualSpread / 6},
		{Evidence{Spread: 0, Links: 1, Margins: usualMargins}, chanceSpread * usualSpread / math.Sqrt(2*usualMargins)},
	} {
		if got := tt.e.chanceStep(); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: chanceStep() = %g, want %g", tt.e, got, tt.want)
		}
	}
}

// Two of four hosts can be chosen in six ways, and be in one of two parents of four.
func TestChance(t *testing.T) {
	pair := Evidence{Hosts: 4, Around: 4, Members: 2, Inside: 1, Mean: -math.Log1p(-0.1), ResidualNoise: 0.05, Spread: 1}
	for _, tt := range []struct {
		name   string
		change func(e *Evidence)
		want   float64
	}{
		{"two standard deviations", func(e *Evidence) {}, 2*2/2.0 - math.Log(6)},
		{"three measurements", func(e *Evidence) { e.Inside = 3 }, 3*2*2/2.0 - math.Log(6)},
		{"the wrong way round", func(e *Evidence) { e.Mean = -0.1 }, math.Inf(-1)},
		{"outsiders are as near", func(e *Evidence) { e.Mean = 0 }, math.Inf(-1)},
		{"eight hosts", func(e *Evidence) { e.Hosts = 8 }, 2*2/2.0 - math.Log(6) - math.Log(2)},
		{"less noise", func(e *Evidence) { e.ResidualNoise = 0.025 }, 4*4/2.0 - math.Log(6)},
		{"less spread", func(e *Evidence) { e.Spread = 0.025 / luckySpread }, 4*4/2.0 - math.Log(6)},
		{"hardly any noise", func(e *Evidence) { e.ResidualNoise = leastNoise / 2; e.Mean = -math.Log1p(-4 * leastNoise) }, 4*4/2.0 - math.Log(6)},
	} {
		e := pair
		if tt.change(&e); e.chance() != tt.want && !(math.Abs(e.chance()-tt.want) < 1e-9) {
			t.Errorf("%s: chance() = %g, want %g", tt.name, e.chance(), tt.want)
		}
	}
	for _, tt := range []struct{ n, k, want float64 }{{4, 2, 6}, {10, 3, 120}, {5, 5, 1}, {7, 0, 1}, {52, 5, 2598960}} {
		if got := math.Exp(lnChoose(tt.n, tt.k)); math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("%g over %g = %g, want %g", tt.n, tt.k, got, tt.want)
		}
	}
}

func TestClarity(t *testing.T) {
	if got := clarity(1 - leastShare); math.Abs(got) > 1e-12 {
		t.Errorf("clarity of all = %g, want 0", got)
	}
	if got, want := clarity(0), -math.Log(leastShare); math.Abs(got-want) > 1e-12 {
		t.Errorf("clarity of nothing = %g, want %g", got, want)
	}
}

// anyEvidence is some evidence near the thresholds.
func anyEvidence(rng *rand.Rand) Evidence {
	members, beside := 2+float64(rng.IntN(20)), 1+float64(rng.IntN(100))
	e := Evidence{
		Members: members, Around: members + beside, Inside: 1 + float64(rng.IntN(40)),
		Links: 1 + float64(rng.IntN(40)), Margins: 2 + float64(rng.IntN(100)),
		ResidualNoise: 0.2 * rng.Float64(), Spread: 0.2 * rng.Float64(), Mean: rng.Float64(), Ticks: 5 * rng.Float64(),
		Near: Contrast{Step: rng.Float64() - 0.2, Overlap: 0.3 * rng.Float64()},
	}
	e.Hosts = e.Around + float64(rng.IntN(100))
	e.Average = e.Near
	if rng.IntN(2) == 0 {
		e.Average = Contrast{Step: e.Near.Step + 0.2*rng.Float64(), Overlap: e.Near.Overlap * rng.Float64()}
	}
	return e
}

// Better Evidence never gets less confidence.
func TestConfidenceGrowsWithTheEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, tt := range []struct {
		name   string
		better func(e *Evidence, by float64) // by: in [0, 1]
	}{
		{"step", func(e *Evidence, by float64) { e.Near.Step += by; e.Average.Step += by }},
		{"overlap", func(e *Evidence, by float64) { e.Near.Overlap *= by; e.Average.Overlap *= by }},
		{"luck", func(e *Evidence, by float64) { e.Average.Step += by; e.Average.Overlap *= by }},
		{"ticks", func(e *Evidence, by float64) { e.Ticks += by }},
		{"mean", func(e *Evidence, by float64) { e.Mean += by }},
		{"inside", func(e *Evidence, by float64) { e.Inside++ }},
		{"links", func(e *Evidence, by float64) { e.Links++ }},
		{"margins", func(e *Evidence, by float64) { e.Margins++ }},
		{"spread", func(e *Evidence, by float64) { e.Spread *= by }},
		{"hosts", func(e *Evidence, by float64) { e.Hosts = e.Around + math.Floor(by*(e.Hosts-e.Around)) }},
		{"around", func(e *Evidence, by float64) { e.Around = e.Members + 1 + math.Floor(by*(e.Around-e.Members-1)) }},
	} {
		grew := 0
		for range 5000 {
			worse := anyEvidence(rng)
			better := worse
			tt.better(&better, rng.Float64())
			a, b := worse.Confidence(), better.Confidence()
			if b < a-1e-12 {
				t.Errorf("%s: confidence %g of %+v, want %g or more, as of %+v", tt.name, b, better, a, worse)
				break
			}
			if b > a {
				grew++
			}
		}
		if grew == 0 {
			t.Errorf("%s never changed the support", tt.name)
		}
	}
}

// Whatever the Evidence, confidence lies in [0, 1], and no luck makes a group confident.
func TestConfidenceIsAlwaysAShare(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 2, 1e-300, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64}
	rng := rand.New(rand.NewPCG(2, 7))
	for range 100000 {
		e := anyEvidence(rng)
		for _, x := range []*float64{
			&e.Hosts, &e.Around, &e.Members, &e.Inside, &e.Links, &e.Margins, &e.ResidualNoise, &e.Spread, &e.Mean, &e.Ticks,
			&e.Near.Step, &e.Near.Overlap, &e.Average.Step, &e.Average.Overlap,
		} {
			if rng.IntN(8) == 0 {
				*x = odd[rng.IntN(len(odd))]
			}
		}
		s, plain := e.Confidence(), e.grade(e.Near)
		if !(s >= 0 && s <= 1) {
			t.Fatalf("confidence %g of %+v, want in [0, 1]", s, e)
		}
		if s > plain && s > UncertainCeiling {
			t.Fatalf("confidence %g of %+v, want up to %g, as it is %g without luck", s, e, UncertainCeiling, plain)
		}
	}
}

// Pairs are counted one by one, ties among them, whatever the factor: a power of two, so that ties stay ties.
func TestOverlapCountsPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	some := func() []float32 {
		list := make([]float32, 1+rng.IntN(9))
		for i := range list {
			list[i] = float32(1 + rng.IntN(12))
		}
		return list
	}
	for range 500 {
		within, near, factor := some(), some(), []float32{0.5, 1, 2}[rng.IntN(3)]
		slices.Sort(within)
		want := 0.0
		for _, a := range within {
			for _, b := range near {
				switch b *= factor; {
				case a > b:
					want++
				case a == b:
					want += 0.5
				}
			}
		}
		want /= float64(len(within) * len(near))
		if got := Overlap(within, near, factor); math.Abs(got-want) > 1e-12 {
			t.Fatalf("Overlap(%v, %v, %g) = %g, want %g", within, near, factor, got, want)
		}
	}
}

// The smallest of n is in the middle of the lowest of n parts that are equally likely: below it lies 1/2n. Quantiles
// of the normal distribution from its tables.
func TestLuckOfSmallest(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 0.674490, 5: 1.281552, 20: 1.959964, 500: 3.090232} {
		if got := LuckOfSmallest(n); math.Abs(got-want) > 1e-6 {
			t.Errorf("LuckOfSmallest(%d) = %g, want %g", n, got, want)
		}
	}
}
