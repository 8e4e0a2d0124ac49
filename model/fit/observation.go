package fit

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model"
)

// An Observation is a set of transfers that were timed while they were under
// way together; a single transfer is one too.
type Observation struct {
	Transfers []model.Transfer
	Seconds   []float64 // how long each took, from its Start on

	// Streamed says that each transfer went as several messages, the next of which asked for consent while the
	// last one flowed: no handshake shows in its time.
	Streamed bool
}

func checkObservations(observations []Observation, ranks int) error {
	for i, o := range observations {
		if len(o.Transfers) == 0 || len(o.Transfers) != len(o.Seconds) {
			return fmt.Errorf("observation %d: %d transfers, %d times: want as many of each, and one at least", i, len(o.Transfers), len(o.Seconds))
		}
		for k, t := range o.Transfers {
			switch {
			case t.Src < 0 || t.Src >= ranks || t.Dst < 0 || t.Dst >= ranks || t.Src == t.Dst:
				return fmt.Errorf("observation %d: transfer %d (%v): want two different ranks in [0, %d)", i, k, t, ranks)
			case t.Bytes < 0:
				return fmt.Errorf("observation %d: transfer %d (%v): want a size of at least 0", i, k, t)
			case !(o.Seconds[k] > 0) || math.IsInf(o.Seconds[k], 0):
				return fmt.Errorf("observation %d: transfer %d (%v): took %g s: want above 0 and finite", i, k, t, o.Seconds[k])
			}
		}
	}
	return nil
}
