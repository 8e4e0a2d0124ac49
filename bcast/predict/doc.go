// Package predict tells from a network how long a broadcast takes, and which
// is the fastest, without any communicator.
//
//	plans, err := predict.Plans(network, nil, bytes, root) // the fastest first
//	seconds, err := predict.Predict(network, schedule.Chain{}, problem)
//
// Predict plays the schedule on the links between the ranks, in the manner of
// LogGP (Alexandrov et al. 1995) with the links of groups as resources. Who asks
// often keeps an Evaluator.
package predict
