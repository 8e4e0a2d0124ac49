// Package linkage finds how hosts are grouped - cores in sockets, hosts on
// switches, switches in racks - from measured latencies. It is the method to use
// unless there is a reason for another, and this is the call:
//
//	result, err := linkage.Reconstruct(latencies)
//
// with one matrix per repetition, or the same as a method of Robust, whose field
// is its setting.
//
// # Method
//
//  1. Readings of a pair, both directions and all repetitions, become one: the
//     mean of their lower half (package readings).
//  2. Hosts that are slow on every message are found, and what they add is taken out. Where
//     the noise of that would hide groups, they are set aside until step 5.
//  3. Groups are proposed by average linkage on readings that are capped at a
//     multiple of the subdominant ultrametric, by nearest-neighbour chain
//     (Müllner 2011). Of the binary tree those groups stay that are worth their
//     description (minimum description length), and single hosts move to the group
//     that they fit. Where links are unequal their lengths are taken out, groups are
//     proposed again, and hosts move again.
//  4. Every group is judged on the readings as they were. Its evidence is how
//     large the step is to its nearest outsiders, and how far readings on both sides
//     overlap; its support in [0, 1] is the least grade of these. What stands beside
//     it, and pairs that were not measured, may lower it. So may a host outside that is so noisy
//     that it may belong to the group.
//  5. Groups with enough support become switches, and a least squares fit of the
//     tree gives the latencies of their links.
//  6. Where a tree fits badly, the switches of its leaves are taken for vertices
//     of a ring, torus or mesh, or the hosts themselves are: the witness spanner
//     (package witness) finds the links, and the graph is given in place of the tree
//     if it has few links and leaves a third less to explain.
//
// To propose takes one figure for the noise; to judge takes the spread around each group, too.
//
// # Support
//
// Support is a score, not a probability. From topology.FirmSupport (0.9) a group
// is firm: plans, models and files follow it. From 0.5 it is reported, with a
// warning. The criteria, their thresholds and what each of them buys stand in one
// table in internal/support; what the method reaches on simulated and measured
// machines is in README.
//
// # Limits
//
// Groups of points in space are no groups of a machine, but look like it. Pairs
// of ranks that never met are never firm. With readings of one repetition the tick
// of a coarse clock is not seen. A line of more than some 16 hosts may show its
// ends as groups. Besides the matrices it takes 6 n^2 bytes, 1.5 GiB for 16384 hosts, and
// 2 n^2 more where hosts are slow on every message; time is O(n^2).
package linkage
