package bcast_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// Ranks that disagree about the root or the length of a first broadcast get one error each, which says so, and no byte of
// the message is sent.
func TestRanksThatDisagreeAreTold(t *testing.T) {
	for _, c := range []struct {
		name        string
		bytes, root func(rank int) int
		want        string
	}{
		{"roots", func(int) int { return 100 }, func(rank int) int { return rank / 3 }, "disagree about the root: this rank says %d, and the ranks say 0 to 1"},
		{"lengths", func(rank int) int { return 100 + rank/3 }, func(int) int { return 0 }, "disagree about the length in bytes: this rank says %d, and the ranks say 100 to 101"},
		{"lengths of other classes", func(rank int) int { return 8 << rank }, func(int) int { return 0 }, "disagree about the length in bytes: this rank says %d, and the ranks say 8 to 64"},
		{"a nil buffer", func(rank int) int { return 100 * (rank % 2) }, func(int) int { return 0 }, "disagree about the length in bytes: this rank says %d, and the ranks say 0 to 100"},
	} {
		for _, settings := range []*bcast.Settings{nil, {ModelOnly: true}} {
			err := local.Run(4, nil, func(world mpi.Communicator) error {
				b, err := bcast.New(world, settings)
				if err != nil {
					return err
				}
				bytes, root := c.bytes(world.Rank()), c.root(world.Rank())
				said := bytes
				if c.name == "roots" {
					said = root
				}
				err = b.Bcast(make([]byte, bytes), root)
				if want := fmt.Sprintf(c.want, said); err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("Bcast = %w, want %q", err, want)
				}
				return verified(world, 50, 3, func(buf []byte) error { return b.Bcast(buf, 3) }) // nothing is lost
			})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// A root that is no rank on one rank only is an error on all ranks in the first broadcast of a class of sizes, and the ranks go on
// together. The rank says what is wrong, and the others that the ranks disagree.
func TestARootThatIsNoRankIsTold(t *testing.T) {
	for _, settings := range []*bcast.Settings{nil, {ModelOnly: true}} {
		for wrong := range 5 {
			if err := local.Run(5, nil, func(world mpi.Communicator) error { return oneWrongRoot(world, settings, wrong) }); err != nil {
				t.Errorf("rank %d: %v", wrong, err)
			}
			cluster, err := simnet.ParseCluster("star:5")
			if err != nil {
				t.Fatal(err)
			}
			if err := simnet.Run(cluster.Graph, nil, cluster.Settings(), func(world mpi.Communicator) error { return oneWrongRoot(world, settings, wrong) }); err != nil {
				t.Errorf("simulated, rank %d: %v", wrong, err)
			}
		}
	}
}

// oneWrongRoot lets one rank pass a root that is no rank, in first broadcasts and in one of a class that is decided.
func oneWrongRoot(world mpi.Communicator, settings *bcast.Settings, wrong int) error {
	b, err := bcast.New(world, settings)
	if err != nil {
		return err
	}
	root, want := 0, error(nil)
	first := 0 // of the others
	if wrong == 0 {
		first = 1
	}
	told := fmt.Sprintf("disagree about the root: this rank says 0, and the ranks say 0 to 99 (rank %d and rank %d)", first, wrong)
	if world.Rank() == wrong {
		root, want = 99, mpi.ErrRank
	}
	for _, size := range []int{100, 0} {
		for range 2 { // the application goes on as if nothing had been
			err := b.Bcast(make([]byte, size), root)
			if err == nil || want != nil && !errors.Is(err, want) || want == nil && !strings.HasSuffix(err.Error(), told) {
				return fmt.Errorf("Bcast of %d bytes = %w, want %v", size, err, want)
			}
		}
		if err := verified(world, size, 1, func(buf []byte) error { return b.Bcast(buf, 1) }); err != nil {
			return err
		}
	}
	if err := b.Bcast(nil, 0); err != nil {
		return err
	}
	for range 2 {
		if err := b.Bcast(nil, root); !errors.Is(err, want) { // sends nothing
			return fmt.Errorf("Bcast of no bytes = %w, want %v", err, want)
		}
	}
	if err := b.Tune(nil, 8); err == nil || !strings.Contains(err.Error(), "disagree about the number of calls before") {
		return fmt.Errorf("Tune = %w, want that the ranks disagree", err)
	}
	return b.Tune(nil, 8)
}

// Candidates is collective, too: rank 0 predicts.
func TestWrongCandidatesAreTold(t *testing.T) {
	for wrong := range 3 {
		if err := local.Run(3, nil, func(world mpi.Communicator) error {
			b, err := bcast.New(world, nil)
			if err != nil {
				return err
			}
			bytes, root, want := 100, 0, "disagree about the root"
			if world.Rank() == wrong {
				root, want = 99, "root 99"
			}
			if _, err := b.Candidates(bytes, root); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("error %w, want %q", err, want)
			}
			if root = 0; world.Rank() == wrong {
				bytes = -1
			}
			if _, err := b.Candidates(bytes, root); err == nil {
				return errors.New("sizes differ: no error")
			}
			_, err = b.Candidates(100, 0)
			return err
		}); err != nil {
			t.Errorf("rank %d: %v", wrong, err)
		}
	}
}

// One rank tunes where another one broadcasts.
func TestRanksThatBeginDifferentOperationsAreTold(t *testing.T) {
	if err := local.Run(3, nil, func(world mpi.Communicator) error {
		b, err := bcast.New(world, nil)
		if err != nil {
			return err
		}
		if world.Rank() == 1 {
			err = b.Tune([]int{1}, 8)
		} else {
			err = b.Bcast(make([]byte, 1), 1) // as many roots and sizes as the root and the bytes say
		}
		if err == nil || !strings.Contains(err.Error(), "disagree about the operation") {
			return fmt.Errorf("error %w, want that the ranks disagree about the operation", err)
		}
		return verified(world, 50, 1, func(buf []byte) error { return b.Bcast(buf, 1) })
	}); err != nil {
		t.Error(err)
	}
}

// A warm broadcast of 0 bytes sends nothing, and so does one that a rank leaves out. What the ranks have done differently since they
// agreed last is an error in the next first broadcast, or in Tune.
func TestRanksThatDisagreedAreTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls func(b *bcast.Broadcaster, rank int) error
		want  string
	}{
		{"a call left out", func(b *bcast.Broadcaster, rank int) error {
			err := b.Bcast(nil, 0)
			for range rank {
				err = cmp.Or(err, b.Bcast(nil, 0))
			}
			return cmp.Or(err, b.Bcast(make([]byte, 100), 0))
		}, "disagree about the number of calls before"},
		{"a rank with no bytes in between", func(b *bcast.Broadcaster, rank int) error {
			err := b.Bcast(nil, 0)
			if rank == 1 {
				err = cmp.Or(err, b.Bcast(nil, 0))
			}
			return cmp.Or(err, b.Bcast(make([]byte, 100), 0))
		}, "disagree about the number of calls before"},
		{"roots of no bytes", func(b *bcast.Broadcaster, rank int) error {
			err := cmp.Or(b.Bcast(nil, 0), b.Bcast(nil, 1), b.Bcast(nil, rank/2))
			return cmp.Or(err, b.Tune(nil, 100))
		}, "disagree about the arguments of a call before"},
		{"number of sizes", func(b *bcast.Broadcaster, rank int) error {
			return b.Tune(nil, make([]int, rank)...)
		}, "disagree about the number of sizes"},
		{"sizes", func(b *bcast.Broadcaster, rank int) error {
			return b.Tune(nil, 10, 20+rank)
		}, "disagree about the sizes in bytes"},
		{"roots", func(b *bcast.Broadcaster, rank int) error {
			return b.Tune([]int{rank}, 10)
		}, "disagree about the roots"},
		{"roots, one of them no rank", func(b *bcast.Broadcaster, rank int) error {
			return b.Tune([]int{9 * (rank / 2)}, 10)
		}, "disagree about the roots"},
	} {
		if err := local.Run(3, nil, func(world mpi.Communicator) error {
			b, err := bcast.New(world, nil)
			if err != nil {
				return err
			}
			if err := c.calls(b, world.Rank()); err == nil || !strings.Contains(err.Error(), c.want) {
				return fmt.Errorf("error %w, want %q", err, c.want)
			}
			return verified(world, 50, 1, func(buf []byte) error { return b.Bcast(buf, 1) }) // the ranks go on together
		}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Broadcasts of 0 bytes from a root send messages once: the ranks agree.
func TestNoBytesAreCheap(t *testing.T) {
	if err := local.Run(3, nil, func(world mpi.Communicator) error {
		c := &failing{Communicator: world}
		b, err := bcast.New(c, nil)
		if err == nil {
			err = cmp.Or(b.Bcast(nil, 1), b.Bcast([]byte{}, 2))
		}
		if plan, e := b.Plan(0, 1); e != nil || plan.Algorithm != nil {
			err = cmp.Or(err, e, fmt.Errorf("plan %v", plan))
		}
		before := c.calls
		for range 10 {
			err = cmp.Or(err, b.Bcast(nil, 1), b.Bcast([]byte{}, 2))
		}
		if err == nil && c.calls != before {
			err = fmt.Errorf("%d messages", c.calls-before)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// While an Ibcast is under way, a Bcast is refused on every path: of a class that is native, and of one that is not.
func TestBcastBesideIbcastIsRefused(t *testing.T) {
	const late = 6 // tag
	err := local.Run(2, &local.Settings{Mode: local.Rendezvous}, func(world mpi.Communicator) error {
		b, err := bcast.New(world, nil)
		if err != nil {
			return err
		}
		b.Decide(nativePlan, 64, 0)
		b.Decide(predict.Plan{Algorithm: schedule.Flat{}, Segment: 4096}, 1<<20, 0)
		if world.Rank() == 1 { // it joins when the other rank has tried
			if err := world.Recv(nil, 0, late); err != nil {
				return err
			}
		}
		next, err := b.Ibcast(make([]byte, 1<<20), 0)
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			for _, size := range []int{64, 1 << 20} {
				if err := b.Bcast(make([]byte, size), 0); !isRefused(err) {
					return fmt.Errorf("Bcast of %d bytes = %w, want it refused", size, err)
				}
			}
			if err := world.Send(nil, 1, late); err != nil {
				return err
			}
		}
		return next.Wait()
	})
	if err != nil {
		t.Error(err)
	}
}

// A communicator that hides what it wraps is warned about, and one that does not is not.
func TestHiddenAbilitiesAreTold(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		for _, c := range []struct {
			comm mpi.Communicator
			want []string
		}{
			{world, nil},
			{plain{world}, []string{"mpi.Placed", "mpi.NonBlocking", "mpi.NativeBcast", "bcast_test.plain"}},
			{nonBlocking{world, world.(mpi.NonBlocking)}, []string{"mpi.Placed", "mpi.NativeBcast"}},
		} {
			b, err := bcast.New(c.comm, nil)
			if err != nil {
				return err
			}
			warned := strings.Join(b.Warnings(), "; ")
			if (warned != "") != (c.want != nil) {
				return fmt.Errorf("%T: warnings %q, want %q in them", c.comm, warned, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(warned, want) {
					return fmt.Errorf("%T: warnings %q, want %q in them", c.comm, warned, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Where none of the algorithms can be performed, native stays, and without it all ranks get an error.
func TestNoAlgorithmCanBePerformed(t *testing.T) {
	for _, modelOnly := range []bool{false, true} {
		err := local.Run(2, nil, func(world mpi.Communicator) error {
			b, err := bcast.New(world, &bcast.Settings{Algorithms: []schedule.Algorithm{schedule.NativeGroups{}}, ModelOnly: modelOnly})
			if err != nil {
				return err
			}
			err = verified(world, 100, 1, func(buf []byte) error { return b.Bcast(buf, 1) })
			if modelOnly {
				if err == nil || !strings.Contains(err.Error(), "add schedule.Flat") {
					return fmt.Errorf("Bcast = %w, want an error that says what to add", err)
				}
				return nil
			}
			if plan, unknown := b.Plan(100, 1); err != nil || unknown != nil || plan.Name() != "native" {
				return fmt.Errorf("%v, %w, %w, want native", plan, err, unknown)
			}
			return nil
		})
		if err != nil {
			t.Errorf("model only %v: %v", modelOnly, err)
		}
	}
}

// A budget in which nothing can be measured leaves nothing behind that is taken for knowledge: with more time, native
// broadcasts in groups are measured.
func TestStarvedBudgetIsNotKnowledge(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		l := &splitLibrary{library: newLibrary(comm, schedule.Flat{}, 0)}
		b, err := bcast.New(l, &bcast.Settings{Network: n, Budget: time.Nanosecond})
		if err != nil {
			return err
		}
		if err := b.Tune([]int{0}, 64<<10); err != nil {
			return err
		}
		if tuned, err := b.Table(time.Time{}); err != nil || tuned != nil && isDecided(tuned, 64<<10) {
			return fmt.Errorf("decided within a nanosecond, %w", err)
		}
		if known, err := predictsGroups(b, 64<<10); err != nil || known || l.inGroups() > 0 {
			return fmt.Errorf("%d native broadcasts in groups within a nanosecond, which are predicted: %v, %w", l.inGroups(), known, err)
		}
		b.SetBudget(math.Inf(1))
		if err := b.Tune([]int{0}, 64<<10); err != nil {
			return err
		}
		if known, err := predictsGroups(b, 64<<10); err != nil || !known {
			return fmt.Errorf("native broadcasts in groups are not predicted, though there is time to measure them: %w", err)
		}
		always := &splitLibrary{library: newLibrary(comm, schedule.Flat{}, 0)}
		if b, err = bcast.New(always, &bcast.Settings{Network: n}); err != nil {
			return err
		}
		if err := b.Tune([]int{0}, 64<<10); err != nil {
			return err
		}
		if l.least != always.least {
			return fmt.Errorf("native broadcasts in groups are measured from %d bytes on, and where there is always time from %d", l.least, always.least)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// predictsGroups tells whether the plan with native broadcasts in groups has a prediction. It has none while native is not
// measured in them.
func predictsGroups(b *bcast.Broadcaster, bytes int) (bool, error) {
	plans, err := b.Candidates(bytes, 0)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(plans, func(p predict.Plan) bool { return p.Name() == "native-groups" })
	if i < 0 {
		return false, fmt.Errorf("no plan with native broadcasts in groups among %v", plans)
	}
	return !math.IsNaN(plans[i].Predicted), nil
}

// splitLibrary is a library whose parts have a native broadcast, too.
type splitLibrary struct {
	*library
	parts []*library
	least int // bytes of the shortest broadcast in a part; 0: none
}

func (l *splitLibrary) Split(color, key int) (mpi.Communicator, error) {
	part, err := l.Comm.Split(color, key)
	if part == nil || err != nil {
		return nil, err
	}
	own := newLibrary(part, schedule.Flat{}, 0)
	own.more = func(_, _, bytes int, _ float64) float64 {
		if l.least == 0 || bytes < l.least {
			l.least = bytes
		}
		return 0
	}
	l.parts = append(l.parts, own)
	return own, nil
}

// inGroups is how many native broadcasts there were in the parts.
func (l *splitLibrary) inGroups() (calls int) {
	for _, part := range l.parts {
		calls += part.calls
	}
	return calls
}
