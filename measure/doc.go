// Package measure reads how long messages take between the ranks of a job.
// Most programs need one call, which all ranks make:
//
//	result, err := measure.Run(ctx, comm, nil)
//
// On rank 0, result.Matrices() goes into a topology.Reconstructor, and
// result.WriteFile keeps what was measured together with its conditions.
// Discover is the whole way from there to a model.Network, in one call:
//
//	found, err := measure.Discover(ctx, comm, nil)
//	...
//	err = found.Network.Save("network.json") // on rank 0, where found is not nil
//
// The harness follows LGate (Reinfjell 2023, section 3.1), with the departures
// that the tables of Bufe 2014 ask for (see Design).
//
// # Design
//
// All pairs in the fewest rounds: the circle method pairs all ranks with each
// other in n-1 rounds (n odd: n), where the recursion of Bufe 2014, section
// 2.3.2, takes more unless n is a power of two. Readings of one round share
// whatever disturbs the machine at that moment: the slow cells of Bufe's table
// 3.5 are all but four exactly one round. So every repetition relabels the ranks and shuffles the
// rounds afresh, and each reading keeps the number of its round; rounds that
// stand out are found by median polish and become warnings.
//
// The barrier before each round is a dissemination of one byte, which carries
// the wish of any rank to stop (its context, rank 0's budget). After a
// dissemination all ranks know of every wish that there was when it began, so
// they all leave at the same round, with no further message.
//
// A reading is half a round trip, and belongs to the rank that sends first.
// One-way times would need clocks that agree. A sample lasts at least 50 steps
// of the clock, for which short round trips are batched.
//
// Budgets go by the communicator's clock, so that simulations repeat.
//
// Settings count on rank 0 only: they travel to the others. The price is one
// small broadcast, the gain that ranks cannot disagree.
//
// Each rank keeps its own readings (O(n) per repetition) and rank 0 fetches
// them in turn, so no rank but 0 ever holds O(n^2), and rank 0 never receives
// from two at once.
package measure
