package gridjob

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A file that rank 0 cannot read is the same mistake on all ranks, which go on together.
func TestAllRanksGetTheErrorOfTheFile(t *testing.T) {
	if err := local.Run(3, nil, func(comm mpi.Communicator) error {
		o := Options{File: "there-is-none.json"}
		if _, err := o.Network(comm); err == nil || !strings.Contains(err.Error(), "there-is-none.json") {
			t.Errorf("rank %d: error %v, want one that names the file", comm.Rank(), err)
		}
		o.File = ""
		network, err := o.Network(comm)
		if network != nil {
			t.Errorf("rank %d: a network without a file", comm.Rank())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
