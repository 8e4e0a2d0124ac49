// Package compare holds a measured machine against its specification, or against
// an earlier measurement, and names what to look at first.
//
//	links, err := compare.Links(measured, reference, nil)
//	for _, f := range links.Findings { ... }
//
// Links compares two graphs of which each may have been measured with other ranks, in
// other order. Both are cut down to the same hosts by name. The latencies of the
// reference's links are fitted to the measured ones (package latencyfit), and each link is held against
// those of its class: what all links have in common, another library or another load, is no
// finding. It finds links that are slow or missing, hosts that are slow, plugged
// in elsewhere, or odd. Where a reference has several ways that are equally short, as fat trees
// have, latencies show bundles of links only, and those are compared.
//
// With the confident groups of both sides Links compares these, too, by their sets, as Groups does by itself. There is
// one list of findings. Each says what differs and why, in words, which is what texts, files and exit statuses are made of.
//
// Similarity is the measure of Bannikov and Salnikov 2014, section 2.3, of machines whose hosts are wired to each other.
//
// Latencies say nothing of links that no shortest path takes, and single links of a fat tree
// do not show.
package compare
