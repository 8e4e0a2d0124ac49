package gridjob

import (
	"fmt"
	"math"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A message between two ranks takes what the cluster's own network says, and ranks are where it says. Of the two
// clusters one has a rank per machine, the other eight.
func TestNetworkOfClusterIsTrue(t *testing.T) {
	for _, text := range []string{"tree:2x2x3 latency=20us,8us,2us rate=1Gbps,2Gbps,10Gbps", "core:4 socket:2 host:3"} {
		c, err := simnet.ParseCluster(text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := networkOf(c)
		if err != nil {
			t.Fatal(err)
		}
		last := c.Graph.Hosts() - 1
		for _, bytes := range []int{0, 1 << 20} {
			for src := range last {
				err := simnet.Run(c.Graph, nil, c.Settings(), func(comm mpi.Communicator) error {
					at := comm.(mpi.Placed).Place()
					if where := n.Location(comm.Rank()); where.Core != at.Core || where.Host != at.Host {
						return fmt.Errorf("%s: rank %d is at %+v, want %s, %d", text, comm.Rank(), where, at.Host, at.Core)
					}
					switch comm.Rank() {
					case src:
						return comm.(mpi.SyncSender).Ssend(make([]byte, bytes), last, 1)
					case last:
						begin := comm.(mpi.Clock).Now()
						err := comm.Recv(make([]byte, bytes), src, 1)
						// Ssend's request and consent cross before, of no bytes; the clock itself takes 20 ns.
						took := comm.(mpi.Clock).Now() - begin
						want := n.Time(src, last, int64(bytes)) + 2*n.Time(src, last, 0)
						if math.Abs(took-want) > 0.01*want+1e-7 {
							t.Errorf("%s: %d bytes from %d to %d took %g s, the network says %g", text, bytes, src, last, took, want)
						}
						return err
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	ring, err := simnet.ParseCluster("ring:6")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := networkOf(ring); err == nil {
		t.Errorf("network of a ring: %v, want an error", n)
	}
}
