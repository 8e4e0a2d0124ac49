package local

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// pinnedWorlds are the ways in which mode Pinned runs two ranks that matter:
// bound, if there are cores for that, and not, since there are too many ranks.
func pinnedWorlds(t *testing.T) map[string]int {
	t.Helper()
	if !canPin {
		t.Skip("no pinned mode here")
	}
	cores, err := Cores()
	if err != nil {
		t.Fatal(err)
	}
	worlds := map[string]int{"unbound": len(cores) + 2}
	if len(cores) >= 2 && runtime.GOMAXPROCS(0) >= 2 {
		worlds["bound"] = 2
	}
	return worlds
}

// awaitReturn waits until another rank has returned.
func awaitReturn(c mpi.Communicator, rank int) {
	for !c.(*pinnedComm).engine.world.left[rank].Load() {
		time.Sleep(10 * time.Microsecond)
	}
}

// A rank that waits for one that has returned spun for ever. The test would run
// into its limit.
func TestPinnedRanksDoNotWaitForThoseThatHaveReturned(t *testing.T) {
	long := make([]byte, 4096)
	collective := "rank 0 waits in a collective operation for ranks that have returned"
	for _, tt := range []struct {
		name string
		run  func(c mpi.Communicator) error
		want string
	}{
		{"Recv", func(c mpi.Communicator) error { return c.Recv(nil, 1, 0) }, ""},
		{"Send of a long message", func(c mpi.Communicator) error { return c.Send(long, 1, 0) }, ""},
		{"Ssend", func(c mpi.Communicator) error { return c.(mpi.SyncSender).Ssend(nil, 1, 0) }, ""},
		{"more short messages than there is room for", func(c mpi.Communicator) error {
			for range ringSlots + 1 {
				if err := c.Send(nil, 1, 0); err != nil {
					return err
				}
			}
			return nil
		}, ""},
		{"WaitAll of a receive", func(c mpi.Communicator) error {
			set := c.(mpi.NonBlocking).NewRequests()
			return errors.Join(set.Irecv(nil, 1, 0), set.WaitAll())
		}, ""},
		{"WaitAll of a send", func(c mpi.Communicator) error {
			set := c.(mpi.NonBlocking).NewRequests()
			return errors.Join(set.Isend(long, 1, 0), set.WaitAll())
		}, ""},
		{"Recv beside a receive under way", func(c mpi.Communicator) error {
			set := c.(mpi.NonBlocking).NewRequests()
			return errors.Join(set.Irecv(nil, 1, 0), c.Recv(nil, 1, 1))
		}, ""},
		{"PingPong", func(c mpi.Communicator) error {
			return c.(mpi.Timed).PingPong(make([]float64, 1), 1, 0, 8, 1, true)
		}, ""},
		{"Bcast of the root", func(c mpi.Communicator) error { return c.(mpi.NativeBcast).Bcast(long, 0) }, collective},
		{"Bcast of the others", func(c mpi.Communicator) error { return c.(mpi.NativeBcast).Bcast(long, 1) }, collective},
		{"Split", func(c mpi.Communicator) error {
			_, err := c.(mpi.Splitter).Split(0, 0)
			return err
		}, collective},
	} {
		for how, n := range pinnedWorlds(t) {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				err := Run(n, &Settings{Mode: Pinned}, func(c mpi.Communicator) error {
					if c.Rank() != 0 {
						return nil
					}
					if err := tt.run(c); !errors.Is(err, mpi.ErrAborted) {
						return fmt.Errorf("error of the operation = %w, want %w", err, mpi.ErrAborted)
					}
					return nil
				})
				want := tt.want
				if want == "" {
					want = "rank 0 waits for rank 1, which has returned"
				}
				if !errors.Is(err, ErrDeadlock) || !strings.Contains(err.Error(), want) {
					t.Errorf("Run = %v, want a deadlock: %s", err, want)
				}
			})
		}
	}
}

// What a rank has sent before it returned is received after that, and short
// messages to it are sent as long as there is room.
func TestPinnedMessagesSurviveTheirSender(t *testing.T) {
	for how, n := range pinnedWorlds(t) {
		t.Run(how, func(t *testing.T) {
			err := Run(n, &Settings{Mode: Pinned}, func(c mpi.Communicator) error {
				switch c.Rank() {
				case 1:
					set := c.(mpi.NonBlocking).NewRequests()
					for k := range ringSlots - 1 {
						if err := c.Send([]byte{byte(k)}, 0, 1); err != nil {
							return err
						}
					}
					long := make([]byte, 4096)
					long[4095] = 77
					return set.Isend(long, 0, 2)
				case 0:
					awaitReturn(c, 1)
					long := make([]byte, 4096)
					if err := c.Recv(long, 1, 2); err != nil || long[4095] != 77 {
						return fmt.Errorf("long message = ...%d, %w", long[4095], err)
					}
					for k := range ringSlots - 1 {
						buf := []byte{99}
						if err := c.Recv(buf, 1, 1); err != nil || int(buf[0]) != k {
							return fmt.Errorf("message %d = %d, %w", k, buf[0], err)
						}
					}
					for range ringSlots {
						if err := c.Send(nil, 1, 0); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Ranks that have returned after their part of a broadcast are not missed.
func TestPinnedBroadcastIsNotGivenUp(t *testing.T) {
	for how, n := range pinnedWorlds(t) {
		t.Run(how, func(t *testing.T) {
			err := Run(n, &Settings{Mode: Pinned}, func(c mpi.Communicator) error {
				if c.Rank() == n-1 {
					for r := 1; r < n-1; r++ {
						awaitReturn(c, r)
					}
					time.Sleep(5 * time.Millisecond) // the root looks in vain meanwhile
				}
				return c.(mpi.NativeBcast).Bcast(make([]byte, 100), 0)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
