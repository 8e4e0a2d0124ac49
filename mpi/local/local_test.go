package local

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

var modes = map[string]Mode{"buffered": Buffered, "rendezvous": Rendezvous, "pinned": Pinned}

// eachMode runs a test in all modes of this system.
func eachMode(t *testing.T, f func(t *testing.T, mode Mode)) {
	for name, mode := range modes {
		if mode == Pinned && !canPin {
			continue
		}
		t.Run(name, func(t *testing.T) { f(t, mode) })
	}
}

func TestContract(t *testing.T) {
	eachMode(t, func(t *testing.T, mode Mode) {
		mpitest.RunWorld(t, func(n int, body func(mpi.Communicator) error) error {
			return Run(n, &Settings{Mode: mode}, body)
		})
	})
}

// Check is what the processes of a real MPI job call.
func TestCheckOfManyRanks(t *testing.T) {
	eachMode(t, func(t *testing.T, mode Mode) {
		if err := Run(5, &Settings{Mode: mode}, mpitest.Check); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunRefusesWrongSettings(t *testing.T) {
	body := func(mpi.Communicator) error { return nil }
	tests := []struct {
		name     string
		n        int
		settings *Settings
		want     string
	}{
		{"no ranks", 0, nil, "0 ranks"},
		{"unknown mode", 1, &Settings{Mode: 7}, "Settings.Mode: 7"},
		{"negative core", 1, &Settings{Cores: []int{-1}}, "Settings.Cores: -1"},
		{"core that does not exist", 1, &Settings{Mode: Pinned, Cores: []int{1 << 20}}, "Settings.Cores: 1048576"},
		{"core given twice", 1, &Settings{Mode: Pinned, Cores: []int{firstCore(t), firstCore(t)}}, "given twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.settings != nil && tt.settings.Mode == Pinned && !canPin {
				t.Skip("no pinned mode here")
			}
			if err := Run(tt.n, tt.settings, body); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func firstCore(t *testing.T) int {
	cores, err := Cores()
	if err != nil {
		t.Fatal(err)
	}
	return cores[0]
}

func TestPinnedIsRefusedWhereThreadsCannotBeBound(t *testing.T) {
	if canPin {
		t.Skip("threads can be bound here")
	}
	err := Run(1, &Settings{Mode: Pinned}, func(mpi.Communicator) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "not available on "+runtime.GOOS) {
		t.Errorf("Run = %v, want an error that says so", err)
	}
}

// A world reports a deadlock where every rank of it waits for another.
func TestDeadlockIsReported(t *testing.T) {
	tests := []struct {
		name string
		mode Mode
		n    int
		body func(c mpi.Communicator) error
		want []string
	}{
		{
			"a ring of sends without buffers", Rendezvous, 3,
			func(c mpi.Communicator) error {
				if err := c.Send(make([]byte, 1), (c.Rank()+1)%3, 5); err != nil {
					return err
				}
				return c.Recv(make([]byte, 1), (c.Rank()+2)%3, 5)
			},
			[]string{"rank 0 in Send with rank 1, tag 5", "rank 1 in Send with rank 2, tag 5", "rank 2 in Send with rank 0, tag 5"},
		},
		{
			"receives that nobody answers", Buffered, 2,
			func(c mpi.Communicator) error { return c.Recv(nil, 1-c.Rank(), 2) },
			[]string{"rank 0 in Recv with rank 1, tag 2", "rank 1 in Recv with rank 0, tag 2"},
		},
		{
			"a receive from a rank that has returned", Rendezvous, 2,
			func(c mpi.Communicator) error {
				if c.Rank() == 1 {
					return nil
				}
				return c.Recv(nil, 1, 0)
			},
			[]string{"rank 0 in Recv with rank 1, tag 0"},
		},
		{
			"a request that is never met", Buffered, 2,
			func(c mpi.Communicator) error {
				if c.Rank() == 1 {
					return nil
				}
				set := c.(mpi.NonBlocking).NewRequests()
				if err := set.Irecv(nil, 1, 3); err != nil {
					return err
				}
				return set.WaitAll()
			},
			[]string{"rank 0 in WaitAll with rank 1, tag 3"},
		},
		{
			"a split that one rank does not call", Buffered, 2,
			func(c mpi.Communicator) error {
				if c.Rank() == 1 {
					return nil
				}
				_, err := c.(mpi.Splitter).Split(0, 0)
				return err
			},
			[]string{"rank 0 in Split"},
		},
		{
			"a broadcast that one rank does not call", Buffered, 2,
			func(c mpi.Communicator) error {
				if c.Rank() == 1 {
					return nil
				}
				return c.(mpi.NativeBcast).Bcast(nil, 0)
			},
			[]string{"rank 0 in Bcast with rank 0"},
		},
		{
			"more ranks than are listed", Buffered, 20,
			func(c mpi.Communicator) error { return c.Recv(nil, (c.Rank()+1)%20, 2) },
			[]string{"rank 7 in Recv with rank 8, tag 2", ", and 12 more"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Run(tt.n, &Settings{Mode: tt.mode}, func(c mpi.Communicator) error {
				err := tt.body(c)
				if err != nil && !errors.Is(err, mpi.ErrAborted) {
					return fmt.Errorf("error of a rank = %w, want ErrAborted", err)
				}
				return err
			})
			if !errors.Is(err, ErrDeadlock) {
				t.Fatalf("Run = %v, want %v", err, ErrDeadlock)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Run = %v, want it to say %q", err, want)
				}
			}
		})
	}
}

// A rank that ends while others wait for it ends them too, whatever they wait in.
func TestEndOfTheWorldReachesEveryOperation(t *testing.T) {
	cause := errors.New("cause")
	large := make([]byte, 1<<20)
	waits := map[string]func(c mpi.Communicator) error{
		"Send": func(c mpi.Communicator) error {
			for {
				if err := c.Send(large, 0, 1); err != nil {
					return err
				}
			}
		},
		"Send of short messages": func(c mpi.Communicator) error {
			for {
				if err := c.Send(large[:8], 0, 1); err != nil {
					return err
				}
			}
		},
		"Ssend": func(c mpi.Communicator) error { return c.(mpi.SyncSender).Ssend(nil, 0, 1) },
		"Recv":  func(c mpi.Communicator) error { return c.Recv(nil, 0, 1) },
		"WaitAll": func(c mpi.Communicator) error {
			set := c.(mpi.NonBlocking).NewRequests()
			if err := set.Irecv(make([]byte, 8), 0, 1); err != nil {
				return err
			}
			if err := set.Isend(large, 0, 1); err != nil {
				return err
			}
			return set.WaitAll()
		},
		"Split": func(c mpi.Communicator) error {
			_, err := c.(mpi.Splitter).Split(0, 0)
			return err
		},
		"Bcast of the root":   func(c mpi.Communicator) error { return c.(mpi.NativeBcast).Bcast(large, c.Rank()) },
		"Bcast of the others": func(c mpi.Communicator) error { return c.(mpi.NativeBcast).Bcast(large, 0) },
		"PingPong": func(c mpi.Communicator) error {
			tm, ok := c.(mpi.Timed)
			if !ok {
				return mpi.ErrAborted
			}
			return tm.PingPong(make([]float64, 1), 0, 1, 8, 1, false)
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, mode Mode) {
				err := Run(3, &Settings{Mode: mode}, func(c mpi.Communicator) error {
					if c.Rank() == 0 {
						for range 50 {
							runtime.Gosched()
						}
						return cause
					}
					if err := wait(c); !errors.Is(err, mpi.ErrAborted) {
						return fmt.Errorf("error = %w, want ErrAborted", err)
					}
					return nil
				})
				if !errors.Is(err, cause) || !strings.Contains(err.Error(), "rank 0") {
					t.Errorf("Run = %v, want the cause on rank 0", err)
				}
			})
		})
	}
}

func TestGoexitEndsTheWorld(t *testing.T) {
	eachMode(t, func(t *testing.T, mode Mode) {
		err := Run(2, &Settings{Mode: mode}, func(c mpi.Communicator) error {
			if c.Rank() == 1 {
				runtime.Goexit()
			}
			return c.Recv(nil, 1, 0)
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1: goroutine was ended") {
			t.Errorf("Run = %v, want it to name rank 1", err)
		}
	})
}

// The lines of a ring must not share cache lines, or its latencies mean
// nothing. The allocator's size classes see to it; this test sees to them.
func TestRingsStartAtCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size != 64 {
		t.Errorf("a slot has %d bytes, want 64", size)
	}
	if !canPin {
		t.Skip("no pinned mode here")
	}
	const n = 6
	w, err := newPinnedWorld(n, "host", nil)
	if err != nil {
		t.Fatal(err)
	}
	for src := range n {
		for dst := range n {
			if address := uintptr(unsafe.Pointer(w.ring(src, dst))); address%64 != 0 {
				t.Errorf("ring at %#x, want a multiple of 64", address)
			}
		}
	}
}

// Messages do not allocate once the world is warm.
func TestAllocations(t *testing.T) {
	eachMode(t, func(t *testing.T, mode Mode) {
		const warm, runs = 10, 100
		got := make([]float64, 4)
		err := Run(2, &Settings{Mode: mode}, func(c mpi.Communicator) error {
			peer := 1 - c.Rank()
			set := c.(mpi.NonBlocking).NewRequests()
			short, long, in := make([]byte, 8), make([]byte, 4096), make([]byte, 4096)
			var failed error
			operations := []func() error{
				func() error { return pingPong(c, short) },
				func() error { return pingPong(c, long) },
				func() error {
					if err := set.Irecv(in, peer, 1); err != nil {
						return err
					}
					if err := set.Isend(long, peer, 1); err != nil {
						return err
					}
					return set.WaitAll()
				},
				func() error { return c.(mpi.NativeBcast).Bcast(long, 0) },
			}
			for i, op := range operations {
				run := func() {
					if err := op(); err != nil && failed == nil {
						failed = err
					}
				}
				for range warm {
					run()
				}
				// Not testing.AllocsPerRun: it sets GOMAXPROCS to 1, and ranks
				// that spin would get in each other's way.
				var before, after runtime.MemStats
				if c.Rank() == 0 {
					runtime.ReadMemStats(&before)
				}
				for range runs {
					run()
				}
				if c.Rank() == 0 {
					runtime.ReadMemStats(&after)
					got[i] = float64((after.Mallocs - before.Mallocs) / runs)
				}
			}
			return failed
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"short messages", "long messages", "requests", "broadcast"} {
			if got[i] != 0 {
				t.Errorf("%s: %g allocations per exchange, want 0", name, got[i])
			}
		}
	})
}

func pingPong(c mpi.Communicator, buf []byte) error {
	if c.Rank() == 0 {
		if err := c.Send(buf, 1, 0); err != nil {
			return err
		}
		return c.Recv(buf, 1, 0)
	}
	if err := c.Recv(buf, 0, 0); err != nil {
		return err
	}
	return c.Send(buf, 0, 0)
}

// BenchmarkPingPong reports round trips between two ranks. The second rank
// runs until the first ends the world.
func BenchmarkPingPong(b *testing.B) {
	isOver := errors.New("benchmark is over")
	for name, mode := range modes {
		for _, size := range []int{0, 8, 64, 4096, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dB", name, size), func(b *testing.B) {
				b.ReportAllocs()
				err := Run(2, &Settings{Mode: mode}, func(c mpi.Communicator) error {
					buf := make([]byte, size)
					if c.Rank() == 0 {
						for b.Loop() {
							if err := pingPong(c, buf); err != nil {
								return err
							}
						}
						return isOver
					}
					for {
						if err := pingPong(c, buf); err != nil {
							return err
						}
					}
				})
				if !errors.Is(err, isOver) {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkPingPongTimed reports round trips as Timed reads them.
func BenchmarkPingPongTimed(b *testing.B) {
	if !canPin {
		b.Skip("no pinned mode here")
	}
	for _, size := range []int{0, 8, 64, 4096} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			err := Run(2, &Settings{Mode: Pinned}, func(c mpi.Communicator) error {
				samples := make([]float64, 101)
				if err := c.(mpi.Timed).PingPong(samples, 1-c.Rank(), 0, size, 1000, c.Rank() == 0); err != nil {
					return err
				}
				if c.Rank() == 0 {
					for b.Loop() { // the measurements are taken above
					}
					slices.Sort(samples)
					b.ReportMetric(samples[0]*1e6, "min-ns/roundtrip")
					b.ReportMetric(samples[50]*1e6, "median-ns/roundtrip")
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
