package throughput

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology/cut"
)

// maximum measures what each switch carries from one side to the other. Its links are put on two sides of
// about as many hosts (Bufe 2014, section 2.3.4).
func (c *campaign) maximum() error {
	var loads []*load
	for s := c.g.Hosts(); s < c.g.Vertices(); s++ {
		left, right, err := cut.AtSwitch(c.g, s)
		if err != nil {
			return err
		}
		l := &load{from: s, to: -1}
		for i := range min(len(left), len(right)) {
			l.pairs = append(l.pairs, [2]int{left[i], right[i]})
		}
		if len(l.pairs) > 0 {
			l.messages = c.messages(len(l.pairs))
			loads = append(loads, l)
		}
	}
	first := len(c.r.readings)
	var limited []string
	least := math.Inf(1)
	err := c.takeLinks(maximum, loads)
	for i := first; i < len(c.r.readings); i++ {
		x := &c.r.readings[i]
		way := 0
		if x.From < 0 {
			way = 1
		}
		s := c.switchOf(max(x.From, x.To))
		s.Maximum[way], s.AtLeast[way] = x.Rate, !(x.Rate < full*c.bound(x.Pairs, -1))
		if !s.AtLeast[way] {
			least = min(least, x.Rate)
			if name := c.g.Name(s.Vertex); !slices.Contains(limited, name) {
				limited = append(limited, name)
			}
		}
	}
	if limited != nil {
		c.r.Warnings = append(c.r.Warnings, fmt.Sprintf("from one side to the other of %s pass down to %s, less than the links carry: a switch there is the limit, which predictions leave out",
			words.List(limited), quantity.Rate(least)))
	}
	return err
}
