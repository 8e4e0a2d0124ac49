package measure

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Rows of short messages that tell the overhead.
const (
	tagOverhead  = harness.FirstTag
	rowMessages  = 64 // so many that the way there and back counts little
	overheadRows = 9  // of which the shortest counts: the scheduler only makes them longer
)

// measureOverhead measures how long the software of a rank takes for a short message: one of a
// row from rank 0 to one that is far, less the time of a single one. It holds what
// takes longest, sending, receiving or the interface, and is an upper bound of each. It is
// collective.
func (d *Discovery) measureOverhead(comm mpi.Communicator) error {
	if comm.Size() < 2 {
		return nil
	}
	var told []byte
	if comm.Rank() == 0 {
		told = binary.LittleEndian.AppendUint32(nil, uint32(farthest(d.Topology.Hierarchy)))
	}
	told, err := harness.Tell(comm, told)
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	peer := int(binary.LittleEndian.Uint32(told))
	now := harness.Clock(comm)
	single, row := math.Inf(1), math.Inf(1)
	for range overheadRows {
		for _, r := range []struct {
			messages int
			least    *float64
		}{{1, &single}, {rowMessages, &row}} {
			var err error
			switch comm.Rank() {
			case 0:
				begin := now()
				err = sendRow(comm, peer, r.messages)
				*r.least = min(*r.least, now()-begin)
			case peer:
				err = takeRow(comm, r.messages)
			}
			if err != nil {
				return fmt.Errorf("measure: discover: overhead: rank %d: %w", comm.Rank(), err)
			}
		}
	}
	if comm.Rank() == 0 {
		d.Overhead = max(0, (row-single)/(rowMessages-1))
	}
	return nil
}

// farthest is the lowest rank that only the group of all joins with rank 0.
func farthest(h *topology.Hierarchy) int {
	for r := 1; r < h.Hosts(); r++ {
		if h.Common(0, r) == 0 {
			return r
		}
	}
	return h.Hosts() - 1
}

// sendRow sends a row of messages, and waits for an empty one that says that they are there.
func sendRow(comm mpi.Communicator, peer, messages int) error {
	var buf [latencySize]byte
	for range messages {
		if err := comm.Send(buf[:], peer, tagOverhead); err != nil {
			return err
		}
	}
	return comm.Recv(nil, peer, tagOverhead)
}

// takeRow is the other side of sendRow.
func takeRow(comm mpi.Communicator, messages int) error {
	var buf [latencySize]byte
	for range messages {
		if err := comm.Recv(buf[:], 0, tagOverhead); err != nil {
			return err
		}
	}
	return comm.Send(nil, 0, tagOverhead)
}
