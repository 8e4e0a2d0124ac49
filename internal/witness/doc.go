// Package witness tells direct links from sums along paths in a matrix of
// latencies: a pair is a link unless a third vertex, its witness, explains the
// measurement.
//
// Links is the spanner, stage 2 of Bannikov and Salnikov 2014 and Algorithms 1 and
// 3 of Bufe 2014 made independent of order. Mended is the same for measurements of which a
// few are missing or far too high. Overhead estimates what every message pays at its
// ends, which does not add up along paths. Noise estimates the spread of the measurements
// from triangles.
package witness
