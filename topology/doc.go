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
// and Salnikov 2014, the second also in a form that stands noise; Merge joins what
// it finds for several message lengths. FitLatencies works out the latencies of a
// known wiring's links, Compare and CompareGroups hold a measured machine
// against its specification, Join puts models of nodes into the model between
// them, Bisection and MaxSwitchPartition divide a machine.
//
// The package never sees a communicator. All its functions are pure: the same
// input gives the same output, byte for byte.
//
// # Design
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
