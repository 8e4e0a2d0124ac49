// Package harness runs measurements of ranks: LGate's harness (Reinfjell 2023,
// section 3.1.1) as a library. The call that a measurement of pairs needs is
// AllPairs, which all ranks make under a Conductor:
//
//	outcome, err := harness.Conduct(ctx, comm, silence, func(c *harness.Conductor) (*harness.Outcome, error) {
//		return c.AllPairs(exchange, &harness.Settings{
//			Deliver: func(rows []harness.Row, _ harness.Progress) { all = append(all, rows...) },
//		})
//	})
//
// # What a pair does
//
// A measurement is an Exchange: what two ranks do with each other, and the numbers
// that each of them finds. All the rest is the harness': who meets whom and when,
// barriers, groups, budgets, cancellation and progress. It brings the numbers to rank 0, and
// ends a job in which a rank no longer answers. Package measure's latencies are one such
// exchange; oneway has another.
//
// The task of a pair says how many samples are taken, fewer where the budget is too small. What the ranks have to agree on
// beforehand - sizes, thresholds - rank 0 tells with Share. A pair of ranks agrees by messages of
// its own, with tags from FirstTag on. An Exchange may append as many numbers as it likes. So
// what is only found while measuring, such as a size between two others, is
// among them like any other.
//
// # Rounds that rank 0 plans
//
// All measurements go by Conduct, AllPairs among them. Rank 0 plans in plain code and plays rounds; what all
// ranks do in a round is an act, a function from the round's bytes to the numbers that rank 0 is to have:
//
//	result, err := harness.Conduct(ctx, comm, silence, func(c *harness.Conductor) (*Result, error) {
//		plan, err := harness.Share(c.Comm, c, settings.plan) // of rank 0, on all ranks
//		...
//		err = c.Lead(budget, act, func(play harness.Play) error { // on rank 0
//			found, err := play(round) // what each rank has brought
//			...
//		})
//		return result, err
//	})
//
// An act calls Meet, which is a barrier, before all that is to begin together, and With around what it does with
// one other rank. Meet tells all ranks when the budget, a context or a failure ends the measurement. LeadPairs has an act
// of its own: in each round some disjoint pairs of ranks measure something.
//
// A measurement that is made of others, as measure.Discover is, conducts them with its Ctx and on its Comm. Its ranks are then watched
// between the parts, too.
//
// # Method
//
//  1. All pairs are measured in rounds of disjoint pairs, by the circle method
//     or by Bufe's halving. Every repetition relabels the ranks and shuffles the rounds.
//  2. Groups of ranks are measured first, all of one level at once, and then joined, level by
//     level. Ranks outside of the groups at work wait.
//  3. Before a round the ranks of a group meet in a barrier, and only they. All ranks meet before
//     the rounds of all ranks, and some 50 times a second: there they hear of every vote to
//     stop (a context, rank 0's budget) that there was, so they all leave at the same round.
//  4. Rank 0 plans all rounds. It tells batches of them, of about half a second. Behind each batch it gathers the
//     rows, so that little is lost with a job that is killed, and holds its plan against the budget.
//  5. When all is measured rank 0 may want another repetition, of all pairs or of some rounds.
//
// # Design
//
// All measuring goes in steps between barriers. Rank 0 knows the settings and
// decides; what it decides travels as bytes, so that ranks cannot disagree. The
// price is a broadcast of 12 bytes per pair, once per batch.
//
// The barrier is a dissemination of one byte. Two groups of one level are measured at
// the same time but not in step: a slow one does not hold the others up. So the
// number of a round is a moment for the ranks of one group only.
//
// LGate joins groups two by two. Here all groups of a level are joined at once, part by part
// where that is shorter: equal parts take n-1 rounds altogether, as many as without groups.
//
// Each rank keeps its own rows until the batch is over; they go to rank 0 along a tree.
// Budgets go by the communicator's clock, so that simulations repeat; silence goes by the wall clock.
package harness
