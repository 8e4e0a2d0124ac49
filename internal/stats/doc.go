// Package stats holds the few statistics that gonum's stat package lacks: order
// statistics in linear time and the peaks of a kernel density estimate.
//
// Everything is deterministic; inputs hold no NaN.
package stats
