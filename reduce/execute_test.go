package reduce_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/reduce"
)

// guarded is a communicator that finds out whether a buffer changes while it is sent, which MPI forbids.
type guarded struct{ mpi.Communicator }

type guardedSet struct {
	mpi.Requests
	bufs, were [][]byte
}

func (g guarded) NewRequests() mpi.Requests {
	return &guardedSet{Requests: g.Communicator.(mpi.NonBlocking).NewRequests()}
}

func (g *guardedSet) Isend(buf []byte, dst, tag int) error {
	g.bufs, g.were = append(g.bufs, buf), append(g.were, bytes.Clone(buf))
	return g.Requests.Isend(buf, dst, tag)
}

func (g *guardedSet) WaitAll() error {
	for i, buf := range g.bufs {
		if !bytes.Equal(buf, g.were[i]) {
			return fmt.Errorf("a buffer of %d bytes changed while it was sent", len(buf))
		}
	}
	g.bufs, g.were = nil, nil
	return g.Requests.WaitAll()
}

func TestBuffersDoNotChangeWhileTheyAreSent(t *testing.T) {
	const ranks = 6
	if err := local.Run(ranks, nil, func(c mpi.Communicator) error {
		r, err := reduce.New(guarded{c}, &reduce.Settings{Network: casttest.NetworkOf(t, casttest.RegularTree(t, ranks, 2))})
		if err != nil {
			return err
		}
		for _, segment := range []int{0, 80} {
			if err := reduce.EveryAlgorithm(r, 300, segment); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
