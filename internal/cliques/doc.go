// Package cliques searches undirected graphs for cliques.
//
// Rows of the adjacency matrix are bit sets, so an intersection of
// neighbourhoods costs n/64 words. Both searches are exponential in the worst
// case, and take a limit on their recursion steps; within it they give the same
// answer on every run. As steps cost more on larger graphs they also say how many
// words they looked at, for callers that search many times.
package cliques
