// Package cliques searches undirected graphs for cliques.
//
// Rows of the adjacency matrix are bit sets, so an intersection of
// neighbourhoods costs n/64 words. Both searches are exponential in the worst
// case, and take a limit on their recursion steps; within it they give the same
// answer on every run.
package cliques
