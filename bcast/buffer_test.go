package bcast

import (
	"runtime"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// prompt is a communicator of two ranks whose transfers are done as they begin, and which keeps nothing.
type prompt struct{ silent }

func (*prompt) NewRequests() mpi.Requests { return promptRequests{} }

type promptRequests struct{}

func (promptRequests) Isend([]byte, int, int) error { return nil }
func (promptRequests) Irecv([]byte, int, int) error { return nil }
func (promptRequests) Ibcast([]byte, int) error     { return nil }
func (promptRequests) WaitAll() error               { return nil }
func (promptRequests) WaitAny() (int, error)        { return -1, nil }
func (promptRequests) Test() (bool, error)          { return true, nil }

// Once a broadcast is over, nothing of the broadcaster holds the buffer: a panel of gigabytes that the application lets
// go of is memory again, though the broadcaster stays.
func TestBufferIsLetGo(t *testing.T) {
	const size, limit = 64 << 10, time.Minute
	for _, begun := range []bool{false, true} {
		world := &prompt{}
		for _, way := range ways(world, 1000) {
			b := tunedTo(world, size)
			gone := make(chan bool)
			func() {
				buf := make([]byte, size)
				runtime.AddCleanup(&buf[0], func(struct{}) { close(gone) }, struct{}{})
				r := b.compile(way, size, 0)
				var err error
				if begun {
					var p *Pending
					if p, err = b.start(r, buf, 0); err == nil {
						err = p.Wait()
					}
				} else {
					err = b.perform(r, buf, 0)
				}
				if err != nil {
					t.Fatal(err)
				}
			}()
			if !collected(gone, limit) {
				t.Errorf("%s, Ibcast %v: the buffer is still held", way.How(), begun)
			}
			runtime.KeepAlive(b)
		}
	}
}

// collected waits until the collector has found something unused.
func collected(gone <-chan bool, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		runtime.GC()
		select {
		case <-gone:
			return true
		case <-time.After(time.Millisecond):
		}
	}
	return false
}

// dying fails at one of its sends or receives, in the middle of a message.
type dying struct {
	mpi.Communicator
	left int
}

func (d *dying) cut() error {
	if d.left--; d.left < 0 {
		return errInjected
	}
	return nil
}

func (d *dying) Send(buf []byte, dst, tag int) error {
	if err := d.cut(); err != nil {
		return err
	}
	return d.Communicator.Send(buf, dst, tag)
}

func (d *dying) Recv(buf []byte, src, tag int) error {
	if err := d.cut(); err != nil {
		return err
	}
	return d.Communicator.Recv(buf, src, tag)
}

// After a broadcast that was cut short on this rank, what is asked for later neither reads nor writes a buffer: not the one of
// then, of which a part is there, nor another.
func TestCutShortBroadcastLeavesBuffersAlone(t *testing.T) {
	const size, segment = 10_000, 1000
	for left := range 12 {
		world := &prompt{}
		d := &dying{plain{world}, left}
		b := tunedTo(struct {
			mpi.Communicator
			mpi.NativeBcast
		}{d, world}, 8)
		chain := ways(world, segment)[2]
		buf := make([]byte, size)
		err := b.failed(b.perform(b.compile(chain, size, 1), buf, 1)) // ten receives
		if (err != nil) != (left < 10) {
			t.Fatalf("%d transfers: %v", left, err)
		}
		if err == nil {
			continue
		}
		was := world.calls
		other := make([]byte, 8)
		_, begun := b.Ibcast(other, 0)
		for what, again := range map[string]error{
			"Bcast": b.Bcast(buf, 0), "Bcast by the library": b.Bcast(other, 0), "Ibcast": begun, "Wait": b.exec.pending.Wait(), "Tune": b.Tune([]int{0}, 16),
		} {
			if what != "Wait" && again == nil {
				t.Errorf("cut after %d transfers: %s works", left, what)
			}
		}
		if world.calls != was || d.left != -1 {
			t.Errorf("cut after %d transfers: %d broadcasts of the library and %d transfers came after it", left, world.calls-was, -1-d.left)
		}
	}
}
