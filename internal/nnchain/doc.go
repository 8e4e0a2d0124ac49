// Package nnchain builds agglomerative clusterings by the nearest-neighbour
// chain: O(n^2) time, in place, on a full float32 matrix.
package nnchain
