// Package measure reads how long messages take between the ranks of a job.
// Most programs need one call, which all ranks make:
//
//	found, err := measure.Discover(ctx, comm, nil)
//	...
//	err = found.Network.Save("network.json") // on rank 0, where found is not nil
//
// Discover is the whole way from a job to a model.Network. Run is its first step,
// the measurements alone: result.Matrices() goes into a topology.Reconstructor, and
// result.WriteFile keeps what was measured together with its conditions, in the file
// of package record. Settings.Record writes that file while it is measured, and
// Settings.Resume goes on with what a killed run has left of it:
//
//	out := record.NewWriter(file, nil)
//	result, err := measure.Run(ctx, comm, &measure.Settings{Record: out})
//	...
//	err = out.Close() // on rank 0
//
// # Method
//
// Run is a test of pairs (pingpong) in package harness, which is LGate's (Reinfjell 2023,
// section 3.1) with departures that the tables of Bufe 2014 ask for:
//
//  1. All pairs of ranks are measured in rounds of disjoint pairs, n-1 of them (n
//     odd: n). Every repetition relabels the ranks and shuffles the rounds.
//  2. Before each round there is a barrier, which also carries the vote of any
//     rank to stop.
//  3. Both ranks of a pair, one after the other, send first. A measurement is half a
//     round trip, and belongs to the rank that sends first. Round trips too short
//     for the clock are batched.
//  4. A measurement is the quartiles of some samples. Samples that something has
//     disturbed are taken again.
//  5. Pairs that are not known as precisely as Sampling.Precision asks for are measured again. Where Discover finds that
//     repetitions disagree on too many pairs, further ones follow, and rounds that differ from the median of their
//     pairs are measured again.
//  6. Result.Warnings tells what is still uncertain and what to do about it. It also tells what the measuring itself
//     may have done: drift, a slow beginning, bands of ranks at one distance.
//  7. Discover reconstructs the wiring, then measures long messages between some
//     pairs of each level, one pair at a time, the links above every confident group in
//     each direction, and patterns of transfers that are under way together, and fits a
//     network to it all.
//
// Further kinds of measurement are packages below this one: oneway, plogp, throughput,
// concurrent, servet, check. They stand on harness, as Run does, and keep their
// measurements in sections of one file (record). Package adaptive plans which few pairs are measured.
//
// # The files of Discover
//
// Each step of the chain is a file. Settings of Discover choose the pairs (discover_latencies), which are all pairs (run),
// few of them (few_pairs) or those of two levels (two_level). Their latencies give groups and wiring (reconstruct). Along the confident
// groups rates are measured (rates, telling, discover_steps, discover_overhead). All of it gives the network (discover).
//
// # Limits
//
// Measurements are half round trips: that one direction of a link is slower than the
// other is not seen. Package oneway measures that.
// The number of measurements grows with n^2 (harness.Pairs.Rounds samples them), the time
// with n. Pairs of one round share links: what that does to latencies of short
// messages is little, of long ones much, for which there is harness.OneByOne.
// Where ranks share CPUs, times are the scheduler's (Result.OversubscribedHosts).
//
// # Design
//
// All pairs in the fewest rounds: the circle method, where the recursion of Bufe
// 2014, section 2.3.2, takes more unless n is a power of two. Measurements of one
// round share whatever disturbs the machine at that moment: the slow cells of
// Bufe's table 3.5 are all but four exactly one round. Hence the shuffling, and
// each measurement keeps the number of its round.
//
// Drift is left in the matrices. Whether the clock, the machine or the load has drifted is not
// known, and it may differ between ranks. Each repetition has its rounds in another order, so
// drift is noise to a pair and not structure. Its size is a number.
//
// One-way times would need clocks that agree, or a fit of clocks that hides some of them (oneway). Budgets go by the communicator's
// clock, so that simulations repeat.
package measure
