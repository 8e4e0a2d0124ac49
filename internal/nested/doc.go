// Package nested holds nested groups of hosts in flat arrays, as the search for
// them wants it. It fits the lengths of the links of such a tree to measurements.
//
// A Tree is for work under change: groups come and go by splicing, in O(1) per
// child. A Fit is the least squares solution for the lengths of its edges, without
// a matrix, in O(n^2) per step for n hosts.
package nested
