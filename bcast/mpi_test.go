package bcast_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/mpitest"
)

// The binary may launch jobs of its own (shared_test.go), or be a rank of one.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(launcherVar) != "":
		os.Exit(m.Run())
	case os.Getenv(sharedVar) != "":
		rankOfShared()
	}
	mpitest.MainMPI(m)
}

func TestMPIAlgorithms(t *testing.T) {
	c := mpitest.MPIWorld(t)
	for _, abilities := range []string{"nothing", "requests", "all"} {
		if err := bringEveryByte(t, hide(c, abilities)); err != nil {
			t.Fatal(err)
		}
		if err := exchanges(hide(c, abilities)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMPIRandomProblems(t *testing.T) {
	c := mpitest.MPIWorld(t)
	const count = 1000
	for seed, abilities := range []string{"requests", "all"} {
		if err := randomProblems(t, hide(c, abilities), count/2, uint64(seed)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMPINativeInGroups(t *testing.T) {
	if err := inPartsToo(t, mpitest.MPIWorld(t), 20); err != nil {
		t.Fatal(err)
	}
}

func TestMPIBroadcaster(t *testing.T) {
	c := mpitest.MPIWorld(t)
	network := casttest.NetworkOf(t, casttest.RegularTree(t, c.Size(), 2))
	for _, s := range []bcast.Settings{
		{Budget: time.Millisecond},
		{ModelOnly: true, Network: network},
		{Budget: time.Millisecond, Network: network},
	} {
		if err := broadcast(c, s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
}

func TestMPIMisuse(t *testing.T) {
	c := mpitest.MPIWorld(t)
	if err := misuse(c, casttest.NetworkOf(t, casttest.RegularTree(t, c.Size()+2, 2))); err != nil {
		t.Fatal(err)
	}
}

func TestMPIARootThatIsNoRankIsTold(t *testing.T) {
	c := mpitest.MPIWorld(t)
	if c.Size() == 1 {
		t.Skip("nobody to tell")
	}
	for wrong := range c.Size() {
		if err := oneWrongRoot(c, nil, wrong); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMPIBcastDoesNotAllocate(t *testing.T) {
	c := mpitest.MPIWorld(t)
	for _, size := range []int{8, 3000, 1 << 20} {
		n, err := allocations(c, &bcast.Settings{ModelOnly: true}, size, true)
		if err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("rank %d, %d bytes: %g allocations per Bcast, want 0", c.Rank(), size, n)
		}
	}
}

func TestMPIIbcast(t *testing.T) {
	c := mpitest.MPIWorld(t)
	for _, abilities := range []string{"requests", "all"} {
		if err := underWay(hide(c, abilities)); err != nil {
			t.Fatal(err)
		}
	}
	if c.Size() > 1 {
		if err := busy(c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMPIIbcastDoesNotAllocate(t *testing.T) {
	c := mpitest.MPIWorld(t)
	if c.Size() == 1 {
		t.Skip("nobody to broadcast to")
	}
	for _, plan := range plansIn(c, 3000) {
		n, err := ibcastAllocations(c, plan, true)
		if err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("rank %d, %v: %g allocations per Ibcast, want 0", c.Rank(), plan, n)
		}
	}
}

func TestMPINothingIsUnderWayAfterABroadcast(t *testing.T) {
	if err := nothingUnderWay(mpitest.MPIWorld(t)); err != nil {
		t.Fatal(err)
	}
}

// A rendezvous of the library reads the sender's buffer when the receiver is
// there: 256 KiB segments are above all eager limits.
func TestMPIBufferIsFreeWhenTheBroadcastReturns(t *testing.T) {
	c := mpitest.MPIWorld(t)
	for _, abilities := range []string{"requests", "all"} {
		if err := overwritten(hide(c, abilities), 3, 768<<10); err != nil {
			t.Fatal(err)
		}
	}
}

// The network knows two hosts more, and the ranks in the opposite order.
func TestMPINetworkOfOtherRanks(t *testing.T) {
	c := mpitest.MPIWorld(t)
	ranks := c.Size()
	host := func(rank int) model.Location { return model.Location{Host: fmt.Sprint("host", rank), Core: -1} }
	var measured []model.Location
	for rank := ranks + 1; rank >= 0; rank-- {
		measured = append(measured, host(rank))
	}
	n := casttest.NetworkAt(t, casttest.RegularTree(t, ranks+2, 2), measured)
	var job []model.Location
	for rank := range ranks {
		job = append(job, host(rank))
	}
	view, err := n.View(job)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []bool{true, c.Rank() == 0} {
		s := &bcast.Settings{ModelOnly: true}
		if owner {
			s.Network = n
		}
		b, err := bcast.New(place(c, host(c.Rank())), s)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := groupsOf(problemOf(b).Tree), groupsOf(view.Hierarchy()); got != want || b.Warnings() != nil {
			t.Errorf("rank %d follows %s, want %s; warnings %q", c.Rank(), got, want, b.Warnings())
		}
		for root := range ranks {
			if err := verified(c, 30000, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	// As they are: one host, bound to cores or not.
	where, err := bcast.Locations(c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bcast.New(c, &bcast.Settings{Network: casttest.NetworkAt(t, casttest.RegularTree(t, ranks, 2), where), ModelOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.Warnings() != nil || c.Rank() == 0 && b.Network() == nil {
		t.Errorf("rank %d at %v: warnings %q", c.Rank(), where, b.Warnings())
	}
}

// A broadcast fails while a receive is under way, and nobody keeps the
// broadcaster: collections must find nothing amiss, and what is received in the
// end goes into memory that is still there.
func TestMPIFailureWithATransferUnderWay(t *testing.T) {
	const tag, ack = 5, 6
	c := mpitest.MPIWorld(t)
	ranks := c.Size()
	if ranks < 2 {
		t.Skip("nobody to receive from")
	}
	left, right := (c.Rank()+ranks-1)%ranks, (c.Rank()+1)%ranks
	func() {
		b, err := bcast.New(&traced{Communicator: c, failAt: 2}, &bcast.Settings{ModelOnly: true, Tag: tag})
		if err != nil {
			t.Fatal(err)
		}
		script := make(casttest.Script, ranks)
		script[c.Rank()] = []schedule.Op{casttest.Recv(left, 0, 1000), casttest.Recv(left, 1000, 1000)} // the second is refused
		if err := by(b, predict.Plan{Algorithm: script}, 2000, 0)(make([]byte, 2000)); !errors.Is(err, errInjected) {
			t.Fatalf("error %v", err)
		}
	}()
	for range 5 {
		runtime.GC()
	}
	// One rank after the other sends what its neighbour waits for.
	token := []byte{1}
	if c.Rank() > 0 {
		if err := c.Recv(token, left, ack); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []struct {
		buf []byte
		tag int
	}{{make([]byte, 1000), tag}, {token, ack}} {
		if err := c.Send(m.buf, right, m.tag); err != nil {
			t.Fatal(err)
		}
	}
	if c.Rank() == 0 {
		if err := c.Recv(token, left, ack); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		runtime.GC()
	}
	b, err := bcast.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verified(c, 5000, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
		t.Fatal(err)
	}
}
