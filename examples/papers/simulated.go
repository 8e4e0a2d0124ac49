package main

import (
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

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
