package tuner

import (
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A look says after how many rounds the sign test is looked at, and how many of these have to be won: the fewest that a
// fair coin reaches with a probability of at most 0.8 %.
type look struct{ rounds, wins int }

// looks are those of a test. Seven rounds are the fewest all of which the challenger wins in less than one of a hundred
// tests, if both variants are equal. A fair coin wins at any of the looks in 2.1 % of all tests.
var looks = [...]look{{7, 7}, {11, 10}, {15, 13}, {21, 17}, {31, 23}, {mostPairs, 35}}

// usualMargin is by which factor times have to differ to count as different. What is nearer is a tie,
// and ties go to the incumbent.
const usualMargin = 1.03

// oversubscribedMargin is the margin where a host has more ranks than cores. The scheduler moves times by some percent
// there.
const oversubscribedMargin = 1.1

// A signTest compares a challenger with the incumbent, pair by pair.
//
// The challenger wins if it is faster by the margin, cold or hot, and in the other respect at
// least not slower by the margin. So there are two times two questions, each of which a pair answers
// with yes or no.
type signTest struct {
	margin               float64
	rounds               int
	fast                 [2]int // pairs in which the challenger was faster by the margin, cold and hot
	right                [2]int // pairs in which it was not slower by the margin, cold and hot
	challenger, opponent []Sample
}

func (t *signTest) add(challenger, incumbent Sample) {
	t.rounds++
	for i, times := range [2][2]float64{{challenger.Cold, incumbent.Cold}, {challenger.Hot, incumbent.Hot}} {
		if times[0]*t.margin < times[1] {
			t.fast[i]++
		}
		if times[0] < times[1]*t.margin {
			t.right[i]++
		}
	}
	t.challenger, t.opponent = append(t.challenger, challenger), append(t.opponent, incumbent)
}

// atLeast tells whether the challenger was not slower in so many of the pairs in both respects, and faster in one.
func (t *signTest) atLeast(pairs int) bool {
	return min(t.right[0], t.right[1]) >= pairs && max(t.fast[0], t.fast[1]) >= pairs
}

// won tells whether the challenger has won, at a look after the rounds so far.
func (t *signTest) won() bool {
	return slices.ContainsFunc(looks[:], func(l look) bool { return l.rounds == t.rounds && t.atLeast(l.wins) })
}

// over tells whether the test has come to its end: a look at which the challenger has won, or
// has not even won more than half of the pairs, or the last one.
func (t *signTest) over() bool {
	isLook := slices.ContainsFunc(looks[:], func(l look) bool { return l.rounds == t.rounds })
	hopeless := !t.atLeast(t.rounds/2 + 1)
	return isLook && (hopeless || t.won() || t.rounds == mostPairs)
}

// medians of samples, cold and hot apart; NaN if there are none.
func medians(samples []Sample) Sample {
	cold, hot := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		cold[i], hot[i] = s.Cold, s.Hot
	}
	return Sample{stats.MiddleMedian(cold), stats.MiddleMedian(hot)}
}
