// Package pingpong times round trips between two ranks: the measurement of one
// pair that measurements of latencies are made of. It sees to what spoils such
// measurements: clocks too coarse (batches), their cost (calibration), and moments in
// which something else runs (lots that are taken again).
package pingpong
