package throughput

import (
	"fmt"

	"github.com/topocast/topocast/internal/words"
)

// warn says what is weak.
func (c *campaign) warn() {
	r := c.r
	missing, bounded := make(map[target]int), make(map[target]int)
	for _, l := range r.Links {
		switch {
		case !(l.Rate > 0):
			missing[l.what]++
		case l.AtLeast:
			bounded[l.what]++
		}
	}
	if r.Stopped != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the measurement was stopped by the %s after %s", r.Stopped, words.Count(r.Steps, "step")))
	}
	for _, what := range []target{nodeNode, nodeSwitch, switchSwitch} {
		if n := bounded[what]; n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s may be faster than measured: what loads them carries no more", what, words.Count(n, "direction")))
		}
		if n := missing[what]; n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s were not measured", what, words.Count(n, "direction")))
		}
	}
	for _, s := range r.Switches {
		if s.All > 0 && !s.Parallel {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s does not carry all its hosts at once: %.0f %% of what parts of them come to", c.g.Name(s.Vertex), 100*s.All/(s.Alone+s.Rest)))
		}
	}
}
