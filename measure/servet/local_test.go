package servet

import (
	"context"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A placed communicator says that its ranks are on hosts of two.
type placed struct {
	mpi.Communicator
	perHost int
}

func (p placed) ProcessorName() string { return fmt.Sprint("host", p.Rank()/p.perHost) }
func (p placed) Core() int             { return p.Rank() % p.perHost }

// requests is a placed communicator with the requests of the one below.
type requests struct{ placed }

func (r requests) NewRequests() mpi.Requests {
	return r.Communicator.(mpi.NonBlocking).NewRequests()
}

// All modes of local ranks, with and without requests, measure all steps.
func TestLocalRanks(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous, local.Pinned} {
		for name, of := range map[string]measurement{WhatDistance: Distance, WhatAccess: Access} {
			for _, blocking := range []bool{false, true} {
				err := local.Run(8, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
					own := mpi.Communicator(placed{c, 2})
					if _, can := c.(mpi.NonBlocking); can && !blocking {
						own = requests{placed{c, 2}}
					}
					r, err := of(context.Background(), own, &Settings{Bytes: 1 << 16, Repetitions: 2})
					if r == nil {
						return err
					}
					if r.What != name || len(r.Hosts) != 4 || len(r.Steps) != 2 || len(r.Observations()) != 2 {
						return fmt.Errorf("%d steps of %s on hosts %v", len(r.Steps), r.What, r.Hosts)
					}
					for _, s := range r.Steps {
						if !(s.Bandwidth() > 0) || len(s.Bandwidths) != 2 || len(s.Transfers) != 4 {
							return fmt.Errorf("step %+v", s)
						}
					}
					return err
				})
				if err != nil {
					t.Errorf("%v, %s: %v", mode, name, err)
				}
			}
		}
	}
}
