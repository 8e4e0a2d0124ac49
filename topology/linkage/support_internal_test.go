package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/topology"
)

// From weak to firm the odds grow from 1 to 9, the odds of FirmSupport, and so on at the same
// rate: 81 as far beyond firm, 1/9 as far below weak.
func TestGradeOfACriterion(t *testing.T) {
	for _, c := range []criterion{{1, 3}, {-7, -6.5}, {0, 4}} {
		for _, tt := range []struct{ at, odds float64 }{{-1, 1.0 / 9}, {0, 1}, {0.5, 3}, {1, 9}, {2, 81}} {
			x := c.weak + tt.at*(c.firm-c.weak)
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

// certain is evidence without any doubt: eight hosts of 64, a step of 1 and no noise.
func certain() evidence {
	return evidence{
		hosts: 64, around: 64, members: 8, inside: 28, links: 28, borders: 448,
		white: 0.01, spread: 0.01, mean: 1, ticks: math.Inf(1),
		near: contrast{step: 1}, average: contrast{step: 1},
	}
}

// shareAt is the share whose clarity is c.
func shareAt(c float64) float64 { return math.Exp(-c) - leastShare }

// Without noise, or without knowing of any, chance is not asked, however few the readings are.
func TestChanceNeedsNoise(t *testing.T) {
	for _, white := range []float64{0, math.NaN()} {
		e := certain()
		if e.inside, e.white = 0, white; e.support() <= topology.FirmSupport {
			t.Errorf("noise %g: support %g, want it firm", white, e.support())
		}
	}
	e := certain()
	if e.inside = 0; e.support() > weakCeiling {
		t.Errorf("support %g of what chance may have made, want up to %g", e.support(), weakCeiling)
	}
}

// Each criterion decides alone where all others leave no doubt.
func TestEachCriterionDecidesAlone(t *testing.T) {
	if s := certain().support(); s <= topology.FirmSupport {
		t.Fatalf("certain evidence has support %g, want it firm", s)
	}
	for _, tt := range []struct {
		name string
		of   criterion
		set  func(e *evidence, x float64)
	}{
		{"step", stepCriterion, func(e *evidence, x float64) { e.near.step = x + e.chanceStep() }},
		{"overlap", overlapCriterion, func(e *evidence, x float64) { e.near.overlap = shareAt(x) }},
		{"ticks", tickCriterion, func(e *evidence, x float64) { e.ticks = x }},
		// In steps: at half the step half as much.
		{"uneven", unevenCriterion, func(e *evidence, x float64) { e.near.step, e.uneven = 0.5, shareAt(x)/2 }},
		// 3-4-5: what mates differ by is taken out as one side of a right angle.
		{"uneven beyond mates", unevenCriterion, func(e *evidence, x float64) { e.uneven, e.mates = shareAt(x)*5/4, shareAt(x)*3/4 }},
	} {
		if tt.of.firm <= tt.of.weak {
			t.Errorf("%s: firm %g, want above weak, %g", tt.name, tt.of.firm, tt.of.weak)
		}
		for _, at := range []struct{ x, want float64 }{{tt.of.weak, 0.5}, {tt.of.firm, topology.FirmSupport}, {tt.of.weak - (tt.of.firm - tt.of.weak), 1 - topology.FirmSupport}} {
			e := certain()
			tt.set(&e, at.x)
			e.average = e.near
			if got := e.support(); math.Abs(got-at.want) > 1e-9 {
				t.Errorf("%s at %g: support %.12f, want %g", tt.name, at.x, got, at.want)
			}
		}
	}
}

// Chance is an argument, not evidence: what it explains is weak, and firm is what it does not.
func TestChanceMakesWeak(t *testing.T) {
	for _, tt := range []struct{ nats, want float64 }{
		{-100, weakCeiling}, {chanceCriterion.weak, weakCeiling}, {chanceCriterion.firm, topology.FirmSupport}, {2*chanceCriterion.firm - chanceCriterion.weak, 81.0 / 82},
	} {
		e := certain()
		e.inside = 0
		cost := -e.chance()
		e.inside = 1
		e.inside = (tt.nats + cost) / (e.chance() + cost)
		if got := e.support(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%g nats: support %.12f, want %g", tt.nats, got, tt.want)
		}
		e.near = contrast{step: 0, overlap: 0.5} // luck gets it reported only if chance does not
		if got, want := e.support(), max(e.grade(e.near), min(weakCeiling, chanceCriterion.grade(tt.nats))); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g nats, luck: support %.12f, want %g", tt.nats, got, want)
		}
	}
}

func TestSupportOfWhatIsNotKnown(t *testing.T) {
	e := certain()
	if e.uneven = math.NaN(); e.support() != weakCeiling {
		t.Errorf("nobody's unevenness is known: support %g, want %g", e.support(), weakCeiling)
	}
	e = certain()
	e.inside, e.mean = 1, 0 // nothing speaks against chance
	if s := e.support(); s != weakCeiling {
		t.Errorf("support %g of what chance explains, want %g", s, weakCeiling)
	}
	if e.white = math.NaN(); e.support() <= topology.FirmSupport {
		t.Errorf("noise is not known: support %g, want it firm, as chance is then not asked", e.support())
	}
	e = certain()
	if e.uneven, e.mates = 0.3, 0.6; e.support() <= topology.FirmSupport {
		t.Errorf("mates that differ more than others: support %g, want it firm", e.support())
	}
	e = certain()
	for _, step := range []float64{0, -1} {
		e.near.step, e.average.step = step, step
		if s := e.support(); !(s < 0.5) {
			t.Errorf("support %g at a step of %g, want none", s, step)
		}
	}
}

// Averaged luck gets a group reported, but not firm, and only where members
// see outsiders as differently as noise does.
func TestLuckMakesNothingFirm(t *testing.T) {
	unlucky := certain()
	unlucky.near = contrast{step: 0, overlap: 0.5}
	noise := unevenOfNoise * unlucky.white
	for _, tt := range []struct {
		name   string
		change func(e *evidence)
		want   float64
	}{
		{"luck", func(e *evidence) {}, weakCeiling},
		{"luck, and noise", func(e *evidence) { e.uneven, e.mates = noise, noise }, weakCeiling},
		{"hardly more than noise", func(e *evidence) { e.uneven = 0.9 * noiseMargin * noise; e.mates = e.uneven }, weakCeiling},
		{"more than noise", func(e *evidence) { e.uneven = 1.1 * noiseMargin * noise; e.mates = e.uneven }, unlucky.grade(unlucky.near)},
		{"nothing known of noise", func(e *evidence) { e.white = math.NaN() }, unlucky.grade(unlucky.near)},
		{"no luck", func(e *evidence) { e.average = e.near }, unlucky.grade(unlucky.near)},
	} {
		e := unlucky
		if tt.change(&e); math.Abs(e.support()-tt.want) > 1e-9 {
			t.Errorf("%s: support %g, want %g", tt.name, e.support(), tt.want)
		}
	}
	firm := certain()
	if firm.average.step = 2; firm.support() != firm.grade(firm.near) {
		t.Errorf("support %g with luck, want %g as without", firm.support(), firm.grade(firm.near))
	}
}

// The step that chance explains, by hand: at the usual spread it is that spread over the root of what
// was measured. Eight borders without any spread are worth as much as the eight
// that are assumed, so half of the variance is left.
func TestChanceStep(t *testing.T) {
	for _, tt := range []struct {
		e    evidence
		want float64
	}{
		{evidence{spread: usualSpread, links: 1, borders: 1}, chanceSpread * usualSpread},
		{evidence{spread: usualSpread, links: 9, borders: 4}, chanceSpread * usualSpread / 6},
		// A wide spread is that of the machine beyond: levels farther out.
		{evidence{spread: 10 * usualSpread, links: 9, borders: 4}, chanceSpread * usualSpread / 6},
		{evidence{spread: 0, links: 1, borders: usualBorders}, chanceSpread * usualSpread / math.Sqrt(2*usualBorders)},
	} {
		if got := tt.e.chanceStep(); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: chanceStep() = %g, want %g", tt.e, got, tt.want)
		}
	}
}

// Two of four hosts can be chosen in six ways, and be in one of two parents of four.
func TestChance(t *testing.T) {
	pair := evidence{hosts: 4, around: 4, members: 2, inside: 1, mean: -math.Log1p(-0.1), white: 0.05, uneven: 1}
	for _, tt := range []struct {
		name   string
		change func(e *evidence)
		want   float64
	}{
		{"two standard deviations", func(e *evidence) {}, 2*2/2.0 - math.Log(6)},
		{"three readings", func(e *evidence) { e.inside = 3 }, 3*2*2/2.0 - math.Log(6)},
		{"the wrong way round", func(e *evidence) { e.mean = -0.1 }, math.Inf(-1)},
		{"eight hosts", func(e *evidence) { e.hosts = 8 }, 2*2/2.0 - math.Log(6) - math.Log(2)},
		{"members differ less", func(e *evidence) { e.uneven = 0.025 * unevenOfNoise }, 4*4/2.0 - math.Log(6)},
		{"no noise at all", func(e *evidence) { e.uneven = 0; e.mean = -math.Log1p(-4 * leastWhite) }, 4*4/2.0 - math.Log(6)},
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
	// The quantile q of sqrt 2 |N(0,1)| is 2 erfinv(q).
	if want := 2 * math.Erfinv(unevenQuantile); math.Abs(unevenOfNoise-want) > 1e-3 {
		t.Errorf("unevenOfNoise = %g, want %.4f for the quantile %g", unevenOfNoise, want, unevenQuantile)
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
func anyEvidence(rng *rand.Rand) evidence {
	members, beside := 2+float64(rng.IntN(20)), 1+float64(rng.IntN(100))
	e := evidence{
		members: members, around: members + beside, inside: 1 + float64(rng.IntN(40)),
		links: 1 + float64(rng.IntN(40)), borders: 2 + float64(rng.IntN(100)),
		white: 0.2 * rng.Float64(), spread: 0.2 * rng.Float64(), mean: rng.Float64(), ticks: 5 * rng.Float64(),
		uneven: 0.3 * rng.Float64(),
		near:   contrast{step: rng.Float64() - 0.2, overlap: 0.3 * rng.Float64()},
	}
	e.hosts = e.around + float64(rng.IntN(100))
	e.mates = e.uneven * rng.Float64()
	e.average = e.near
	if rng.IntN(2) == 0 {
		e.average = contrast{step: e.near.step + 0.2*rng.Float64(), overlap: e.near.overlap * rng.Float64()}
	}
	return e
}

// Better evidence never gets less support.
func TestSupportGrowsWithTheEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, tt := range []struct {
		name   string
		better func(e *evidence, by float64) // by: in [0, 1]
	}{
		{"step", func(e *evidence, by float64) { e.near.step += by; e.average.step += by }},
		{"overlap", func(e *evidence, by float64) { e.near.overlap *= by; e.average.overlap *= by }},
		{"luck", func(e *evidence, by float64) { e.average.step += by; e.average.overlap *= by }},
		{"ticks", func(e *evidence, by float64) { e.ticks += by }},
		{"uneven", func(e *evidence, by float64) { e.uneven = e.mates + by*(e.uneven-e.mates) }},
		{"mates", func(e *evidence, by float64) { e.mates += by * (e.uneven - e.mates) }},
		{"mean", func(e *evidence, by float64) { e.mean += by }},
		{"inside", func(e *evidence, by float64) { e.inside++ }},
		{"links", func(e *evidence, by float64) { e.links++ }},
		{"borders", func(e *evidence, by float64) { e.borders++ }},
		{"spread", func(e *evidence, by float64) { e.spread *= by }},
		{"hosts", func(e *evidence, by float64) { e.hosts = e.around + math.Floor(by*(e.hosts-e.around)) }},
		{"around", func(e *evidence, by float64) { e.around = e.members + 1 + math.Floor(by*(e.around-e.members-1)) }},
	} {
		grew := 0
		for range 5000 {
			worse := anyEvidence(rng)
			better := worse
			tt.better(&better, rng.Float64())
			a, b := worse.support(), better.support()
			if b < a-1e-12 {
				t.Errorf("%s: support %g of %+v, want %g or more, as of %+v", tt.name, b, better, a, worse)
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

// Whatever the evidence, support lies in [0, 1], and no luck makes a group firm.
func TestSupportIsAlwaysAShare(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 2, 1e-300, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64}
	rng := rand.New(rand.NewPCG(2, 7))
	for range 100000 {
		e := anyEvidence(rng)
		for _, x := range []*float64{
			&e.hosts, &e.around, &e.members, &e.inside, &e.links, &e.borders, &e.white, &e.spread, &e.mean, &e.ticks,
			&e.near.step, &e.near.overlap, &e.average.step, &e.average.overlap, &e.uneven, &e.mates,
		} {
			if rng.IntN(8) == 0 {
				*x = odd[rng.IntN(len(odd))]
			}
		}
		s, plain := e.support(), e.grade(e.near)
		if !(s >= 0 && s <= 1) {
			t.Fatalf("support %g of %+v, want in [0, 1]", s, e)
		}
		if s > plain && s > weakCeiling {
			t.Fatalf("support %g of %+v, want up to %g, as it is %g without luck", s, e, weakCeiling, plain)
		}
	}
}

// Readings that are all alike, of the fewest hosts and of more, with and without pairs missing: no group
// has support, nor is anything NaN.
func TestNoSupportWithoutAStep(t *testing.T) {
	for _, text := range []string{"((0 1) 2)", "((0 1) 2 3)", "((0 1 2 3 4 5 6 7) 8)", "((0 1 2 3 4 5 6 7) 8 9 10 11 12 13 14 15 16)", "((0 1) (2 3))"} {
		for _, x := range []float64{1e-6, math.SmallestNonzeroFloat32, math.MaxFloat32} {
			for _, white := range []float64{math.NaN(), 0, 0.1, math.Inf(1)} {
				g := judgeOf(text, func(i, j int) float64 { return x })
				g.white = white
				for _, v := range g.t.Groups()[1:] {
					if g.judge(v); !(g.support[int(v)-g.t.N] < 0.5) || g.step[int(v)-g.t.N] != 0 {
						t.Errorf("%s, readings %g, noise %g: support %g, step %g, want none", text, x, white, g.support[int(v)-g.t.N], g.step[int(v)-g.t.N])
					}
				}
			}
		}
	}
}
