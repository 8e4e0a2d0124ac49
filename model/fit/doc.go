// Package fit makes a [model.Network] of a reconstruction and of timed transfers.
//
//	fitted, err := fit.Network(found, observations, nil)
//	seconds := fitted.Network.Time(src, dst, 1<<20)
//
// An [Observation] is a set of transfers that were timed while they were under way together; the packages below
// measure return them. [Update] renews the parameters of a network whose wiring is known. The latencies of single
// links are what package topology/latencyfit fits.
//
// # Method
//
// Single messages give the parameters of the levels: medians per size, made to rise with the size. All long transfers
// together give bandwidths and how links are shared. These are least squares on the logarithm of measured over predicted
// times, with Huber weights and the steps of Levenberg and Marquardt.
//
// Sharing is fair, or links are coupled, from fair (0) to the asymmetric property of Zhu et al. 2014 (1).
// Coupling is kept only if it predicts patterns better that the fit has not seen. What both directions of a link, or
// of a connection, share is looked for where transfers both ways stay unexplained, and kept by the same rule.
//
// Few links of a machine carry a long message while it is measured. The others get the bandwidth that is typical of
// their level, and the mark Arc.Estimated. A link of which the transfers tell a lower bound alone has this mark, too: other
// links of the routes may have held the transfers up.
//
// # Limits
//
// Intervals come from patterns that were held out of the fit, not from its residuals: those lack the errors of the
// parameters. The price is five more searches.
package fit
