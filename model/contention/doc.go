// Package contention says at which rates transfers flow that share channels, and
// when each is complete. It knows channels with capacities and flows over them, and
// nothing of ranks, latencies or machines: package model translates a Network into them,
// and the simulated cluster runs on the same rates.
//
// The one call is Solver.Times: flows in, times of completion out.
//
//	solver, err := contention.NewSolver(capacity, &contention.Sharing{}) // B/s per channel; fair
//	times, err := solver.Times(nil, flows)
//
// A program whose flows come and go by its own clock calls Add,
// Remove, Solve, Rate.
//
// # Method
//
// A channel is one direction of a link. Filling raises the rates of all flows
// together until a channel is used up; its flows stop there, the others go on, until all have
// stopped: fair max-min sharing (D. Bertsekas, R. Gallager, Data Networks, section
// 6.5.2). A flow may also be a member of the channels on which its acknowledgements come back, and stop
// when one of those is used up: the asymmetric property of Zhu et al. 2014, section 5.2,
// or, with a weight of 0.05, the cross traffic of SimGrid. Real machines lie in between,
// so a coupling from 0 to 1 mixes both. When a flow ends, rates are worked out anew
// (Zhu's Algorithm 2), but only where the change reaches.
//
// # Limits
//
// Rates are those of a steady state: slow start, losses and queues that fill up have
// no part in it. Prediction is as good as the coupling, which fit.Network estimates from
// transfers that were timed together.
//
// # Design
//
// The algorithm as printed by Zhu et al. can promise more than a channel has; where it does not,
// both agree on what the paper prints. The incremental solver is there because solving even a
// connected component anew takes milliseconds per event with ten thousand flows. Its price is
// the bookkeeping of who stops whom in filling.go. It relaxes channels from the lowest level up
// instead of filling again from where something changed. Nearly all visits change the level of a channel,
// and not which flows it stops. So channels have levels and progress, and flows have neither: the cost of an event
// grows with the channels that it reaches.
//
// With more than 10,000 flows under way, Times tolerates that levels are off by a
// thousandth (Sharing.Tolerance). A Solver holds its working
// memory and allocates nothing once warm.
package contention
