// Package adaptive finds how hosts are grouped from the latencies of few pairs, where all pairs would take too long.
// Of 1,024 hosts it reads some 2 % of the pairs, of 16,384 some 0.1 %.
//
//	found, err := adaptive.Find(hosts, read, nil) // read measures pairs that it is asked for
//
// # Method
//
//  1. All pairs of a few random hosts, the core, are read twice. They tell the noise, the
//     levels, and by the four-point condition whether the machine is a tree (Buneman 1974). Slow hosts are left out of the core.
//  2. Hosts are placed one by one, many at once, those of the core first. A host that looks for its place reads a random
//     host of the group in which it lies. Bayes' rule tells which level the measurement is of, sequentially, until
//     the doubt is small. If the level is that of the group, the host is in another child of it. If it is less, the
//     host goes on inside. Any host of a group may answer for it, so the work of answering spreads, and as many hosts
//     look for a place as have one. Rounds grow with the logarithm of the number of hosts.
//  3. A host that belongs to no child of its group looks a second time before it becomes a child of its own.
//  4. A level counts only if it explains half of the measurements: otherwise all of them would be outliers. A level that nobody
//     knew, seen by three hosts, starts everything anew. A host that no level explains, twice, is a stray.
//  5. All measurements are held against the tree. Every two siblings must read their parent's level, and every host that of
//     its group, whichever single measurement is left out. Where doubt remains further measurements follow. Hosts that
//     contradict are taken out and placed anew.
//  6. The confidence of a group is 1 less the doubt that is left: that of the least sure relation between its children, or
//     between it and a sibling. Levels that differ by less than kinds of links do make no confident group, as in
//     linkage.Robust.
//  7. The strays are compared with the children of each group from the root on, and go where they are clearly nearest. Until
//     then they are not in the tree: they answer nobody, and nothing is judged by them.
//
// To tell any two children of a group apart takes as many measurements as there are hosts, times half the children per
// level. No method needs fewer on the whole (sorting into classes by equality, Jayapaul, Munro, Raman, Satti 2015).
//
// # Few hosts of a large machine
//
// A fragment, with a few hosts on each of many switches, takes more. Any method must read each two
// sibling groups once. If it has not, the machine in which the two are one gives the same measurements. It must
// read each host with one of its group, too. Of a random 5 % of Leonardo (250 hosts on 190 leaves of 23 cells) these pairs are
// 3.2 % of all. Of JUPITER (295 hosts, 210 leaves, 25 groups) they are 2.8 %. Where measurements may be outliers each of them
// is read twice. A host of which nothing is known finds its cell among k by (k+1)/2
// measurements in the mean, another 9.6 and 8.8 %. What is read, in the mean of 20 fragments with 3 %
// of noise and 2 % of outliers, all exact:
//
//	                     different pairs    measurements
//	Leonardo, no order            13.3 %      20.2 %
//	JUPITER, no order             12.8 %      19.2 %
//	Leonardo, in order             6.7 %      12.8 %
//	JUPITER, in order              5.9 %      11.3 %
//
// In order means Settings.Order, such as that of the names of the hosts. A host then reads its neighbours
// first, which mostly tells its cell at once. The order is no evidence. With a wrong order the result
// is what it is without (BenchmarkWirings).
//
// # Limits
//
// Levels are those of the machine, not of single groups: groups of one kind differ in latency by less than 7 %.
// Links that are unequal by more than some 10 % of the lowest latency, and what is no tree, are read by all pairs. Of more than
// 2,048 hosts that is an error. Hosts that are slow
// on every message are put where they are nearest, whatever the factor, and named by a warning. Of 300 machines with three of them
// none had a confident group that lacks one, with five of them one. One or two hosts far from all others look the same.
// Groups of hosts that no measurement has met by chance, as pairs inside one switch of many, may be missed where they are rare.
// Hosts side by side in a group that is not of the finest level are compared each with each.
//
// # Design
//
// The planner sees no communicator: what is claimed of it is shown on simulated machines of any size. Levels are global,
// as a level that is known makes most decisions after one measurement. Levels that nobody knew come up early, when a small part is
// placed.
package adaptive
