// Package throughput measures what the links of a machine carry whose wiring is known:
// links between hosts, of hosts and between switches, each in both directions, and what a
// switch carries at most. All ranks call
//
//	r, err := throughput.Measure(ctx, comm, &throughput.Settings{Topology: found})
//
// r.Links has a rate per arc of the graph; fit.Network takes r.Observations()
// and r.Measured(). Uplinks are the settings for a wiring that was just reconstructed. With Settings.Network a network
// that there is already is measured again, latencies included: r.Network has what was found.
//
// # Method
//
// It follows Bufe 2014, section 2.3. A link cannot be measured by itself, but pairs of
// hosts on both sides of it can, as many as fill it. The wiring tells which pairs do not
// disturb each other; those are measured in one step, while all other ranks wait. All is done in three moves:
//
//  1. Choose loads: sets of disjoint pairs whose messages all pass a link. Those of links between hosts are
//     their two hosts; of a host's link the pairs on its switch; of a link between switches pairs on both sides.
//  2. Play steps: as many loads at once as have no host, link or switch in common.
//  3. Solve for links: a link's rate is the highest of its loads, for each shows the slowest link on the route (the thesis
//     has the minimum, a slip). It is a bound where the other links on the route explain what was seen.
//
// Three measurements tell beforehand which switches carry all their hosts at once. Where it is wanted, hosts split by
// cut.AtSwitch tell what a switch carries from one side to the other. Settings.Direct are pairs that may have a link of their
// own: whether traffic between the hosts on the route slows them down tells (section 2.2.1).
//
// Messages of a pair follow each other, two under way at a time. The receiver times their
// arrivals; the round trips before the first one are taken out, by the line through the arrivals. Of
// several pairs, what had arrived of all of them up to one moment counts.
//
// # Limits
//
// What loads a link has to be faster than it: a link that carried all that its hosts could send
// is marked as AtLeast. So is each of two hosts that are alone on a switch. So is one of two
// links in a row, where the second is not known to be faster. Two links between switches that each load needs both of get
// the rate of the slower one. Where routes are about as short, as in fat trees,
// single links between switches are not measured. Ranks that share a host share its link, too, which then
// is one between switches: as many ranks as fill it are needed.
//
// # Design
//
// A rate is taken from arrivals on one rank's clock, for clocks of different ranks need not
// agree: pairs that run together are taken to begin together, as they do within the barrier before each
// sample, a few latencies. Greetings, which take longer from far, have a barrier of their own. Rank 0 decides on
// the steps, for what was seen of hosts and switches says how to go on. All ranks
// learn in the barrier before a sample whether to go on.
package throughput
