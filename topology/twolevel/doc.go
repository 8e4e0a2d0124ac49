// Package twolevel reconstructs clusters of machines with several cores in two
// steps, the inside of the nodes apart from what is between them, and joins
// both (Bufe 2014, section 2.7):
//
//	r := &twolevel.Reconstructor{Nodes: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}}
//	result, err := r.Reconstruct(latencies)
//
// It takes few readings: inside each node, between one rank of each node, and
// between the ranks of a node and one outside; all others may be NaN. And it is
// right where latencies inside nodes and between them, a hundred times as long,
// would spoil each other when they are measured together (section 3.3.4).
package twolevel
