// Package latencyfit works out the latencies of the links of a wiring that is known.
//
//	fitted, err := fit.Latencies(wiring, nil, latencies, nil)
//
// Links between switches cannot be measured from hosts; what is measured are sums
// along paths. Of all latencies of the links those are chosen whose sums along the
// shortest paths explain the measurements best (Bufe 2014, section 2.4, equation 2.8). Best is by
// least squares that measurements far off do not pull (Huber's loss). What
// the message's size costs is taken out first if Settings.Bytes says it. The shortest paths
// are looked for again with the fitted latencies until they stay.
//
// Measurements between hosts do not determine every link: a switch with two links, two
// hosts alone on a switch, and even rings give sums only (equation 2.7).
// Result.Undetermined names these links. A high R2 says little: wrong trees have one too. Look
// at the residuals of the levels.
//
// No matrix is built: trees with a host on every leaf and nothing missing take
// O(n^2), other graphs O(n) per vertex and step of the conjugate gradients.
package latencyfit
