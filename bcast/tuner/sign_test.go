package tuner

import (
	"math"
	"math/big"
	"testing"
)

// The wins of each look are the fewest that a fair coin reaches with at most 0.8 %: sums of binomial coefficients.
func TestWinsNeeded(t *testing.T) {
	for _, l := range looks {
		fewest, ways := l.rounds+1, new(big.Int)
		for {
			ways.Add(ways, new(big.Int).Binomial(int64(l.rounds), int64(fewest-1)))
			if p, _ := new(big.Rat).SetFrac(ways, new(big.Int).Lsh(big.NewInt(1), uint(l.rounds))).Float64(); p > 0.008 {
				break
			}
			fewest--
		}
		if l.wins != fewest {
			t.Errorf("%d wins of %d, want %d", l.wins, l.rounds, fewest)
		}
	}
}

// What Decision promises, exactly: the chance of a walk to reach the wins needed at any look,
// whether or not it was given up before. The numbers are from independent code.
func TestSignTestKeepsItsPromise(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{{0.5, 0.0211320}, {0.4, 0.0023756}, {0.7, 0.6917728}, {0.95, 1}} {
		chance := map[int]float64{0: 1} // by wins so far, of not having won yet
		won := 0.0
		for n, at := 1, 0; at < len(looks); n++ {
			next := make(map[int]float64)
			for k, q := range chance {
				next[k] += q * (1 - c.p)
				next[k+1] += q * c.p
			}
			if chance = next; n < looks[at].rounds {
				continue
			}
			for k, q := range chance {
				if k >= looks[at].wins {
					won += q
					delete(chance, k)
				}
			}
			at++
		}
		if math.Abs(won-c.want) > 1e-6 {
			t.Errorf("a coin of %g wins with %.7f, want %.7f", c.p, won, c.want)
		}
	}
}

// What the four questions make of single pairs, repeated to the first look.
func TestWhoWins(t *testing.T) {
	for _, c := range []struct {
		name         string
		ours, native Sample
		margin       float64
		won          bool
	}{
		{"faster in both", Sample{0.9, 0.9}, Sample{1, 1}, usualMargin, true},
		{"faster cold, the same hot", Sample{0.9, 1}, Sample{1, 1}, usualMargin, true},
		{"the same cold, faster hot", Sample{1, 0.9}, Sample{1, 1}, usualMargin, true},
		{"a tie", Sample{1, 1}, Sample{1, 1}, usualMargin, false},
		{"faster by less than the margin", Sample{0.975, 0.975}, Sample{1, 1}, usualMargin, false},
		{"faster cold, slower hot", Sample{0.5, 1.05}, Sample{1, 1}, usualMargin, false},
		{"slower cold, faster hot", Sample{1.05, 0.5}, Sample{1, 1}, usualMargin, false},
		{"faster cold, slower hot by less than the margin", Sample{0.5, 1.02}, Sample{1, 1}, usualMargin, true},
		{"faster by a twentieth on oversubscribed cores", Sample{0.95, 0.95}, Sample{1, 1}, oversubscribedMargin, false},
		{"faster by a fifth on oversubscribed cores", Sample{0.8, 0.8}, Sample{1, 1}, oversubscribedMargin, true},
		{"clocks that stand still", Sample{0, 0}, Sample{0, 0}, usualMargin, false},
	} {
		test := signTest{margin: c.margin}
		for !test.over() {
			test.add(c.ours, c.native)
		}
		if test.won() != c.won || test.rounds != looks[0].rounds {
			t.Errorf("%s: won %v after %d rounds, want %v after %d", c.name, test.won(), test.rounds, c.won, looks[0].rounds)
		}
	}
}

// A variant that is faster in one respect and as fast in the other stays in as long as it may still win: with six of seven
// pairs it has not won yet (7 are needed), and has with ten of eleven.
func TestFasterInOneRespectStaysIn(t *testing.T) {
	for _, fast := range []Sample{{0.9, 1}, {1, 0.9}} {
		test := signTest{margin: usualMargin}
		for pair := 1; !test.over(); pair++ {
			ours := fast
			if pair == 3 {
				ours = Sample{1, 1}
			}
			test.add(ours, Sample{1, 1})
		}
		if !test.won() || test.rounds != looks[1].rounds {
			t.Errorf("%v against 1 and 1 in all pairs but one: won %v after %d rounds, want true after %d", fast, test.won(), test.rounds, looks[1].rounds)
		}
	}
}
