// Package anywhere starts a program on ranks wherever it runs: in an MPI job, in one process, or on a simulated cluster.
//
//	err := anywhere.Run(nil, work) // what main calls
package anywhere

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// Settings say where ranks run if no launcher has started this process. The zero value works.
type Settings struct {
	// Ranks is how many ranks run in this process. 0: one per core, or one per host of Cluster.
	Ranks int
	// Cluster is a line of the cluster language (see simnet.ParseCluster), on which ranks are simulated in virtual time.
	// "": they are goroutines, each pinned to a core.
	Cluster string
}

// Run calls work on every rank. Under mpirun or srun these are the ranks of the job, as with mpi.Run; an error or a panic on one
// rank ends the job. Otherwise they are ranks in this process, and Run returns the first error. s may be nil.
func Run(s *Settings, work func(mpi.Communicator) error) error {
	var own Settings
	if s != nil {
		own = *s
	}
	if own.Ranks < 0 {
		return fmt.Errorf("anywhere: Settings.Ranks: %d: want at least 0", own.Ranks)
	}
	err := mpi.Run(work)
	if !errors.Is(err, mpi.ErrNoLauncher) {
		return err
	}
	if own.Cluster != "" {
		return simulate(own, work)
	}
	if own.Ranks == 0 {
		cores, err := local.Cores()
		if err != nil {
			return err
		}
		own.Ranks = len(cores)
	}
	return local.Run(own.Ranks, &local.Settings{Mode: local.Pinned}, work)
}

// simulate runs work on the first hosts of a simulated cluster, one rank on each.
func simulate(s Settings, work func(mpi.Communicator) error) error {
	cluster, err := simnet.ParseCluster(s.Cluster)
	if err != nil {
		return err
	}
	hosts := cluster.Graph.Hosts()
	if s.Ranks > hosts {
		return fmt.Errorf("anywhere: Settings.Ranks: %d: the cluster has %d hosts", s.Ranks, hosts)
	}
	place := make([]int, cmp.Or(s.Ranks, hosts))
	for rank := range place {
		place[rank] = rank
	}
	return simnet.Run(cluster.Graph, place, cluster.Settings(), work)
}
