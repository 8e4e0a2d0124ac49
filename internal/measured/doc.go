// Package measured is the one door through which measured matrices come in. It checks
// them, reads them and combines their repetitions by one rule (Combine). So every method refuses
// the same matrices with the same words, and begins with the same measurements.
//
//	repetitions, err := measured.New("linkage", matrices)
//	pairs, quality, err := repetitions.Symmetric() // one measurement per pair of hosts
//	cells, err := measured.DirectedOf("clique", matrices) // one per ordered pair
//
// A measurement is a latency in s. NaN is not measured; infinite ones, and those that float32 does not
// hold, are refused. The diagonal is not read. Matrices whose memory can be read (mat.RawMatrixer) are
// not copied.
//
// Both forms are immutable, so the matrices are combined once.
//
// Memory of n hosts: 2 n^2 bytes for Symmetric, 8 n^2 for Directed.
package measured
