// Package model predicts how long messages take.
//
// A [Network] is what an application keeps of a machine: its wiring, its
// hierarchy, the parameters of each level, and where the ranks ran. It is made
// once per machine, from measured times or from a reconstruction alone, and
// stored in one file. The one call is [Network.Time]:
//
//	n, err := model.Load("network.json")
//	seconds := n.Time(src, dst, 1<<20) // a few nanoseconds, no allocation
//
// Transfers that are under way together share links. [Network.Predict] says
// when each is complete; a [Predictor] answers faster and what if: another job
// ran too, an uplink had half its bandwidth, ranks were elsewhere. Package
// model/fit makes a network whose predictions hold for a measured machine, with intervals.
// [Network.View] is the part that a job got.
//
// The package never sees a communicator, and a Network never changes, so all
// goroutines may ask one Network at the same time.
//
// # Method
//
// A message of m bytes takes L + g(m): latency and gap of the parametrised LogP model
// (T. Kielmann et al. 2000; Reinfjell 2023, sections 2.2.4 and 3.1), given per level of the
// hierarchy at some sizes and linear between them; its relatives LogGP and Hockney are conversions
// (table 2.1, eq. 2.3). On machines that are no tree the latency is that of the shortest path.
// Concurrent transfers begin to flow after the latency of their route and the handshake that a library
// makes before long messages, which shows in the times of single ones. Then they share the links of the route
// as package contention fills them, fair or by the asymmetric property of Zhu et al. 2014. How messages slow down under load of
// the whole machine is Servet's two ratios ([Degradation]; Gonzalez-Dominguez et al. 2013, section 4).
//
// # Limits
//
// Time is that of one message on a silent machine. Predictions are of transfers that flow
// steadily, of some 100 kB and more. Routes are
// fixed: adaptive routing is not modelled. Which of several equally short ones is taken fit.Network learns from patterns. Where nothing long was measured, times of long messages
// are NaN, and links that no transfer crossed carry what is typical of their level, with the mark Arc.Estimated.
//
// # Design
//
// Parameters are kept per level of the hierarchy, not per pair: a table of
// pairs of 16,384 ranks has 268 million entries. A group whose latency differs
// from its level's typical one keeps the difference. Links of a tree may differ: a slow host, a rack
// of faster ones. Time then adds what the pair's own route differs by from the typical one. It does so beyond 10 % of
// the latency and 5 % of the bandwidth, within which equal links are measured. On machines that are no tree the
// latency between two hosts is the length of the shortest path in the graph. It is
// worked out once per source that is asked for, over the switches only. The bandwidth is that of the slowest link on it.
//
// Rates come from progressive filling over directed channels (package contention),
// not from the printed algorithm of Zhu et al. 2014 (examples/papers/zhu), which can promise more
// than a link has; where it does not, both agree on what the paper prints.
//
// The asymmetric property is a strength from 0 to 1, not a law of its own: real machines lie in between. One strength
// holds for all links of a network. Two classes of links gained a point at most.
//
// Only confident groups decide (topology.ConfidentFrom): a third of the uncertain ones that reconstructions propose do not
// exist. New cuts them from the hierarchy, the levels and the graph of a tree, and nothing else has to. Reconstruction
// and ReportedGraph show them.
//
// Where no long message was measured nothing is made up: Time is NaN beyond the size of the messages that
// gave the latencies, and Predict says so.
//
// The time of a message of the size that gave the latencies is the latency of the hierarchy. Wiring, Time, Predict and
// plans so tell one figure, which a disturbance does not reach.
package model
