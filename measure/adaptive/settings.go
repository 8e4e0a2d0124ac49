package adaptive

import "fmt"

// Settings of a discovery. Nil and the zero value mean all defaults.
type Settings struct {
	// Seed is that of the random choices. The same seed and the same readings give the
	// same result.
	Seed uint64

	// Hints says of each host which others are likely next to it: those of the same
	// number, as the ranks of one node. Below 0 is none. A hint saves readings where it is
	// right; it is verified by a reading, and costs that where it is wrong. Default: no hints.
	Hints []int

	// MostAllPairs is the most hosts of which all pairs are read where they turn out to be no nested groups of equal
	// links. Default 2048.
	MostAllPairs int

	// MaxReadings bounds the readings. Default 0: no bound.
	MaxReadings int
}

func (s *Settings) validate(hosts int) error {
	switch {
	case s.Hints != nil && len(s.Hints) != hosts:
		return fmt.Errorf("adaptive: Settings.Hints: of %d hosts: want of %d", len(s.Hints), hosts)
	case s.MostAllPairs < 0:
		return fmt.Errorf("adaptive: Settings.MostAllPairs: %d: want at least 0", s.MostAllPairs)
	case s.MaxReadings < 0:
		return fmt.Errorf("adaptive: Settings.MaxReadings: %d: want at least 0", s.MaxReadings)
	}
	return nil
}
