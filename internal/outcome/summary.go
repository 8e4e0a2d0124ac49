package outcome

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
)

// margin is how close a number is to the printed one to count as repeated.
const margin = 0.10

// summary is the row of all that the source prints; nil if it prints nothing.
func (o *Outcome) summary() []string {
	var off []float64
	within := 0
	for _, s := range o.Sections {
		for _, c := range s.Compared {
			if d := math.Abs(c.Off()); !math.IsNaN(d) {
				off = append(off, d)
				if d <= margin {
					within++
				}
			}
		}
	}
	if len(off) == 0 {
		return nil
	}
	return []string{o.Name, fmt.Sprint(len(off)), fmt.Sprint(within), quantity.Percent(stats.Median(off))}
}
