package gridjob

import (
	"bytes"
	"os"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Network is collective: the network of the ranks of comm in their order, nil if none is known. All ranks get that of rank 0: the
// files of other hosts may be older, or not be there.
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

// share is collective: it broadcasts rank 0's file. An error of rank 0 ends the job.
func (o *Options) share(comm mpi.Communicator) ([]byte, error) {
	var text []byte
	if comm.Rank() == 0 && o.File != "" {
		var err error
		if text, err = os.ReadFile(o.File); err != nil {
			return nil, err
		}
	}
	b, err := bcast.New(comm, &bcast.Settings{ModelOnly: true}) // without contests: it is used but once
	if err != nil {
		return nil, err
	}
	length := []int{len(text)}
	if err := bcast.BcastSlice(b, length, 0); err != nil {
		return nil, err
	}
	if comm.Rank() != 0 {
		text = make([]byte, length[0])
	}
	if err := bcast.BcastSlice(b, text, 0); err != nil {
		return nil, err
	}
	return text, b.Close()
}
