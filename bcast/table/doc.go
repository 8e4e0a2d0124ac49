// Package table keeps how broadcasts are done best, as plain data: which algorithm, in which
// segments, for which size, root and job, and the times that say so.
//
//	t, err := table.Of(network)
//	...
//	if tuning := t.Find(job); tuning != nil {
//		choice, ok := tuning.Choice(len(buf), root)
//	}
//
// A Table is a section of the network file (Of, Table.Keep): a Broadcaster that finds its job in it
// starts tuned.
//
// The package touches no communicator, and knows algorithms by their texts only.
//
// # Design
//
// What a tuning holds for. Times depend on the library, on where each rank runs and
// on the wiring. So a Job is the library with its version and a fingerprint of the hosts and
// cores in the order of the ranks; the wiring is that of the network file, which loses its
// table when it is measured anew. Any other job finds nothing and tunes for itself: that a
// plan was faster elsewhere is no proof that it is not slower here. The price is that a job on
// other hosts of the same kind starts untuned.
//
// What a Choice says. Algorithms are named by their texts ("multilevel[flat chain]"), which whoever
// reads the table compares with those of the algorithms that he has. A choice of one that is gone is
// none, and does no harm. Groups that a choice follows and that are not the network's are in the table as
// lists of ranks (Topology): by their names alone a later job could not tell whether they are still the same, and it
// may not have the file that they came from. The price is a number per rank and level.
package table
