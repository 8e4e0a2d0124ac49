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
//  1. The measurements of a pair, in both directions and all repetitions, become one: the mean of their lower half
//     (package measured).
//  2. Hosts that are slow on every message are found, and what they add is taken out. Where the noise of that would hide
//     groups, the hosts are set aside until step 5.
//  3. Groups are proposed by average linkage, by nearest-neighbour chain (Müllner 2011). The measurements are capped at a
//     multiple of the subdominant ultrametric first. Of the binary tree those groups stay that are worth their description
//     (minimum description length). Single hosts move to the group that they fit. Where links are unequal their lengths are
//     taken out, groups are proposed again, and hosts move again.
//  4. Every group is judged by the measurements, which are not capped for that. Its evidence is how large the step is to its
//     nearest outsiders, and how far measurements on both sides overlap. Its confidence in [0, 1] is the least grade of
//     these. What stands beside the group, and pairs that were not measured, may lower it. So may a host outside that is so
//     noisy that it may belong to the group.
//  5. Groups with enough confidence become switches. A least squares fit of the tree gives the latencies of their links.
//  6. Where a tree fits badly, the switches of its leaves are taken for vertices of a ring, torus or mesh, or the hosts
//     themselves are. The witness spanner (package witness) finds the links. That graph replaces the tree if it has few links
//     and leaves a third less to explain.
//
// The proposal uses one figure for the noise. The judgement uses the spread around each group, too.
//
// # Confidence
//
// Confidence is a score, not a probability. From topology.ConfidentFrom (0.9) on a group is confident: plans, models and files
// follow it. From 0.5 on it is uncertain: it is reported, with a warning. Criteria, thresholds and what each of them buys
// stand in one table in internal/confidence. README says what the method reaches on simulated and measured machines.
//
// # Limits
//
// Groups of points in space are no groups of a machine, but look like it. Pairs of ranks that never met are never confident.
// With one repetition the tick of a coarse clock is not seen. A line of more than some 16 hosts may show its ends as groups.
// Besides the matrices the method takes 6 n^2 bytes, 1.5 GiB for 16384 hosts, and 2 n^2 more where hosts are slow on every
// message. Time is O(n^2).
package linkage
