// Package topology holds what is known of a machine's wiring.
//
// A Graph is the wiring itself: hosts (ranks, cores or nodes, as they were
// measured), switches, and directed arcs with latency and bandwidth between
// them. A Hierarchy is the nesting of hosts in groups - cores in sockets, hosts
// in racks - along which schedules and broadcasts run. A Result is both, as
// somebody found them, with how well they explain the measurements; a Reconstructor
// is who finds them. None of these changes once it is built.
//
// Who just wants the wiring of measured latencies calls
//
//	result, err := linkage.Reconstruct(latencies)
//
// The packages below this one, each with a manual of its own, import it, and it
// imports none of them:
//
//	linkage     nested groups by our robust method, the default
//	clique      switches from cliques of equal latency (Bufe 2014)
//	spanner     hosts wired to each other: greedy cycles (Bannikov and Salnikov 2014), witness spanner
//	cluster     clustering on a matrix of distances
//	latencyfit  latencies of the links of a wiring that is known
//	compare     a measured machine against its specification, suspects first
//	cut         bisection, and hosts on two sides of a switch
//	encode      the files in which all this is written and read
//
// What this package does itself needs nothing but a graph:
//
//   - Paths and Routes find the shortest ways; Routes are fixed, one per pair of
//     hosts, as networks have them, and Paths trees of all of them from one vertex.
//   - Channels joins the directions of links to draw them (Bannikov
//     and Salnikov 2014, section 2.2).
//   - Join puts models of nodes into the model between nodes (Bufe 2014, section 2.7).
//   - NewResult gives a graph that a method has found its groups, its family, and
//     its fit to the measurements.
//
// All functions are pure: the same input gives the same output, byte for byte,
// and none sees a communicator. Vertices are numbered, hosts first; latencies are
// seconds, bandwidths bytes per second, and NaN is what is not known.
//
// Latencies do not tell everything. A switch between switches cannot be told from
// a full mesh of its neighbours, nor one switch from direct links between all its hosts.
// Of a switch with two links nothing shows. The Warnings of a Result name the
// switches of the first kind.
package topology
