package harness

import "testing"

// TestCircleMeetsEveryTwoOnce: in each round all are paired, of an odd number
// all but one.
func TestCircleMeetsEveryTwoOnce(t *testing.T) {
	for n := range 14 {
		met := make(map[[2]int]int)
		for round := range circleRounds(n) {
			resting := 0
			for p := range n {
				q := circlePartner(n, p, round)
				if q < 0 {
					resting++
					continue
				}
				if back := circlePartner(n, q, round); back != p || p == q {
					t.Fatalf("%d players, round %d: %d meets %d, which meets %d", n, round, p, q, back)
				}
				met[[2]int{min(p, q), max(p, q)}]++
			}
			if resting != n%2 {
				t.Errorf("%d players, round %d: %d rest", n, round, resting)
			}
		}
		for pair, times := range met {
			if times != 2 { // both say so
				t.Errorf("%d players: %v meet %d times", n, pair, times)
			}
		}
		if len(met) != n*(n-1)/2 {
			t.Errorf("%d players: %d pairs met", n, len(met))
		}
	}
}
