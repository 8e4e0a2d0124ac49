// Package cluster groups hosts by a matrix of distances: hierarchical and flat
// clustering, the search for good parameters, and measures of quality and
// accuracy. It is the toolbox of Reinfjell 2023 (sections 2.5, 3.2, 3.3);
// topology.Linkage is the better way to a machine's hierarchy, these are its
// second opinions:
//
//	d, err := cluster.NewDistances(latencies)
//	labels, err := cluster.HDBSCAN{}.Cluster(d)
//
// # Design
//
// Every method is a struct of its settings and a Clusterer. Labels are
// canonical: clusters are numbered by their smallest member, so equal
// partitions are equal slices. All results depend on the distances alone;
// methods that draw random numbers take a seed.
package cluster
