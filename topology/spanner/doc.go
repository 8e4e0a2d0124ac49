// Package spanner finds how hosts are wired to each other directly, without
// switches, as in rings, tori and meshes: which of the n(n-1) arcs are links, and
// which latencies are sums along paths.
//
//	result, err := (&spanner.Witness{}).Reconstruct(latencies)
//
// There are two methods.
//
// GreedyCycle is that of Bannikov and Salnikov 2014, section 2.1. Stage 1 spans
// the hosts: from the nearest pair it collects the group on the same shared memory.
// It goes up along the shortest arc to a host not seen before, down along ever shorter
// arcs, and begins again. Stage 2 closes cycles: in turn from each host, every arc that is
// shorter than the shortest path there is becomes an arc of the graph. Measurements
// have no tolerance there: with 1 % of noise a torus of 1024 hosts gets two hundred thousand
// false arcs, and an overhead at the ends of messages gives a complete graph.
//
// Witness is the form for real measurements. A pair is a link unless some third
// host, the witness, explains its latency: both legs strictly shorter, and their sum
// within a tolerance that follows from the noise. That is stage 2 without
// an order, so that one measurement that is off does not change what follows. Before, what every
// message pays at its ends is estimated and taken out; afterwards single
// measurements that are missing or far too high, and hide a link, are mended from their
// neighbours.
//
// Matrices are directed, and so are the graphs. A channel of which one direction is
// slower than the other is simplex, which speaks of a fault or of routing: warnings name
// it. Hosts on switches give a full mesh per switch, which the warnings say; package linkage
// is for those. GreedyCycle.ReconstructSizes merges what is found for several message lengths.
package spanner
