package gridjob

import (
	"bytes"
	"context"
	"os"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// Network is collective: the network of the ranks of comm in their order, nil if none is known. It is read from the file, and
// discovered on a simulated cluster, where that takes no time. All ranks get that of rank 0: the files of other hosts may be
// older, or not be there. Each rank needs it that is rank 0 of a row or a column.
func (o *Options) Network(comm mpi.Communicator) (*model.Network, error) {
	text, err := o.networkText(comm)
	refused, failed := share.Binomial(comm, 0, mpi.MaxTag).TellValue(&text, err)
	switch {
	case refused != nil:
		return nil, cli.BadInput("-network: %w", refused)
	case failed != nil || len(text) == 0:
		return nil, failed
	}
	network, err := model.Read(bytes.NewReader(text))
	if err != nil {
		return nil, cli.BadInput("-network %s: %w", o.File, err)
	}
	at, err := bcast.Locations(comm)
	if err != nil {
		return nil, err
	}
	view, _, err := network.OfJob(at)
	return view, err
}

// networkText is the file of the network, on rank 0; empty: none is known. It is collective.
func (o *Options) networkText(comm mpi.Communicator) ([]byte, error) {
	switch {
	case o.File != "" && comm.Rank() == 0:
		return os.ReadFile(o.File)
	case o.File != "" || o.Sim == "":
		return nil, nil
	}
	found, err := measure.Discover(context.Background(), comm, &measure.DiscoverSettings{
		Sampling: measure.Sampling{Repetitions: 1, Samples: cli.SimulatedSamples, Seed: 1}, Patterns: -1,
	})
	if err != nil || found == nil {
		return nil, err
	}
	var text bytes.Buffer
	err = found.Network.Write(&text)
	return text.Bytes(), err
}
