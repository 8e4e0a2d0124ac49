package main

import (
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

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
