// Package zhu is the communication model of J. Zhu, A. Lastovetsky, S. Ali, R. Riesen and
// K. Hasanov, Asymmetric communication models for resource-constrained hierarchical Ethernet
// networks, 2014, to the letter: Algorithm 1 (Model.Rates) and Algorithm 2 (Model.Times). It is
// there to check the paper's figures and to compare with; programs predict with
// model.Network, which knows start times, latencies, bounds and any graph.
//
//	times, steps := zhu.Model{Asymmetric: true}.Times(capacity, flows)
//
// # Method
//
// A channel is one direction of a NIC or of a backbone, with a capacity. The congestion factor of a
// flow is the most, over the channels that it crosses, of flows there per capacity (eq. 2);
// its reverse factor the same over the opposite channels (eq. 4). Algorithm 1 takes the flow
// of the highest key (eq. 7). If its own direction is the more congested one, it gets an equal share of what
// the flows rated before have left there (fairness property). If the opposite one is, and
// those rated before use it up, it gets the rate of the fastest of them (asymmetric property); if
// not, that channel no longer counts for it, and it goes back to the queue. Algorithm 2
// lets all flow until the first is complete, and rates the others anew.
//
// # Limits
//
// The printed algorithm can promise up to twice as much as a channel has. Its result may depend
// on the order of flows: the tests have two cases. It knows no latency and no start
// times, and costs O(flows^2) per step. How we read the places that are ambiguous is said at Model.
package zhu
