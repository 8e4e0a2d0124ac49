package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Rows of short messages that tell the overhead.
const (
	tagOverhead   = harness.FirstTag
	rowMessages   = 64 // so many that the way there and back counts little
	overheadRows  = 9  // of which the shortest counts: the scheduler only makes them longer
	overheadPeers = 8  // to which the messages of a row go in turn, at most
)

// A row is some messages from rank 0 to peers in turn, the last of whom answers.
type row struct {
	messages int
	peers    []int
	least    float64 // s, of all that were timed
}

// measureOverhead measures how long the software of a rank takes for a short message: one of a
// row from rank 0, less the time of a single one. A row to one rank that is far holds
// what takes longest, sending, receiving or the interface. But libraries and TCP take
// messages to the same rank together, while the root of a broadcast sends to different ones. Each of these is a
// call and a packet of its own. So there is a row to several far ranks in turn as well, and the dearer of
// the two counts. It is an upper bound of each part. It is collective, and watched for silence.
func (d *Discovery) measureOverhead(c *harness.Conductor, _ *DiscoverSettings, control harness.Control) error {
	if c.Comm.Size() < 2 {
		return nil
	}
	peers, err := harness.Share(c.Comm, c, func() ([]int, error) { return farthest(d.Topology.Hierarchy, overheadPeers), nil })
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	rows := []row{
		{1, peers[:1], math.Inf(1)},
		{rowMessages, peers[:1], math.Inf(1)},
		{rowMessages, peers, math.Inf(1)},
	}
	_, err = harness.Conduct(c.Ctx, c.Comm, control.Silence, func(c *harness.Conductor) (none struct{}, err error) {
		for range overheadRows {
			for i := range rows {
				r := &rows[i]
				begin := c.Now()
				if err := c.Among(r.awaited(c.Comm.Rank()), func() error { return r.pass(c.Comm) }); err != nil {
					return none, fmt.Errorf("measure: discover: overhead: rank %d: %w", c.Comm.Rank(), err)
				}
				r.least = min(r.least, c.Now()-begin)
			}
		}
		return none, nil
	})
	if err != nil {
		return err
	}
	if c.Comm.Rank() == 0 {
		d.Overhead = max(0, (max(rows[1].least, rows[2].least)-rows[0].least)/(rowMessages-1))
		d.rates.fit.Overhead = d.Overhead
	}
	return nil
}

// farthest are up to so many of the ranks that only the group of all joins with rank 0,
// the lowest and others spread over them; the last rank if there is none.
func farthest(h *topology.Hierarchy, most int) []int {
	var all []int
	for r := 1; r < h.Hosts(); r++ {
		if h.Common(0, r) == 0 {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return []int{h.Hosts() - 1}
	}
	n := min(most, len(all))
	spread := make([]int, n)
	for i := range spread {
		spread[i] = all[i*len(all)/n]
	}
	return spread
}

// awaited is the one that a rank waits for in the row: rank 0 for who answers, others for rank 0.
func (r *row) awaited(rank int) int {
	if rank != 0 {
		return 0
	}
	return r.peers[(r.messages-1)%len(r.peers)]
}

// pass does the rank's part in the row: rank 0 sends it, and waits for an empty message that says that the last
// one is there.
func (r *row) pass(comm mpi.Communicator) error {
	var buf [latencySize]byte
	last := (r.messages - 1) % len(r.peers)
	if comm.Rank() == 0 {
		for i := range r.messages {
			if err := comm.Send(buf[:], r.peers[i%len(r.peers)], tagOverhead); err != nil {
				return err
			}
		}
		return comm.Recv(nil, r.peers[last], tagOverhead)
	}
	at := slices.Index(r.peers, comm.Rank())
	if at < 0 {
		return nil
	}
	for i := at; i < r.messages; i += len(r.peers) {
		if err := comm.Recv(buf[:], 0, tagOverhead); err != nil {
			return err
		}
	}
	if at != last {
		return nil
	}
	return comm.Send(nil, 0, tagOverhead)
}
