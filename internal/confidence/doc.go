// Package confidence works out the confidence in a group of hosts. linkage.Robust judges the groups of a whole matrix with it.
// measure/adaptive judges few measurements by itself, and takes from here how large a step is to be.
//
// Evidence is what the measurements of one group say, as order statistics and counts. Its Confidence is the confidence, a score in
// [0, 1]; a group is confident from topology.ConfidentFrom on. confidence.go has the criteria and what each of them buys.
package confidence
