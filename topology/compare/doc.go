// Package compare holds a measured machine against its specification, or against
// an earlier measurement, and names what to look at first.
//
//	links, err := compare.Links(measured, reference, nil)
//	for _, f := range links.Findings { ... }
//
// There are three comparisons.
//
// Links compares two graphs of which each may have been measured with other ranks, in
// other order. Both are cut down to the same nodes by name. The reference's links are
// fitted to the latencies of the measured graph (package fit), and each link is held against
// those of its class: what all links have in common, another library or another load, is no
// finding. It finds links that are slow or missing, hosts that are slow, plugged
// in elsewhere, or odd. Where a reference has several ways that are equally short, as fat trees
// have, latencies show bundles of links only, and those are compared.
//
// Graphs is the comparison of Bannikov and Salnikov 2014, section 2.3: similarity of
// regular machines (hosts wired to each other), and for hierarchical ones the auxiliary
// graph of mean times spread over the links (equations 3 and 4), red and blue in their
// figures. Its list of suspects is ours.
//
// Groups compares two hierarchies of the same hosts by their sets.
//
// Latencies say nothing of links that no shortest path takes, and single links of a fat tree
// do not show.
package compare
