package servet

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A placed communicator says that its ranks are on hosts of two.
type placed struct {
	mpi.Communicator
	perHost int
}

func (p placed) Place() mpi.Place {
	return mpi.Place{Host: fmt.Sprint("host", p.Rank()/p.perHost), Core: p.Rank() % p.perHost}
}

// requests is a placed communicator with the requests of the one below.
type requests struct{ placed }

func (r requests) NewRequests() mpi.Requests {
	return r.Communicator.(mpi.NonBlocking).NewRequests()
}

// All modes of local ranks, with and without requests, measure all steps.
func TestLocalRanks(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Rendezvous, local.Pinned} {
		for name, of := range map[string]measurement{WhatDistance: Distance, WhatAccess: Access} {
			for _, blocking := range []bool{false, true} {
				err := local.Run(8, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
					own := mpi.Communicator(placed{c, 2})
					if _, can := c.(mpi.NonBlocking); can && !blocking {
						own = requests{placed{c, 2}}
					}
					r, err := of(context.Background(), own, &Settings{Bytes: 1 << 16, Repetitions: 2})
					if r == nil {
						return err
					}
					if r.What != name || len(r.Hosts) != 4 || len(r.Steps) != 2 || len(observations(r)) != 2 {
						return fmt.Errorf("%d steps of %s on hosts %v", len(r.Steps), r.What, r.Hosts)
					}
					for _, s := range r.Steps {
						if !(s.Bandwidth() > 0) || len(s.Bandwidths) != 2 || len(s.Transfers) != 4 {
							return fmt.Errorf("step %+v", s)
						}
					}
					return err
				})
				if err != nil {
					t.Errorf("%v, %s: %v", mode, name, err)
				}
			}
		}
	}
}

// The memory of this host, with sets so small that it is quick: whatever it tells, it tells of all ranks, and
// the threads' bindings are as before.
func TestInsideThisHost(t *testing.T) {
	for _, mode := range []local.Mode{local.Buffered, local.Pinned} {
		err := local.Run(2, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
			s := &InsideSettings{Bytes: 1 << 20, Repetitions: 1}
			m, err := Memory(context.Background(), c, s)
			if err != nil {
				return err
			}
			k, err := Caches(context.Background(), c, s)
			if err != nil || m == nil {
				return err
			}
			if !(m.Alone[0] > 0 && m.Alone[1] > 0 && m.Together[0] > 0 && m.Together[1] > 0) || len(m.values) != 2+2+2 || !(m.values.median(partPair, m.Bytes, 0, 1) > 0 && m.values.median(partPair, m.Bytes, 1, 0) > 0) {
				return fmt.Errorf("memory: %+v", m)
			}
			if len(k.Access) != 1 || len(k.Access[0]) != len(k.Sizes) || len(k.Sizes) != 13 || !(slices.Min(k.Access[0]) > 0) || pairsMeasured(k) != len(k.Resources) {
				return fmt.Errorf("caches: %+v", k)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// pairsMeasured counts the pairs of ranks that were measured at once.
func pairsMeasured(r *InsideResult) int {
	both := 0
	for k := range r.values {
		if k.part == partPair && k.rank < k.peer && r.values.median(partPair, k.bytes, k.peer, k.rank) > 0 {
			both++
		}
	}
	return both
}

func TestBindIsUndone(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := local.Cores()
	if err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	for index := range 3 {
		restore, err := bind(index)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := local.Cores(); err != nil || len(now) != 1 || now[0] != before[index%len(before)] {
			t.Errorf("bound to CPUs %v (%v), want the one of %v", now, err, before)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if now, err := local.Cores(); err != nil || !slices.Equal(now, before) {
			t.Errorf("CPUs %v afterwards (%v), want %v", now, err, before)
		}
	}
}

// The lines of a working set are one cycle: a walk of as many steps sees each but once.
func TestChainsAreOneCycle(t *testing.T) {
	h := newHardware(0, 0, true)
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, bytes := range []int{4096, 24 << 10, 1 << 20} {
		if err := h.warmUp(stress{bytes: bytes}); err != nil {
			t.Fatal(err)
		}
		seen := make(map[uint64]bool)
		for range bytes / lineBytes {
			if seen[h.at] || h.at >= uint64(bytes/8) || h.at%lineWords != 0 {
				t.Fatalf("%d B: word %d comes again, or is none of a line", bytes, h.at)
			}
			seen[h.at] = true
			h.walk(1)
		}
	}
}

// BenchmarkInsideThisHost is what Memory and Caches find on this host, with two ranks on its first cores.
func BenchmarkInsideThisHost(b *testing.B) {
	for b.Loop() {
		err := local.Run(2, &local.Settings{Mode: local.Pinned}, func(c mpi.Communicator) error {
			m, err := Memory(context.Background(), c, nil)
			if err != nil {
				return err
			}
			k, err := Caches(context.Background(), c, nil)
			if err != nil || m == nil {
				return err
			}
			b.ReportMetric(m.Alone[0], "alone-B/s")
			b.ReportMetric(m.Together[0], "together-B/s")
			b.ReportMetric(m.Took, "memory-s")
			b.ReportMetric(k.Took, "caches-s")
			for i, r := range k.Resources {
				b.ReportMetric(float64(r.Bytes), fmt.Sprintf("cache%d-B", i+1))
				b.ReportMetric(float64(len(r.Groups)), fmt.Sprintf("cache%d-groups", i+1))
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
