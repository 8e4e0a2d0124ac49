// Package concurrent times messages that are under way together.
//
//	r, err := concurrent.Measure(ctx, comm, &concurrent.Settings{Patterns: patterns})
//	fitted, err := fit.Network(topology, r.Observations(), nil)
//
// A pattern is a set of transfers between ranks which start together. It is
// the micro-benchmark of Zhu et al. 2014 (section 3.1) for any set. Receives are
// posted before anything is sent, and buffers are written anew in each
// iteration. Iterations go on until the 95 % interval of each transfer's mean
// is 2 % wide, 2000 times at most.
//
// RandomPattern makes the patterns of section 7.1 of the paper, and Alltoallv
// that of section 7.3. ForDiscover makes those few that tell how the links of a
// reconstructed machine are shared.
//
// # Design
//
// Patterns are measured in passes: one iteration of each, then two, four and so on of those that are not known
// well enough. The paper takes all iterations of one back to back. Then a stall of the machine, of a second
// or so, spoils all that is measured of a pattern. A budget that is too short is spent by the first ones.
// The price is a visit's overhead (clocks, short messages for the connections) a few times per pattern.
//
// A transfer lasts from the moment its sender starts it, right after the
// barrier, to the moment its receiver sees it complete. In the paper the receiver
// takes both times, and a sender that leaves the barrier late makes its transfer
// longer. Here two clocks take them, which need not agree. Exchanges of short
// messages with rank 0 before and after each visit tell how clocks differ and
// drift, to half the shortest round trip (Cristian 1989). Rank 0 gets all stamps after the visit, and decides
// how many more are wanted.
//
// In the paper each transfer has two processes of its own. Here a rank may have
// many at once (mpi.NonBlocking). Without that ability a rank has one transfer under way at a time: see
// Pattern.Serial.
package concurrent
