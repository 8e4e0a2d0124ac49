// Package stats holds the few statistics that gonum's stat package lacks: order
// statistics in linear time, spreads by medians, intervals of a median, and the peaks of a
// kernel density estimate.
//
// Everything is deterministic; inputs hold no NaN, but for SortedFinite and MedianCells.
package stats
