package main

import (
	"io"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

// A stage is where an experiment plays, and for how long.
type stage struct {
	out      *outcome.Outcome // what it finds; that of rank 0 counts
	full     bool             // as many ranks and repetitions as the source has, however long it takes
	budget   *allowance       // to measure ranks of a job
	progress io.Writer        // standard error
}

// usualSettings are those of simulated ranks of which a source says nothing else: software takes its usual time, and times scatter
// by 1 %. Long messages are hollow: they take their time, and no memory.
func usualSettings(c *simnet.Cluster) *simnet.Settings {
	settings := c.Settings()
	settings.Send.Seconds, settings.Recv.Seconds = cli.DefaultOverhead.Seconds(), cli.DefaultOverhead.Seconds()
	settings.Noise, settings.Seed = simnet.Noise{Sigma: 0.01}, 1
	settings.HollowAbove = cli.DiscoverHollow
	return settings
}

// onSimulated runs work on the ranks of a simulated cluster, on those hosts or on all, and returns what rank 0 has found.
func onSimulated[T any](c *simnet.Cluster, place []int, settings *simnet.Settings, work func(mpi.Communicator) (T, error)) (found T, err error) {
	err = simnet.Run(c.Graph, place, settings, func(comm mpi.Communicator) error {
		own, err := work(comm)
		if comm.Rank() == 0 {
			found = own
		}
		return err
	})
	return found, err
}

// isSimulated says that the ranks of a communicator are simulated ones.
func isSimulated(comm mpi.Communicator) bool {
	_, is := comm.(*simnet.Comm)
	return is
}

// typical is, in s, for each pair (from, to) the median over the repetitions of one
// number of the measurements. The size is an index into Sizes. NaN is not measured. O(n^2) per repetition.
func typical(r *measure.Result, number func(x *measure.Measurement) float64, size int) (*mat.Dense, error) {
	repetitions := make([]mat.Matrix, r.Repetitions)
	for k := range repetitions {
		var err error
		if repetitions[k], err = r.Matrix(number, k, size); err != nil {
			return nil, err
		}
	}
	return stats.MedianCells(repetitions), nil
}

// drawWiring adds the drawing of a wiring as a figure.
func drawWiring(s *outcome.Section, name, title string, g *topology.Graph) error {
	picture, err := draw.Wiring(title, g)
	return s.Figure(name, picture, err)
}

// An allowance is a budget that some parts share. Each part gets its share of what is left when it begins. So all later parts
// bear what one takes too long, and share what one leaves. The zero value has no bound.
type allowance struct {
	left  func() time.Duration // until the last part is to end; nil: no bound
	parts int                  // still to come
}

// allow begins a budget now, by the clock of the ranks.
func allow(comm mpi.Communicator, budget time.Duration, parts int) *allowance {
	now := share.Clock(comm)
	start := now()
	return &allowance{func() time.Duration { return budget - time.Duration((now()-start)*float64(time.Second)) }, parts}
}

// leastShare of a budget is for a measurement when the time is over: settings want some, in which a first round is measured.
const leastShare = time.Millisecond

// next is for the next part. 0: no bound.
func (a *allowance) next() time.Duration {
	if a.left == nil {
		return 0
	}
	share := a.left() / time.Duration(max(1, a.parts))
	a.parts--
	return max(share, leastShare)
}

// split is the next part, which parts of its own share.
func (a *allowance) split(parts int) *allowance {
	if a.left == nil {
		return &allowance{}
	}
	after := a.left() - a.next()
	return &allowance{func() time.Duration { return a.left() - after }, parts}
}

// spent tells whether nothing is left.
func (a *allowance) spent() bool { return a.left != nil && a.left() <= 0 }
