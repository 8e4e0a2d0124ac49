package bcast

import (
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
)

// performOps performs steps of a schedule: pipelined, or with blocking one after the other.
func (e *executor) performOps(ops []schedule.Op, buf []byte, blocking bool) error {
	e.current.ops = append(e.current.ops[:0], ops...)
	e.lower(&e.current, e.mode(len(buf), len(ops), blocking))
	return e.run(buf)
}

// planBy is the plan that sends segments by an algorithm of the catalogue.
func (b *Broadcaster) planBy(index, segment int) predict.Plan {
	p := predict.Plan{Index: index}
	p.Algorithm, p.Segment = b.catalogue[index], segment
	return p
}
