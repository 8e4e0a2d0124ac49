// Package nnchain builds agglomerative clusterings by the nearest-neighbour
// chain: O(n^2) time, in place, on a full float32 matrix. Single linkage is a minimum spanning tree, which Prim grows.
package nnchain
