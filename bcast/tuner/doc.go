// Package tuner finds out which of several variants of a collective operation is the fastest. It never takes noise for
// speed.
//
//	watch, err := tuner.NewStopwatch(comm, tag, hosts, oversubscribed) // collective
//	search := tuner.Search{Watch: watch, Bytes: bytes, Roots: roots, Limit: limit, Compile: compile, Candidates: candidates}
//	decision, err := search.Decide() // collective
//
// A Session is pure: Next names the variants, the roots and the order of a round, and Add takes what they took. Conduct is
// the one loop that performs rounds: rank 0 tells each of them, all ranks carry it out, and a Stopwatch times it. A search
// is sessions one after the other. What is measured otherwise by rounds is a session of its own.
//
// # Method
//
// The native broadcast is the incumbent. A variant of ours replaces it only by winning a paired test. In each round
// both broadcast from the same roots, one after the other, in an order that changes from round to round. Each round is
// one pair, so what disturbs a whole round does not count. A round times a single broadcast among ranks at rest (cold)
// and a batch of them back to back (hot). The test is the sign test
// (Dixon & Mood 1946, https://doi.org/10.1080/01621459.1946.10501898), looked at after 7, 11, 15, 21, 31 and 51 pairs:
// see Decision for what it promises. Medians of the same pairs are reported. They do not decide.
//
// # Clocks
//
// A broadcast starts on one rank and ends on another, so clocks are compared: along a tree over the hosts, and within
// each host along a tree over its ranks, in steps that grow as the logarithm of the ranks (NewStopwatch). Where all
// clocks are found to be one, as within a host, they are not compared again.
package tuner
