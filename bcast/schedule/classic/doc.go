// Package classic has broadcasts of the literature that win on no machine that was tried, with one or several ranks per
// host: they are within 2 % of the best of schedule.Algorithms at most. They are here for comparison and for the papers.
//
// Each is right by schedule.Check, as all algorithms are, and can be given to bcast.Settings.Algorithms.
package classic

import "github.com/topocast/topocast/bcast/schedule"

// Algorithms returns one of each algorithm with its default settings. schedule.Leaders belongs to them, though
// schedule.Magpie2 is made of it.
func Algorithms() []schedule.Algorithm {
	return []schedule.Algorithm{
		Bine{},
		TwoTree{},
		ScatterRing{},
		ScatterDoubling{},
		schedule.Leaders{},
		MagPIe{},
		MagPIe{Pipelined: true},
	}
}
