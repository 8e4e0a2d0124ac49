package share

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A place is a rank of a communicator that carries nothing.
type place struct {
	mpi.Communicator
	rank, size int
}

func (p place) Rank() int { return p.rank }
func (p place) Size() int { return p.size }

type shape struct {
	name string
	tree func(comm mpi.Communicator, root, tag int) *Tree
}

var shapes = []shape{{"binomial", Binomial}, {"star", Star}}

// Every rank has one parent, which knows it as a child, and the ranks below a child are those that
// its parent takes them for. In the binomial tree no rank is further from the root than there
// are bits in the number of ranks.
func TestTreesSpanAllRanks(t *testing.T) {
	for _, s := range shapes {
		for ranks := 1; ranks <= 40; ranks++ {
			for root := range ranks {
				at := func(rank int) *Tree { return s.tree(place{rank: rank, size: ranks}, root, 0) }
				if r := at(root); !r.IsRoot() || r.root != root {
					t.Errorf("%s, %d ranks: the root %d is %+v", s.name, ranks, root, r)
				}
				var below func(rank, steps int) []int // in the order in which Gather has them
				below = func(rank, steps int) []int {
					if s.name == "binomial" && steps > bits.Len(uint(ranks-1)) || s.name == "star" && steps > 1 {
						t.Fatalf("%s, %d ranks, root %d: rank %d is %d steps away", s.name, ranks, root, rank, steps)
					}
					all := []int{rank}
					for _, b := range at(rank).branches {
						if at(b.child).parent != rank {
							t.Fatalf("%s, %d ranks, root %d: rank %d is no child of %d", s.name, ranks, root, b.child, rank)
						}
						branch := below(b.child, steps+1)
						if len(branch) != b.ranks {
							t.Errorf("%s, %d ranks, root %d: %d ranks from %d on, want %d", s.name, ranks, root, len(branch), b.child, b.ranks)
						}
						all = append(all, branch...)
					}
					return all
				}
				var want []int
				for i := range ranks {
					want = append(want, (root+i)%ranks)
				}
				if got := below(root, 0); !slices.Equal(got, want) {
					t.Errorf("%s, %d ranks, root %d: reached are %v", s.name, ranks, root, got)
				}
			}
		}
	}
}

// errands runs a body on all ranks for both shapes, with sends that wait and such that do not, and
// with pieces of 5 bytes, so that lengths of up to 16 bytes are long ones.
func errands(t *testing.T, body func(tree *Tree, comm mpi.Communicator) error) {
	t.Helper()
	const piece = 5
	for _, s := range shapes {
		for _, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
			for _, ranks := range []int{1, 2, 3, 7, 8} {
				for _, root := range []int{0, ranks / 2, ranks - 1} {
					err := local.Run(ranks, &local.Settings{Mode: mode}, func(comm mpi.Communicator) error {
						tree := s.tree(comm, root, 3)
						tree.piece = piece
						return body(tree, comm)
					})
					if err != nil {
						t.Errorf("%s, mode %d, %d ranks, root %d: %v", s.name, mode, ranks, root, err)
					}
				}
			}
		}
	}
}

var lengths = []int{0, 1, 4, 5, 6, 10, 16}

// text is what a rank has to say: other bytes on every rank.
func text(rank, length int) []byte {
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(17*rank + i + 1)
	}
	return b
}

func TestTellReachesAll(t *testing.T) {
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		for _, length := range lengths {
			want := text(tree.root, length)
			buf := text(comm.Rank(), length)
			if err := tree.Tell(buf); err != nil || !bytes.Equal(buf, want) {
				return fmt.Errorf("Tell = %v, %w, want %v", buf, err, want)
			}
			// What the others give does not count, nor how long it is.
			got, err := tree.TellAny(text(comm.Rank(), (length+comm.Rank()-tree.root)&15))
			if err != nil || !bytes.Equal(got, text(tree.root, length&15)) {
				return fmt.Errorf("TellAny of %d bytes = %v, %w", length, got, err)
			}
		}
		return nil
	})
}

func TestGatherTakesInTheOrderOfRanks(t *testing.T) {
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		for _, length := range lengths {
			next := tree.root
			var kept [][]byte
			err := tree.Gather(text(comm.Rank(), length*(comm.Rank()%3)), func(rank int, data []byte) error {
				if rank != next%comm.Size() {
					return fmt.Errorf("rank %d came, want %d", rank, next%comm.Size())
				}
				next++
				kept = append(kept, data)
				return nil
			})
			if err != nil {
				return err
			}
			if want := comm.Size(); tree.IsRoot() && len(kept) != want || !tree.IsRoot() && kept != nil {
				return fmt.Errorf("%d came, want %d, at the root only", len(kept), want)
			}
			for i, data := range kept { // nobody writes into what came before
				rank := (tree.root + i) % comm.Size()
				if want := text(rank, length*(rank%3)); !bytes.Equal(data, want) {
					return fmt.Errorf("of rank %d came %v, want %v", rank, data, want)
				}
			}
		}
		return nil
	})
}

func TestCollectMergesAll(t *testing.T) {
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		for _, length := range lengths {
			buf, scratch := bytes.Repeat([]byte{byte(comm.Rank())}, length), make([]byte, length)
			merged := 0
			err := tree.Collect(buf, scratch, func(child []byte) {
				merged++
				for i := range buf {
					buf[i] += child[i]
				}
			})
			n := comm.Size()
			want := bytes.Repeat([]byte{byte(n * (n - 1) / 2)}, length) // 0 + 1 + ... + n-1
			if err != nil || tree.IsRoot() && !bytes.Equal(buf, want) || merged != len(tree.branches) {
				return fmt.Errorf("Collect = %v after %d, %w, want %v", buf, merged, err, want)
			}
		}
		return nil
	})
}

func TestAgreeOnAnErrorOfTheRoot(t *testing.T) {
	cause, none := errors.New("the disk is full"), errors.New("")
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		for _, c := range []struct {
			root error
			want string
		}{{nil, ""}, {cause, "the disk is full"}, {none, "an error without words"}} {
			own := c.root
			if !tree.IsRoot() {
				own = errors.New("which does not count")
			}
			refused, failed := tree.Agree(own)
			switch {
			case failed != nil:
				return failed
			case tree.IsRoot() && refused != c.root:
				return fmt.Errorf("Agree = %w at the root, want %w itself", refused, c.root)
			case !tree.IsRoot() && (refused == nil) != (c.root == nil), !tree.IsRoot() && refused != nil && refused.Error() != c.want:
				return fmt.Errorf("Agree(%w) = %w, want %q", c.root, refused, c.want)
			}
		}
		return nil
	})
}

// A counter counts what is sent, and can fail.
type counter struct {
	mpi.Communicator
	sent     *[]int // lengths
	fails    int    // the operation that does, from 0 on; -1: none
	finished int
}

var errBroken = errors.New("the cable is cut")

func (c *counter) broken() error {
	if c.finished++; c.finished-1 == c.fails {
		return errBroken
	}
	return nil
}

func (c *counter) Send(buf []byte, dst, tag int) error {
	if err := c.broken(); err != nil {
		return err
	}
	*c.sent = append(*c.sent, len(buf))
	return c.Communicator.Send(buf, dst, tag)
}

func (c *counter) Recv(buf []byte, src, tag int) error {
	if err := c.broken(); err != nil {
		return err
	}
	return c.Communicator.Recv(buf, src, tag)
}

// What the errands send from rank 1, whose child in the binomial tree of 4 ranks from rank 1 is
// first 3 and then 2, is what their comments say: no message for 0 bytes but the sign of Collect.
func TestMessagesOfTheRoot(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(tree *Tree) error
		want []int // of the root, or of the last rank
		last bool
	}{
		{"Tell of 0 bytes", func(t *Tree) error { return t.Tell(nil) }, nil, false},
		{"Tell of 7 bytes", func(t *Tree) error { return t.Tell(make([]byte, 7)) }, []int{5, 5, 2, 2}, false},
		{"TellAny of 0 bytes", func(t *Tree) error { _, err := t.TellAny(nil); return err }, []int{8, 8}, false},
		{"TellAny of 7 bytes", func(t *Tree) error { _, err := t.TellAny(make([]byte, 7)); return err }, []int{8, 5, 8, 5, 2, 2}, false},
		{"Collect of 0 bytes", func(t *Tree) error { return t.Collect(nil, nil, func([]byte) {}) }, []int{0}, true},
		{"Collect of 7 bytes", func(t *Tree) error { return t.Collect(make([]byte, 7), make([]byte, 7), func([]byte) {}) }, []int{5, 2}, true},
		{"Gather of 0 bytes", func(t *Tree) error { return t.Gather(nil, func(int, []byte) error { return nil }) }, []int{8}, true},
		{"Gather of 7 bytes", func(t *Tree) error { return t.Gather(make([]byte, 7), func(int, []byte) error { return nil }) }, []int{8, 5, 2}, true},
	} {
		sent := make([][]int, 4)
		err := local.Run(4, nil, func(comm mpi.Communicator) error {
			tree := Binomial(&counter{Communicator: comm, sent: &sent[comm.Rank()], fails: -1}, 1, 0)
			tree.piece = 5
			return c.run(tree)
		})
		rank := 1
		if c.last {
			rank = 0 // the last one from rank 1 round to it
		}
		if err != nil || !slices.Equal(sent[rank], c.want) {
			t.Errorf("%s: rank %d sends %v, %v, want %v", c.name, rank, sent[rank], err, c.want)
		}
	}
}

// Whichever operation fails on whichever rank, that rank returns an error that names itself, the errand, the
// peer and the cause, and no other rank waits for ever: local.Run, which ends the world at the
// first error and finds deadlocks, returns that error.
func TestErrorsNameRankErrandAndPeer(t *testing.T) {
	const ranks = 5
	for _, c := range []struct {
		errand string
		run    func(tree *Tree) error
	}{
		{"tell", func(t *Tree) error { return t.Tell(make([]byte, 7)) }},
		{"tell", func(t *Tree) error { _, err := t.TellAny(make([]byte, 7)); return err }},
		{"tell", func(t *Tree) error { _, failed := t.Agree(errors.New("refused")); return failed }},
		{"collect", func(t *Tree) error { return t.Collect(make([]byte, 7), make([]byte, 7), func([]byte) {}) }},
		{"gather", func(t *Tree) error { return t.Gather(make([]byte, 7), func(int, []byte) error { return nil }) }},
	} {
		for _, s := range shapes {
			for victim := range ranks {
				for fails := 0; ; fails++ {
					finished := 0
					var own error
					err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
						var sent []int
						faulty := &counter{Communicator: comm, sent: &sent, fails: -1}
						if comm.Rank() == victim {
							faulty.fails = fails
						}
						tree := s.tree(faulty, 0, 0)
						tree.piece = 5
						err := c.run(tree)
						if comm.Rank() == victim {
							finished, own = faulty.finished, err
						}
						return err
					})
					if finished <= fails { // it has no such operation
						if err != nil {
							t.Errorf("%s, %s, rank %d, nothing fails: %v", c.errand, s.name, victim, err)
						}
						break
					}
					want := fmt.Sprintf("share: rank %d: %s: ", victim, c.errand)
					if !errors.Is(err, errBroken) || !errors.Is(own, errBroken) || !strings.HasPrefix(own.Error(), want) ||
						!strings.Contains(own.Error(), " rank ") || errors.Is(err, local.ErrDeadlock) {
						t.Errorf("%s, %s, rank %d, operation %d: %v, in all %v", c.errand, s.name, victim, fails, own, err)
					}
				}
			}
		}
	}
}

// The root hears the others out when it cannot use what one of them says, so that all can go on.
func TestGatherAfterAnErrorOfTake(t *testing.T) {
	bad := errors.New("no such measurement")
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		taken := 0
		err := tree.Gather(text(comm.Rank(), 11), func(rank int, _ []byte) error {
			if taken++; taken == 2 {
				return bad
			}
			return nil
		})
		if want := min(2, comm.Size()); tree.IsRoot() && (taken != want || errors.Is(err, bad) != (want == 2)) || !tree.IsRoot() && err != nil {
			return fmt.Errorf("Gather = %w after %d", err, taken)
		}
		// The tag is free of messages that nobody took.
		if got, err := tree.TellAny([]byte("on")); err != nil || string(got) != "on" {
			return fmt.Errorf("TellAny = %q, %w", got, err)
		}
		return nil
	})
}

// A message of the application, taken for a length, is an error and no want of memory.
func TestForeignMessagesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		head       uint64
		then       int // bytes of a second message
	}{
		{"a length beyond all", "announces 18446744073709551615 bytes: want at most", 1<<64 - 1, -1},
		{"a length beyond the memory", mpi.ErrLength.Error(), 1 << 62, 8},
	} {
		for _, errand := range []string{"tell", "gather"} {
			err := local.Run(2, nil, func(comm mpi.Communicator) error {
				if comm.Rank() == 1 {
					if err := comm.Send(binary.LittleEndian.AppendUint64(nil, c.head), 0, 0); err != nil || c.then < 0 {
						return err
					}
					return comm.Send(make([]byte, c.then), 0, 0)
				}
				var err error
				if errand == "tell" {
					tree := Binomial(comm, 1, 0)
					tree.piece = 1 << 10
					_, err = tree.TellAny(nil)
				} else {
					tree := Star(comm, 0, 0)
					tree.piece = 1 << 10
					err = tree.Gather(nil, func(int, []byte) error { return nil })
				}
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "share: rank 0: "+errand+": ") {
				t.Errorf("%s, %s: %v, want %q", c.name, errand, err, c.want)
			}
		}
	}
}

// Ranks that disagree about a length get an error of the communicator.
func TestTellOfDifferentLengths(t *testing.T) {
	for length, want := range map[int]error{7: mpi.ErrTruncated, 9: mpi.ErrLength} {
		err := local.Run(3, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
			buf := make([]byte, 8)
			if comm.Rank() == 2 {
				buf = make([]byte, length)
			}
			return Binomial(comm, 0, 0).Tell(buf)
		})
		if !errors.Is(err, want) {
			t.Errorf("Tell into %d bytes = %v, want %v", length, err, want)
		}
	}
}

func TestTellValue(t *testing.T) {
	type value struct {
		Name  string
		Sizes []int
	}
	errands(t, func(tree *Tree, comm mpi.Communicator) error {
		want := value{"eight", []int{8, 1 << 20}}
		var got value
		if tree.IsRoot() {
			got = want
		}
		if refused, failed := tree.TellValue(&got, nil); refused != nil || failed != nil || got.Name != want.Name || !slices.Equal(got.Sizes, want.Sizes) {
			return fmt.Errorf("TellValue = %v, %w, %w, want %v", got, refused, failed, want)
		}
		// An error of the root is one of all ranks, also one without words, and that the value is none that JSON has.
		for _, cause := range []error{errors.New("the disk is full"), errors.New("")} {
			own := cause
			if !tree.IsRoot() {
				own = nil
			}
			if refused, failed := tree.TellValue(&got, own); failed != nil || refused == nil || refused.Error() != cause.Error() {
				return fmt.Errorf("TellValue(%q) = %w, %w", cause, refused, failed)
			}
		}
		if refused, failed := tree.TellValue(math.NaN(), nil); failed != nil || refused == nil {
			return fmt.Errorf("TellValue(NaN) = %w, %w", refused, failed)
		}
		return nil
	})
}
