// Package concurrent times messages that are under way together.
//
//	r, err := concurrent.Measure(ctx, comm, &concurrent.Settings{Patterns: patterns})
//	fitted, err := model.Fit(topology, r.Observations(), nil)
//
// A pattern is a set of transfers between ranks which start together. It is
// the micro-benchmark of Zhu et al. 2014 (section 3.1) for any set: receives are
// posted before anything is sent, buffers are written anew in each
// iteration, and iterations go on until the 95 % interval of each transfer's mean
// is 2 % wide, 2000 times at most.
//
// RandomPattern makes the patterns of section 7.1 of the paper, Alltoallv
// that of section 7.3, and ForDiscover those few that tell how the links of a
// reconstructed machine are shared.
//
// # Design
//
// A transfer lasts from the moment its sender starts it, right after the
// barrier, to the moment its receiver sees it complete. In the paper the receiver
// takes both times, and a sender that leaves the barrier late makes its transfer
// longer. Here two clocks take them, which need not agree: exchanges of short
// messages with rank 0 before and after each pattern tell how they differ and
// drift, to half the shortest round trip (Cristian 1989). The correction is made when
// the pattern is over; when to stop is decided by the receivers' own clocks.
//
// In the paper each transfer has two processes of its own. Here a rank may have
// many at once, and has to be told which is complete: see mpi.AnyWaiter. Without
// it each iteration times another one of a rank's receives, the first that it waits for. Without
// mpi.NonBlocking a rank has one transfer under way at a time: see Pattern.Serial.
package concurrent
