package gridjob

import (
	"bytes"
	"os"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Network is collective: the network of the ranks of comm in their order, nil if none is known. All ranks get that of rank 0: the
// files of other hosts may be older, or not be there. Each rank needs it that is rank 0 of a row or a column.
func (o *Options) Network(comm mpi.Communicator) (*model.Network, error) {
	network := o.simulated
	if network == nil {
		text, err := o.share(comm)
		if err != nil || len(text) == 0 {
			return nil, err
		}
		if network, err = model.Read(bytes.NewReader(text)); err != nil {
			return nil, Wrongf("-network %s: %w", o.File, err)
		}
	}
	at, err := bcast.Locations(comm)
	if err != nil {
		return nil, err
	}
	view, _, err := network.OfJob(at)
	return view, err
}

// share is collective: all ranks get rank 0's file, or its error.
func (o *Options) share(comm mpi.Communicator) (text []byte, err error) {
	if comm.Rank() == 0 && o.File != "" {
		text, err = os.ReadFile(o.File)
	}
	refused, failed := share.Binomial(comm, 0, mpi.MaxTag).TellValue(&text, err)
	if refused != nil {
		return nil, Wrongf("-network: %w", refused)
	}
	return text, failed
}
