// Package steps says what each rank of a reduction sends, receives and combines, and proves it right. It touches no
// communicator.
//
//	p := steps.Problem{Ranks: 64, Root: steps.AllRanks, Tree: hierarchy}
//	parts := steps.Core{Kind: steps.Multiplying, Radix: 4}.Prepare(p)
//	list := parts(rank)(nil, values, segment)
//
// # Method
//
// A broadcast along a tree becomes a reduction when time runs backwards: every rank combines what its children send,
// and sends the result to its parent. So the trees of bcast/schedule serve reductions, too, and the fastest tree of a
// broadcast is that of a reduction. Where all ranks want the result, it is broadcast back along the same tree. A long
// vector goes in segments: while one goes down, a later one goes up, and links carry both.
//
// Three more algorithms let ranks exchange parts of the vector, for results that all ranks want: recursive multiplying
// (M. Ruefenacht, M. Bull, S. Booth, Generalisation of recursive doubling for Allreduce, 2017), and Rabenseifner's halving and doubling
// and a ring (R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, 2005). All
// ranks take part in these, or the leaders of the groups of one level: other ranks then give their leader what they have, and
// get the result from it.
//
// Check proves that the result has the values of every rank exactly once.
package steps
