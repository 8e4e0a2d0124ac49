package bcast

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

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
	} {
		for _, settings := range []*Settings{nil, {ModelOnly: true}} {
			err := local.Run(4, nil, func(world mpi.Communicator) error {
				b, err := New(world, settings)
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

// While an Ibcast is under way, a Bcast is refused on every path: of a class that is native, and of one that is not.
func TestBcastBesideIbcastIsRefused(t *testing.T) {
	err := local.Run(2, nil, func(world mpi.Communicator) error {
		b, err := New(world, nil)
		if err != nil {
			return err
		}
		b.use(nativePlan(), 64, 0)
		b.use(predict.Plan{Index: 0}, 1<<20, 0)
		b.compiled[classOf(1<<20)][0] = b.compile(b.planBy(0, 4096), 1<<20, 0)
		next, err := b.start(b.compiledFor(1<<20, 0), make([]byte, 1<<20), 0)
		if err != nil {
			return err
		}
		if next.b == nil { // it was done at once
			return nil
		}
		for _, size := range []int{64, 1 << 20} {
			if err := b.Bcast(make([]byte, size), 0); !errors.Is(err, errUnderWay) {
				return fmt.Errorf("Bcast of %d bytes = %w, want it refused", size, err)
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
			{plain{world}, []string{"mpi.Placed", "mpi.NonBlocking", "mpi.NativeBcast", "bcast.plain"}},
			{nonBlocking{world, world.(mpi.NonBlocking)}, []string{"mpi.Placed", "mpi.NativeBcast"}},
		} {
			b, err := New(c.comm, nil)
			if err != nil {
				return err
			}
			told := strings.Join(b.Warnings(), "; ")
			if (told != "") != (c.want != nil) {
				return fmt.Errorf("%T: warnings %q, want %q in them", c.comm, told, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(told, want) {
					return fmt.Errorf("%T: warnings %q, want %q in them", c.comm, told, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A budget in which nothing can be measured leaves nothing behind that is taken for knowledge: with more time, native
// broadcasts in groups are measured.
func TestStarvedBudgetIsNotKnowledge(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
		b, err := New(splitLibrary{newLibrary(comm, schedule.Flat{}, 0)}, &Settings{Network: n, Budget: time.Nanosecond})
		if err != nil {
			return err
		}
		if err := b.Tune([]int{0}, 64<<10); err != nil {
			return err
		}
		if _, decided := b.Chosen(64<<10, 0); decided && b.decisions[b.key(64<<10, 0)].decided {
			return errors.New("decided within a nanosecond")
		}
		if got := len(b.exec.groups.times); got != 0 {
			return fmt.Errorf("%d times of native broadcasts in groups within a nanosecond", got)
		}
		b.budget = math.Inf(1)
		if err := b.Tune([]int{0}, 64<<10); err != nil {
			return err
		}
		if len(b.exec.groups.times) == 0 {
			return errors.New("native broadcasts in groups are not measured, though there is time")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// splitLibrary is a library whose parts have a native broadcast, too.
type splitLibrary struct{ *library }

func (l splitLibrary) Split(color, key int) (mpi.Communicator, error) {
	part, err := l.Comm.Split(color, key)
	if part == nil || err != nil {
		return nil, err
	}
	return newLibrary(part, schedule.Flat{}, 0), nil
}
