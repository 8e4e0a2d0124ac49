package bcast_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// What one job has tuned, the next one of the same ranks finds in the network's file, on all of
// its ranks, and times nothing; any other job tunes for itself, and gets a warning.
func TestNextJobStartsTuned(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	sizes := []int{8, 3000, 100 << 10}
	block := []int{0, 1, 2, 3, 4, 5}
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var stored *table.Table
	plans := make(map[string]string)
	err := simnet.Run(c.Graph, block, overheads, func(comm mpi.Communicator) error {
		b, err := bcast.New(newLibrary(comm, schedule.Flat{}, 0), &bcast.Settings{Network: n})
		if err != nil {
			return err
		}
		if err := b.Tune(nil, sizes...); err != nil {
			return err
		}
		got, err := b.Table(date)
		if err != nil || (got != nil) != (comm.Rank() == 0) {
			return fmt.Errorf("rank %d: %v, %v", comm.Rank(), got, err)
		}
		if comm.Rank() > 0 {
			return nil
		}
		stored = got
		for _, size := range sizes {
			for root := range comm.Size() {
				plan, err := b.Plan(size, root)
				if err != nil {
					return err
				}
				plans[fmt.Sprint(size, root)] = plan.How()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tunings := stored.Tunings()
	if len(tunings) != 1 || len(tunings[0].Cells) != len(sizes) || tunings[0].Date != "2026-01-02T03:04:05Z" {
		t.Fatalf("stored %+v", tunings)
	}
	ours := 0
	for _, how := range plans {
		if how != "native" {
			ours++
		}
	}
	if ours == 0 {
		t.Fatalf("plans %v: nothing of ours has won, and the test shows nothing", plans)
	}
	n, err = stored.Keep(n)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	if n, err = model.Read(strings.NewReader(file.String())); err != nil {
		t.Fatal(err)
	}
	edited, _, _ := strings.Cut(file.String(), `,"checksum"`)
	damaged, err := model.Read(strings.NewReader(strings.Replace(edited, `"up_to_bytes":8,`, `"up_to_bytes":9,`, 1) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name      string
		placement []int
		settings  bcast.Settings
		native    bool
		tuned     bool
		warning   string
	}{
		{"the same", block, bcast.Settings{Network: n}, true, true, ""},
		{"in another order", []int{1, 0, 2, 3, 4, 5}, bcast.Settings{Network: n}, true, false, "is of other ranks"},
		{"some of the hosts", block[:4], bcast.Settings{Network: n}, true, false, "is of other ranks"},
		{"predictions are to be followed", block, bcast.Settings{Network: n, ModelOnly: true}, true, false, ""},
		{"nothing to compare with", block, bcast.Settings{Network: n}, false, false, "lacks mpi.NonBlocking"},
		{"other algorithms", block, bcast.Settings{Network: n, Algorithms: []schedule.Algorithm{schedule.Binomial{}}}, true, false, ""},
		{"other groups are asked for", block, bcast.Settings{Network: n, Topologies: []table.Topology{{Name: "flat"}}}, true, true, ""},
		{"a damaged table", block, bcast.Settings{Network: damaged}, true, false, "cannot be read"},
	} {
		err := simnet.Run(c.Graph, x.placement, overheads, func(comm mpi.Communicator) error {
			l := newLibrary(comm, schedule.Flat{}, 0)
			var over mpi.Communicator = l
			if !x.native {
				over = plain{comm}
			}
			s := x.settings
			if comm.Rank() > 0 {
				s.Network = nil // the others get it from rank 0
			}
			b, err := bcast.New(placedLike(over, comm), &s)
			if err != nil {
				return err
			}
			if warnings := strings.Join(b.Warnings(), "; "); x.warning == "" && warnings != "" || !strings.Contains(warnings, x.warning) {
				return fmt.Errorf("warnings %q, want %q", warnings, x.warning)
			}
			_, first := b.Plan(sizes[1], 0)
			_, second := b.Plan(sizes[2], 0)
			if (first == nil && second == nil) != x.tuned {
				return fmt.Errorf("%v, %v, want it tuned: %v", first, second, x.tuned)
			}
			for _, size := range sizes {
				for root := range comm.Size() {
					if !x.tuned {
						continue
					}
					plan, err := b.Plan(size, root)
					if err != nil || plan.How() != plans[fmt.Sprint(size, root)] {
						return fmt.Errorf("%d bytes from %d: %v, %v, want %s", size, root, plan, err, plans[fmt.Sprint(size, root)])
					}
					if err := verified(comm, size, root, func(buf []byte) error { return b.Bcast(buf, root) }); err != nil {
						return err
					}
				}
			}
			if x.tuned {
				return onlyConfirmed(b)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// onlyConfirmed returns an error if a choice of a broadcaster rests on more than the pairs that confirm one.
func onlyConfirmed(b *bcast.Broadcaster) error {
	tuned, err := b.Table(time.Time{})
	if err != nil || tuned == nil {
		return err
	}
	all := tuned.Tunings()
	for _, c := range all[len(all)-1].Cells {
		if c.Algorithm != table.Native && c.Pairs > 11 {
			return fmt.Errorf("%d bytes: %v rests on %d pairs, want at most 11", c.Bytes, c.Choice, c.Pairs)
		}
	}
	return nil
}

// A stored win is confirmed by seven pairs before it displaces native. Where native has become faster since, without any
// setting that tells, native stays.
func TestStoredWinIsConfirmed(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=1Gbps")
	const size = 64
	slow := func(int, int, int, float64) float64 { return 1e-3 }
	job := func(n *model.Network, more func(int, int, int, float64) float64) (stored *table.Table, choice table.Choice) {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			l := newLibrary(comm, schedule.Flat{}, 0)
			l.more = more
			b, err := bcast.New(l, &bcast.Settings{Network: n})
			if err != nil {
				return err
			}
			if err := verified(comm, size, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
				return err
			}
			got, err := b.Table(time.Time{})
			if err == nil && got != nil {
				stored = got
				choice, _ = got.Tunings()[0].Choice(size, 1)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return stored, choice
	}
	stored, first := job(n, slow)
	if first.Algorithm == table.Native {
		t.Fatalf("%v: nothing of ours has won, and the test shows nothing", first)
	}
	n, err := stored.Keep(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, again := job(n, slow); again.Algorithm != first.Algorithm || again.Segment != first.Segment || again.Pairs != 7 {
		t.Errorf("the same job: %v by %d pairs, want %v by 7", again, again.Pairs, first)
	}
	if _, now := job(n, nil); now.Algorithm != table.Native || now.Pairs == 0 {
		t.Errorf("native is as fast as ours now: %v by %d pairs, want native", now, now.Pairs)
	}
}

// placedLike is a communicator whose ranks run where those of another do.
func placedLike(c, at mpi.Communicator) mpi.Communicator {
	if _, ok := c.(mpi.NativeBcast); ok {
		return c
	}
	return struct {
		mpi.Communicator
		mpi.Placed
	}{c, at.(mpi.Placed)}
}
