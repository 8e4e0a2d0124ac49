// Package check finds the bad node or cable of a machine without reading all pairs of hosts:
//
//	found, err := check.Measure(ctx, comm, &check.Settings{Graph: network.Graph(), Routing: network.Settings().Routing})
//	...
//	for _, suspect := range found.Named() { ... } // on rank 0, where found is not nil
//
// # Method
//
// A pair tells three times: half the round trip of a short message, and a long message
// each way, answered by a short one. That a way is slow in one direction shows in the long ones.
//
//  1. Screening: 8 rounds of disjoint pairs measure all hosts. With a graph each round is chosen so that all links are
//     measured soon (optimal design; Fedorov 1972), and that no link of a healthy machine gets more than it can carry:
//     measurements do not disturb each other.
//  2. What measurements of one length usually take is their lowest common level: faults make them longer, never shorter.
//     What all measurements of a round have in common is the load at that time, and is taken out. What a measurement takes
//     beyond is held against each link's latency, each direction's rate and each host that it crossed, by matched filters
//     of clipped excesses. The best 16 are kept, one after the other, each by what those before leave (matching pursuit;
//     Mallat and Zhang 1993), and among them those of which single measurements are far off most often.
//  3. Narrowing: 32 rounds measure pairs through those again, and as many others to compare with. After 8 of these rounds the
//     hosts and links are looked for again of which measurements are far off most often. The rounds that follow test them.
//  4. Each of them is tested by its new measurements less the controls of the same phase of the same round, one
//     difference per phase. Controls are measurements that do not lead by the suspect, of the same length if there are any. Of controls
//     of other lengths the load counts by the share of the time that links make (pair by pair). A test tells
//     whether it is slower than the tolerance (signed ranks; Wilcoxon 1945), or more often far
//     slower than the controls are (Fisher 1922), as what comes and goes is. P-values are corrected for both tests and
//     the number tested (Bonferroni). What is named is taken out before the next is ranked. What crosses a place that is slow now and then
//     tells of no other place afterwards. Scores are clipped, so they tell where something is slow. Whether that is all of a host's short
//     messages or an equal part of each, as its overhead is, follows from what leaves less unexplained. Hosts that differ from each
//     other by more than noise raise the bar for hosts, and for links that few hosts cross. The tested host has no part in that.
//     What was not slow before some round and is from then on is told with that round (Finding.Since). One that begins after 16 rounds
//     is named only if it is tested for another reason.
//  5. A host whose short messages fit another switch than its own hangs there: it is named for that. The routes are those of the graph
//     with its cable there. Under load it is the host whose transfers fit better if all rounds are worked out again with its cable there.
//
// A rank that stands still for a while, as a process does that loses its core, spoils one sample of a measurement. The
// median or the lower quartile of the samples counts.
//
// Of 1,024 hosts that is less than 1 % of the pairs, each repeat counted, and as many
// rounds whatever the number of hosts. BenchmarkFind has the figures.
//
// # Under load
//
// With Settings.Load it finds what passes alone and fails together. These are switches that carry less than their
// links, one bad cable of two, and one direction of an uplink. These are also hosts with half-duplex cards, and two hosts
// that slow each other down. In each of 64 rounds every host sends to one other and receives from one other. Some rounds are of
// neighbours, and fill cables and the switches of hosts. In the others each sender takes the receiver whose route fills best what was
// filled least so far.
//
// What a transfer should take is what fair sharing makes of its round (package contention). No network shares that
// fairly, so like is compared with like: transfers whose rates are bounded by a link of the same kind with about as many
// sharers. Over links between switches that are nearly as narrow as cables, transfers are compared with each other only. Screening, ranking and tests are as above, with 20 rounds to screen. The candidates that were picked first are corrected
// least (weighted Bonferroni; Genovese, Roeder, Wasserman 2006). Where a round has no controls that are alike, others may differ by
// half without a finding. Transfers over a link or switch that has room have to take half of the tolerance longer. When a
// suspect is named, all rounds are worked out again with it as slow as it is: others have more of their links then. Hosts
// that seem slow rest in a third of the later rounds, which tells two that disturb each other from two slow ones.
// BenchmarkUnderLoad has the figures.
//
// # Watch
//
// Sample takes few pairs, the same in each run, AppendRun keeps them in one file per site, and Watch
// tells steps: of pairs, of hosts and of links. What all series of a run have in common is
// taken out. The last 2 to 12 samples of a series are compared with the level of all samples before them. Each lies off that level by
// some sigma, of which 3 count at most. Their sum has a known variance. Its threshold holds the rate of false alarms although
// few samples know their sigma badly: it is higher while runs are few, or where series are unequally noisy. The rate of false alarms is that of a run: half of it is shared by all pairs, and half by all hosts and links
// (Bonferroni). One outlier tells nothing: a step takes two runs at least. The host or link that explains most is told first. Its
// change is that of its pairs less that of all others: where half of the pairs cross a link, what the run has in common
// holds a part of the link's change. What it explains is taken out, and so is again what the series of a run have in
// common. What changes in most pairs at once is taken for the run's.
//
// # Limits
//
// A host, its network card and its only cable are crossed by the same messages: they are one
// suspect. So are links in series (Suspect.Same). What is slow to most measurements of one length
// is taken for the machine's own. Links that no route leads over are not measured
// (Result.UnreadLinks): where routing is by lowest number, all but one spine of a fat tree. A
// full mesh hides its cables: of n(n-1)/2 of them, each with one pair, 1 % of the pairs read 1 %.
// A link wider than a host's needs several pairs at once to be filled; where there are too few
// hosts its rate is not measured (UnreadDirections), but its latency is. Short messages tell no
// directions: that would take clocks that agree. A long message may take four latencies: what a slow latency may explain is no slow rate.
//
// Without a graph only hosts can be named, against those with names next to theirs. Pairs
// near each other are not measured at once, as they may share links: more rounds of fewer pairs. A host
// is named only if two thirds of its measurements are slow. One at the end of a rack has half of its
// neighbours in the next.
//
// Fewer than ten hosts tell badly by how much healthy ones differ. Where a host seems slow and the difference may be that of
// healthy hosts, none is named, and a warning says so (Result.TooFew). Without a graph the same holds where pairs
// differ by more than twice the tolerance: the wiring may be the cause.
//
// # Design
//
// Rank 0 takes all decisions. It asks an oracle for the measurements of each round: in a job the ranks answer, in tests a
// simulation does. The price is that rank 0 tells all ranks each round: some 16 KiB for 1,024 of them.
//
// The files follow the method. The files wiring and candidates say what can be slow, and plan chooses the pairs of a round. The
// file measurements keeps samples, transfers tells what they should take, and classes finds what is usual. The file judge ranks,
// difference tests, and chance has the tests. The file cabling looks for hosts that hang elsewhere, and couples for two that
// disturb each other. The file find leads the rounds, and result puts together what they have found. The files of watch use wiring
// and candidates only.
package check
