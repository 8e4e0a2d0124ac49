// Package model predicts how long messages take.
//
// A [Network] is what an application keeps of a machine: its wiring, its
// hierarchy, the parameters of each level, and where the ranks ran. It is made
// once per machine, from measured times or from a reconstruction alone, and
// stored in one file:
//
//	n, err := model.Load("network.json")
//	seconds := n.Time(src, dst, 1<<20) // a few nanoseconds, no allocation
//
// The package never sees a communicator, and a Network never changes, so all
// goroutines may ask one Network at the same time.
//
// # Design
//
// Parameters are kept per level of the hierarchy, not per pair: a table of
// pairs of 16,384 ranks has 268 million entries. A group whose latency differs
// from its level's typical one keeps the difference; single pairs of ranks or
// of hosts may have parameters of their own. On machines that are no tree the
// latency between two hosts is the length of the shortest path in the graph,
// from a table over the switches only.
//
// What was not measured stays unknown: without a bandwidth, Time is NaN beyond
// the size of the messages that gave the latencies, and never a guess.
package model
