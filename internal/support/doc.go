// Package support says how firmly readings speak for a group of hosts. linkage.Robust judges the groups of a
// whole matrix with it. From few readings measure/adaptive has a judgement of its own, and takes from here how large a
// step is to be.
//
// Evidence is what the readings of one group say, as order statistics and counts; its Support is a score in
// [0, 1], firm from topology.FirmSupport. The criteria and what each of them buys stand in support.go.
package support
