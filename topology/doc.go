// Package topology holds what is known of a machine's wiring, and works it out
// from measured latencies.
//
// A Graph is the wiring itself: hosts, switches, and directed arcs between
// them. A Hierarchy is the nesting of hosts in groups - cores in sockets,
// hosts in racks - along which schedules and broadcasts run. A Reconstructor
// makes both from matrices of latencies; most readers need only
//
//	result, err := (&topology.Linkage{}).Reconstruct(latencies)
//
// CliqueSwitch and GreedyCycle are the methods of Bufe 2014 and of Bannikov
// and Salnikov 2014, Witness the second in a form that stands noise; Merge joins what
// they find for several message lengths. FitLatencies works out the latencies of a
// known wiring's links, Compare and CompareGroups hold a measured machine
// against its specification, Join puts models of nodes into the model between
// them, Bisection and MaxSwitchPartition divide a machine.
//
// The package never sees a communicator. All its functions are pure: the same
// input gives the same output, byte for byte.
//
// # Design
//
// Linkage proposes groups and judges them in two steps that share no
// assumption. Proposing takes one figure for the noise and a price for each level, which like groups
// share; that finds groups even where 5 % of noise meets steps of 15 %, and pairs among hundreds of
// hosts, but on real machines it also finds groups in
// the distances of meshes and rings, as no single figure exists there (1 to 40 %
// inside one class). To group the latencies first, as Bufe does, fails at a thousand
// hosts with 2 % of outliers. Its speed and memory come from one
// float32 per pair: 16384 hosts take 1.6 GiB.
//
// Judging takes three pure functions. Evidence (linkage_evidence.go) holds a group against its nearest
// outsiders: how large the step is, how far readings inside and to the outside overlap, how differently
// members see an outsider; in ln units and counts, without a threshold. Nearest
// are the outsiders that half of the members say are, and the other half is read: with single readings a
// hundred members and two thousand outsiders make any group look weak, and a wide lasting spread, as
// in a cloud, does so in small ones. Support (linkage_support.go) is the least grade of the evidence; its
// thresholds stand in one table with what each buys. Siblings (linkage_siblings.go) have a say last: a level of
// a machine shows in more than one place, and no group is firm while one more host is
// nearer to it than to all else. On machines unlike those that chose the thresholds a firm
// group may be one that no manual lists. Of 1,240 machines of 62 families that they were not chosen on
// 97.7 % come out fully right, and 4 of 19,953 firm groups do not exist (BenchmarkLinkageFamilies/held; the
// judgement before, of eight logistic curves of single readings: 86.9 % and 311).
//
// Hosts that are slow to all others alike, and hosts with unequal links, look like outsiders of their own group.
// What they add shows in all their readings, near and far, and is taken out first
// (linkage_slow.go, linkage_unequal.go): with links unequal by 30 % one round of that finds 79 of 100 trees,
// three find 98. Repetitions tell the noise and so bound what noise may
// excuse; to let noise alone make a group firm was tried and invents groups.
//
// Left out of the judgement, as the thirteen numbers behind them changed no verdict that could be
// measured or made things worse: the ratio of the step to the spread on both sides, the share of resamples in which a
// group comes back (ten times the time), dropping weak groups where none is firm and the four points
// fail, and how far readings inside go up.
//
// Where pairs are missing, the readings that are there set off what is no group: either half
// of a block whose halves were not compared, two blocks as one. A group is
// therefore firm only if readings refute its rivals (linkage_gaps.go), which asks less than all
// pairs, as groups that hold together speak for their members. It asks more than
// most machines need: of pairs of ranks that never met none can be firm, though
// all the machine's groups are pairs, as nothing is taken from group to group. In
// BenchmarkLinkageGaps, 21 kinds of machines of 30 to 130 hosts with 22 kinds of gaps and
// eight of noise, 19,912 of 93,068 firm groups did not exist without that; with it 6 of 48,903,
// all of one kind of gap on one machine.
//
// A tree is given up for a line, ring, torus or mesh only if the other graph has
// few links and leaves a third less to explain: a full mesh explains everything. A line
// of hosts satisfies the four points and is looked for where one switch fits badly; beyond
// some 16 hosts its ends may pass for groups.
//
// Both papers find direct links in the same way: a pair is a link unless a path
// over others is as short. Taken in order of length, as printed, one reading
// that is off changes what follows. Here a pair is a link unless some third
// vertex explains it, legs strictly shorter, sum within a tolerance
// (witnessSpanner). That needs no order, parallel rows give the same result, and
// the strict legs keep what is connected connected. The price: a reading that is
// far too high, or missing, hides its link. mendedSpanner looks for such links
// afterwards; it finds most of them.
//
// Bufe's text leaves some things open. CliqueSwitch works through latencies
// ascending and begins again at the lowest after each that gave switches (from the
// top, table 2.2 gives ten switches); takes the largest clique first, of equals the
// smallest list of vertices; makes cliques of hosts alone or of switches
// alone; hands a neighbour's links over to the switch if they are equal
// within tolerance, the rest stays. Virtual edges go after every insertion. An edge
// is virtual only if both legs are shorter: with a tolerance two edges of a flat
// triangle would each explain the other.
//
// The tolerance between switches is counted in standard errors of the medians
// that their distances are made of, not in percent: a switch of three hosts and one
// of forty need different ones, and readings of 5 % noise still do.
package topology
