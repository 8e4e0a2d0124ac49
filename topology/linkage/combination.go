package linkage

import (
	"fmt"

	"github.com/topocast/topocast/internal/measured"
)

// A combination is what is odd about the measurements.
type combination struct {
	measured.Quality
	confident int        // groups that are confident in spite of pairs never measured
	doubtful  int        // groups that would be confident if no pair were missing
	slow      []slowHost // whose measurements were corrected
	timeless  bool       // all measurements are zero
}

// warnings tells what was odd about the measurements.
func (c *combination) warnings(n int) []string {
	var w []string
	pairs := n * (n - 1) / 2
	if c.timeless {
		w = append(w, "every latency is zero, which tells nothing of how the hosts are wired")
	}
	if c.Holes > 0 {
		text := fmt.Sprintf("%d of %d pairs of hosts were not measured", c.Holes, pairs)
		switch {
		case c.doubtful == 1:
			text += ": too many for one group, which is uncertain for that"
		case c.doubtful > 1:
			text += fmt.Sprintf(": too many for %d groups, which are uncertain for that", c.doubtful)
		case c.confident == 0 && 10*c.Holes > 3*pairs:
			text += ": too many for groups to be sure of"
		}
		w = append(w, text)
	}
	if c.Negative > 0 {
		w = append(w, fmt.Sprintf("%d pairs of hosts have negative latencies, taken as zero", c.Negative))
	}
	if text := slowWarning(c.slow); text != "" {
		w = append(w, text)
	}
	if a := c.Asymmetry; a.Pairs > 0 {
		w = append(w, fmt.Sprintf("%d pairs of hosts differ by more than %.0f %% between their directions, most of all %d and %d by a factor of %.3g; the faster direction was used",
			a.Pairs, 100*(measured.AsymmetryTolerance-1), a.Worst[0], a.Worst[1], a.Ratio))
	}
	return w
}
