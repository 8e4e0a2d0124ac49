// Package tuner finds out which of several ways to broadcast is the fastest, without ever
// mistaking noise for speed.
//
//	watch, err := tuner.NewStopwatch(comm, tag, hosts, crowded) // collective, as all that follows
//	contest := watch.Contest(roots, buf, crowded, limit)
//	err = contest.Warm(append([]tuner.Way{native}, plans...)...)
//	ranked, err := contest.Best(plans)                      // of ours, the best first
//	verdict, err := contest.Beats(plans[ranked[0]], native) // and does it beat the library's own?
//
// It knows a Way as a function that broadcasts a buffer from a root, and a communicator on which
// the ranks agree. What a way does inside, it does not see.
//
// # Method
//
// The library's own broadcast is the incumbent. A way of ours replaces it only by winning a
// paired test: in each round both broadcast from the same roots one after the other, in an
// order that changes from round to round, and each round is one pair, so that what drifts
// or disturbs a whole round does not count. A round times a single broadcast among ranks at
// rest (cold) and a batch of them back to back (hot), from roots that rotate. The
// test is the sign test (Dixon & Mood 1946, https://doi.org/10.1080/01621459.1946.10501898),
// looked at after 7, 11, 15, 21, 31 and 51 rounds: see Verdict for what it promises. Medians of
// the same pairs are told, and do not decide.
//
// Keep does the same while a job runs: now and then it runs one more pair, of the way in use
// and of another, and changes over when that has won for long enough. What this may cost
// is a share of the time of the broadcasts.
//
// # Clocks
//
// A broadcast starts on one rank and ends on another, so clocks are compared: along a
// tree over the hosts, and within each host along a tree over its ranks, in steps that
// grow as the logarithm of the ranks (NewStopwatch). Where all clocks are found to be one, as
// within a host, they are not compared again.
package tuner

// A Way broadcasts buf of rank root into buf of all ranks. It is collective.
type Way func(buf []byte, root int) error
