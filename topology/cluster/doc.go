// Package cluster groups hosts by a matrix of distances: clustering methods, and measures of how good a
// clustering is. It gives second opinions on a machine whose wiring
// linkage.Robust has found, and clusters anything else of which pairwise
// distances are known. The call that most readers need:
//
//	d, err := cluster.NewDistances(latencies)
//	labels, err := cluster.HDBSCAN{}.Cluster(d)
//
// # Method
//
// It is that of Reinfjell 2023, sections 2.5, 3.2 and 3.3:
//
//  1. Distances: the predicted time t(m) of a message between two ranks
//     (equation 3.4) goes into NewDistances. Package measure/plogp makes them of a measurement, and those between
//     the ranks' profiles of all PLogP parameters (equations 3.5 and 3.6), too.
//  2. Methods that are told the number of clusters ("static"): KMedoids, and
//     Agglomerative with K.
//  3. Methods that find it ("dynamic"): HDBSCAN, DBSCAN, which has connected components as the
//     case of MinPoints 1, and Agglomerative at the widest gap.
//  4. A method that nests: Agglomerative, of which Nested makes a Hierarchy.
//  5. Scores: Silhouette and DBCV look at the clusters alone. AdjustedRand holds them against a known answer.
//
// Flat and Nested make a topology.Reconstructor of a method. The other methods that the
// thesis compares, k-means, spectral clustering, SSS and SSSTree, are in examples/papers.
//
// # Limits
//
// Nothing is judged: groups carry no confidence (NaN), and a method that always
// finds clusters finds them in noise, too. A flat clustering knows one level of
// a machine that has several. Wrong measurements are not looked for. Distances are
// symmetric, one float64 per cell: 1,024 hosts take 8 MB, and all methods O(n^2)
// time.
//
// # Design
//
// Every method is a struct of its settings and a Clusterer. Labels are
// canonical: clusters are numbered by their smallest member, so equal
// partitions are equal slices. All results depend on the distances alone.
package cluster
