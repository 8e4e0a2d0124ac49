// Package oneway measures how long messages take in each direction. So it tells a link that is slow in one
// direction from a slow host:
//
//	r, err := oneway.Measure(ctx, comm, nil)        // on all ranks
//	for _, d := range r.Directions { ... }          // on rank 0: links of which one direction is slow
//	m := r.Split(latencies.Matrices())              // halved round trips, split where the directions differ
//
// # What can be known
//
// Rank i stamps when it sends and j when it receives, each by its own clock. With o_i the lead of a clock and d_ij
// the true one-way time, a message and its answer give
//
//	t_ij = d_ij + o_j - o_i        t_ji = d_ji + o_i - o_j
//
// The sum d_ij + d_ji is free of clocks. The difference is d_ij - d_ji + 2 (o_j - o_i): the asymmetry of the pair is
// known up to a potential of one value per rank. Two machines with other clocks and other one-way times give the same
// stamps if their asymmetries differ by such a potential. No number of messages tells them apart.
//
// So these are not seen, because clocks explain them exactly:
//
//   - a host whose messages to all others are slow;
//   - one direction of a link that alone joins two parts, such as any link of a tree: it looks like the
//     clocks of a rack.
//
// A slow direction is seen where few of the links between two parts are slow, as in meshes, tori and rings. It is also seen
// where parallel links carry different pairs. The clocks are then fitted to all links so that few pairs are left over
// (pseudo-Huber, near least absolute deviations). Each clock may have a constant drift. What a pair is off by is its asymmetry.
// An asymmetry counts only if it stays where its pair pulls the clocks half as hard again: otherwise
// clocks and another link explain the stamps nearly as well. Any link of a ring explains the stamps. Of these
// the one counts whose round trip is long, and only if it is twice as slow or more.
//
// Settings.OneClock says that the clocks agree: ranks of one machine, or hosts with PTP. Then all directions
// are seen, also those of a tree.
//
// # Method
//
// All pairs meet in the rounds of package harness. A pair exchanges some messages; the lower quartiles of
// both directions count. The doubt of a pair comes from what the repetitions of all pairs, and of this one, differ
// by. It is chosen so that one run in a thousand without slow directions names any. Differences below a
// twentieth of the latency are never named. Where ranks outnumber the cores of a host, stamps tell when ranks were
// scheduled: no direction is named, and a warning says why. The lowest exchange is that of F. Cristian 1989, Probabilistic clock
// synchronization, https://doi.org/10.1007/BF01784024.
package oneway
