package throughput

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// What rank 0 alone fails at, between two steps or in the readings of others, is an error of all ranks, and none waits
// for what comes next. The communicator still works.
func TestRankZeroFailsAlone(t *testing.T) {
	between := errors.New("no plan for the next step")
	const unread = "throughput: rank 1 sent 64 bytes too many" // 6 arrivals and two times before them
	for _, fail := range []string{between.Error(), unread} {
		err := local.Run(3, nil, func(comm mpi.Communicator) error {
			e := &executor{
				ctx: context.Background(), comm: comm, all: harness.NewBarrier(comm), stream: newStream(comm, OneWay, 100),
				now: harness.Clock(comm), mode: OneWay, samples: 1, bytes: 100, end: math.Inf(1),
			}
			var err error
			if comm.Rank() == 0 {
				l := &load{from: 2, to: 1, pairs: [][2]int{{2, 1}}, messages: 6}
				if fail == unread {
					e.progress = func(int, int) { e.slots[1] = nil } // nothing was asked for
				}
				if _, err = e.run([][]*load{{l}}); err == nil {
					err = between
				}
			} else {
				e.follow()
			}
			if err = e.leave(err); err == nil || err.Error() != fail {
				t.Errorf("rank %d leaves with %v, want %s", comm.Rank(), err, fail)
			}
			return harness.Agree(comm, nil)
		})
		if err != nil {
			t.Errorf("%s: %v", fail, err)
		}
	}
}
