// Package cut divides a machine in two.
//
// Bisect finds the halves between which the least bandwidth runs: how much one
// half of the machine can say to the other at worst. On trees it is exact; other
// graphs are searched by the moves of Fiduccia and Mattheyses 1982 from spectral
// and grown starts.
//
//	half, err := cut.Bisect(graph)
//
// AtSwitch puts hosts on two sides of a switch, such that all traffic between
// the sides passes it: between them one measures how much the switch can
// carry (Bufe 2014, section 2.3.4).
//
// Bandwidths must be known for Bisect, latencies for AtSwitch on graphs with
// several ways.
package cut
