// Package tuner finds out which of several variants of a broadcast is the fastest. It never takes noise for speed.
//
//	watch, err := tuner.NewStopwatch(comm, tag, hosts, oversubscribed) // collective
//	contest := tuner.NewContest(tuner.Settings{Roots: roots, Limit: limit}, watch.Now()) // rank 0
//	ranking := contest.Rank([]int{1, 2, 3})
//	...                                              // perform its rounds
//	duel := contest.Duel(ranking.Ranked()[0], native)
//	...                                              // perform its rounds
//	if duel.Verdict().Wins { ... }
//
// A Session is pure: Next names the variants, the roots and the order of a round, and Add takes what they took. A
// Stopwatch times the broadcasts of a round. Package bcast has the loop that joins the two.
//
// # Method
//
// The native broadcast is the incumbent. A variant of ours replaces it only by winning a paired test. In each round
// both broadcast from the same roots, one after the other, in an order that changes from round to round. Each round is
// one pair, so what disturbs a whole round does not count. A round times a single broadcast among ranks at rest (cold)
// and a batch of them back to back (hot). The test is the sign test
// (Dixon & Mood 1946, https://doi.org/10.1080/01621459.1946.10501898), looked at after 7, 11, 15, 21, 31 and 51 pairs:
// see Verdict for what it promises. Medians of the same pairs are reported. They do not decide.
//
// # Clocks
//
// A broadcast starts on one rank and ends on another, so clocks are compared: along a tree over the hosts, and within
// each host along a tree over its ranks, in steps that grow as the logarithm of the ranks (NewStopwatch). Where all
// clocks are found to be one, as within a host, they are not compared again.
package tuner

// A Variant broadcasts buf of rank root into buf of all ranks. It is collective.
type Variant func(buf []byte, root int) error
