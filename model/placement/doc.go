// Package placement decides which rank of a job runs on which core of a
// machine that a model.Network describes, before the job starts. The ranks of the
// network are the places: place[r] is the one that rank r of the job gets.
//
//	place, err := placement.ByTraffic{}.Place(network, traffic) // by who talks to whom
//	err = placement.Write(file, "rankfile", network, place)     // for mpirun --rankfile; see Formats
//
// # Method
//
// Where it is known who sends how much to whom, ByTraffic looks for the mapping in which the messages
// take the least time in all. It exchanges ranks as long as that gains. Where it is not known, Servet
// (Gonzalez-Dominguez et al. 2013, sections 3 and 4.2) spreads ranks by what cores share: each place that is
// taken makes others heavier, which share its cache, its memory or its way to the network, or
// lighter, which it reaches soon; the lightest is next. RanksPerHost is how many ranks of a host are worth having by the
// ratios of its way to the network. Orient chooses between
// the two orders of ranks in a grid by what broadcasts along its rows and columns cost (section 6.1).
//
// # Limits
//
// ByTraffic counts every message as if it was alone, and stops at a mapping that no
// exchange betters: nearly always within 10 % of the best on small machines. Servet needs to know what cores
// share: Network.Resources, levels of a known kind, or its own settings; and Network.Degradation for the
// network's share. Only confident groups count.
//
// # Design
//
// ByTraffic minimises the sum of the times that the messages of the traffic take
// alone: that sum can be brought up to date in the degree of a rank when two
// ranks change places, which a prediction with contention cannot.
package placement
