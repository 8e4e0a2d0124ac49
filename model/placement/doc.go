// Package placement decides which rank of a job runs on which core of a
// machine that a model.Network describes. The ranks of the network are the
// places: place[r] is the one that rank r of the job gets.
//
//	place, err := placement.ByTraffic{}.Place(network, traffic) // by who talks to whom
//	placement.WriteRankfile(file, network, place)             // for mpirun --rankfile
//
// Servet places without knowing who talks to whom, by what cores share. Orient
// chooses the order of ranks in a grid.
//
// # Design
//
// ByTraffic minimises the sum of the times that the messages of the traffic take
// alone: that sum can be brought up to date in the degree of a rank when two
// ranks change places, which a prediction with contention cannot.
package placement
