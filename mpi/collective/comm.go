package collective

import (
	"fmt"
	"math"
	"reflect"

	"github.com/topocast/topocast/mpi"
)

// tag is the tag of all messages but those of Sendrecv.
const tag = mpi.MaxTag - 1

// A Comm is what a rank keeps for collectives over a communicator: scratch memory and a set of requests. Like the
// communicator it belongs to one goroutine.
type Comm struct {
	comm       mpi.Communicator
	native     mpi.Collectives // nil: the communicator has none
	set        mpi.Requests    // nil: the communicator has none
	rank, size int
	limit      int // bytes of one message; longer ones are cut

	dst, src layout
	scratch  [2][]uint64
	plain    map[reflect.Type]bool // types that isPlain was asked about
}

// New returns a Comm over comm, which stays usable by itself. New sends nothing.
func New(comm mpi.Communicator) *Comm {
	c := &Comm{comm: comm, rank: comm.Rank(), size: comm.Size(), limit: 1 << 30, plain: make(map[reflect.Type]bool)}
	c.native, _ = comm.(mpi.Collectives)
	if n, ok := comm.(mpi.NonBlocking); ok {
		c.set = n.NewRequests()
	}
	c.dst, c.src = newLayout(c.size), newLayout(c.size)
	return c
}

// usesNative tells whether the native collective takes blocks of so many bytes in all.
func (c *Comm) usesNative(bytes int) bool { return c.native != nil && bytes <= math.MaxInt32 }

// A layout says where the blocks of a buffer are, in bytes. Blocks follow one another in the order of ranks.
type layout struct {
	counts  []int // never nil: see mpi.Collectives
	offsets []int
}

func newLayout(ranks int) layout { return layout{make([]int, 0, ranks), make([]int, 0, ranks)} }

// add appends a block.
func (l *layout) add(bytes int) {
	at := 0
	if last := len(l.counts) - 1; last >= 0 {
		at = l.offsets[last] + l.counts[last]
	}
	l.counts, l.offsets = append(l.counts, bytes), append(l.offsets, at)
}

// set lays out blocks of counts[i] values of the given size.
func (l *layout) set(counts []int, size int) {
	l.counts, l.offsets = l.counts[:0], l.offsets[:0]
	for _, n := range counts {
		l.add(n * size)
	}
}

// setEqual lays out blocks of equal length.
func (l *layout) setEqual(ranks, bytes int) {
	l.counts, l.offsets = l.counts[:0], l.offsets[:0]
	for range ranks {
		l.add(bytes)
	}
}

// block is the block of a rank in buf.
func (l *layout) block(buf []byte, rank int) []byte { return buf[l.offsets[rank]:][:l.counts[rank]] }

// checkRoot refuses a root that is no rank.
func (c *Comm) checkRoot(root int) error {
	if uint(root) >= uint(c.size) {
		return fmt.Errorf("root %d: %w: want in [0, %d)", root, mpi.ErrRank, c.size)
	}
	return nil
}

// checkTypeAndRoot has the checks of operations with a root.
func checkTypeAndRoot[T any](c *Comm, root int) error {
	if err := checkType[T](c); err != nil {
		return err
	}
	return c.checkRoot(root)
}

// checkLength compares the length of a slice with what it has to be.
func checkLength(name string, have, want int) error {
	if have != want {
		return fmt.Errorf("%s of %d values: want %d", name, have, want)
	}
	return nil
}

// checkCounts holds a slice of have values to counts, of which this rank's own is own.
func (c *Comm) checkCounts(name string, have int, counts []int, own int) error {
	if err := c.checkNumber(name, counts); err != nil {
		return err
	}
	sum := 0
	for i, n := range counts {
		if n < 0 || n > math.MaxInt-sum {
			return fmt.Errorf("count %d of %s is %d: want at least 0, and a sum that is a length", i, name, n)
		}
		sum += n
	}
	if counts[c.rank] != own {
		return fmt.Errorf("%d values of this rank: its count of %s is %d", own, name, counts[c.rank])
	}
	return checkLength(name, have, sum)
}

// checkNumber refuses counts that are not one for each rank.
func (c *Comm) checkNumber(name string, counts []int) error {
	if len(counts) != c.size {
		return fmt.Errorf("%d counts of %s: want one for each rank, %d", len(counts), name, c.size)
	}
	return nil
}

// failed says which operation an error is of.
func failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("collective: %s: %w", name, err)
}
