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
// The package never sees a communicator. All its functions are pure: the same
// input gives the same output, byte for byte.
package topology
