// Package clique finds the switches of a cluster as Bufe 2014 does: hosts that
// are all equally far from each other are on one switch.
//
//	result, err := (&clique.Switches{}).Reconstruct(latencies)
//
// It is the reference form of that thesis, for small and quiet machines and to
// compare others with: one measurement outside the tolerance splits a clique, so that
// noise must stay below a sixth of Switches.Epsilon, and Epsilon below the step
// between two levels. SuccessProbability says what that asks of each measurement
// (equation 3.5). Package linkage is for real machines.
//
// # Method
//
//  1. The basic model (section 2.2.1, Algorithm 1): pairs become edges by
//     ascending latency if no path over the edges there are is as short.
//  2. Latencies are put into groups (section 2.2.3), cut at gaps as section 4.2 proposes.
//  3. The largest clique of equal latency is replaced by a switch, at half that
//     latency from each member; who sees all members alike sees the switch
//     instead (section 2.2.2, Algorithm 2). Again, until no clique is left.
//  4. Edges that a path over a switch explains are virtual and go (section 2.2.4,
//     Algorithm 3).
//  5. Kinds of hosts on one switch give a switch each, which are merged (section 2.2.5).
//
// # How the text was read
//
// Groups of latencies are worked through ascending, and from the lowest again after
// each that gave switches: from the top, table 2.2 gives ten switches. The largest
// clique goes first, of equals the smallest list of vertices; a clique has hosts only
// or switches only. A neighbour's links are handed over to the switch if they are equal
// within tolerance, the others stay. Virtual edges go after every insertion, and an edge is
// virtual only if both legs are shorter than it: with a tolerance two edges of a flat
// triangle would each explain the other.
//
// Time is O(n^3) at least; each search for a clique, and all of them together, are cut
// where they would not end, with a warning.
package clique
