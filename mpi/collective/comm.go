package collective

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// Settings of a Comm. Those of rank 0 count, but for Tag, which is equal on all ranks. Nil and the zero value
// mean all defaults.
type Settings struct {
	// Groups are the ranks that are near to each other, those of one rack or host: no rank is in two groups, and one
	// that is in none is a group of its own. model.Network.RankGroups knows them. Default: all
	// ranks are equally far from each other.
	Groups [][]int

	// Costs of messages, by which algorithms are chosen.
	Costs Costs

	// Messages lets nothing be left to the library's own collectives (mpi.NativeBarrier, NativeReduce,
	// NativeGather). Otherwise they are used where the communicator has them, even if there are Groups,
	// but for what Comm.Tune has found to be faster by messages.
	Messages bool

	// Tag of all messages. 0: mpi.MaxTag - 1.
	Tag int
}

// A Comm is a communicator that keeps what collectives need from one call to the next: buffers,
// and what is known of the wiring. Every function of this package takes one, as well as any other communicator.
// Like the communicator below it belongs to one goroutine. Other packages are given the one below, whose abilities this
// one does not show.
type Comm struct {
	mpi.Communicator
	set   mpi.Requests // nil: the communicator has none
	tag   int
	costs Costs
	limit int // bytes of a message

	barrier mpi.NativeBarrier // each nil: none
	reduce  mpi.NativeReduce
	gather  mpi.NativeGather
	blocks  mpi.NativeBlocks
	won     [kinds]uint64 // by class of sizes: messages have beaten the library's own

	watch   *tuner.Stopwatch // made when first needed
	crowded bool             // ranks share cores

	all    team
	groups [][]int // by first rank; nil: all are alone, or all in one
	group  int     // that of this rank
	own    team    // the ranks of its group
	peers  team    // those that have its place in their groups, where these are of one size; size 0: they are not

	leaders []int // first ranks of the groups
	order   []int // all ranks, one group after the other
	placeOf []int // of each rank in that order
	chosen  []int // for one collective: leaders, with the root in place of that of its group

	arena               []uint64              // scratch memory
	used                int                   // words of it
	counts, srcCounts   []int                 // in bytes
	offsets, srcOffsets []int                 // in bytes
	plain               map[reflect.Type]bool // types that were looked at
}

var _ mpi.Communicator = (*Comm)(nil)

// New is collective: it returns a communicator for collectives among the ranks of comm, which stays usable by itself. Ranks
// get to know the settings of rank 0 along a binomial tree.
func New(comm mpi.Communicator, s *Settings) (*Comm, error) {
	if s == nil {
		s = &Settings{}
	}
	c, err := wrap(comm, s.Tag)
	if err != nil {
		return nil, err
	}
	var told Settings // into which nothing of the caller's is overwritten
	if comm.Rank() == 0 {
		told = *s
	}
	err = c.tell(&told, func() (err error) {
		if told.Costs, err = s.Costs.validate(); err != nil {
			return err
		}
		return checkGroups(s.Groups, c.Size())
	})
	if err != nil {
		return nil, failed("new", err)
	}
	c.costs = told.Costs
	if told.Messages {
		c.barrier, c.reduce, c.gather, c.blocks = nil, nil, nil, nil
	}
	if told.Groups != nil {
		c.takeGroups(told.Groups)
	}
	return c, nil
}

// wrap sends nothing: all settings but the tag are the defaults.
func wrap(comm mpi.Communicator, tag int) (*Comm, error) {
	if other, ok := comm.(*Comm); ok {
		comm = other.Communicator // which has abilities
	}
	c := &Comm{Communicator: comm, tag: tag, limit: 1 << 30, all: team{size: comm.Size(), me: comm.Rank()}}
	if c.tag == 0 {
		c.tag = mpi.MaxTag - 1
	}
	if uint(c.tag) > mpi.MaxTag {
		return nil, fmt.Errorf("collective: new: Settings.Tag: %d: %w: want 0 to %d", tag, mpi.ErrTag, mpi.MaxTag)
	}
	c.costs, _ = Costs{}.validate() // which are fine
	if n, ok := comm.(mpi.NonBlocking); ok {
		c.set = n.NewRequests()
	}
	c.barrier, _ = comm.(mpi.NativeBarrier)
	c.reduce, _ = comm.(mpi.NativeReduce)
	c.gather, _ = comm.(mpi.NativeGather)
	c.blocks, _ = comm.(mpi.NativeBlocks)
	return c, nil
}

// tell is collective: value of all ranks becomes that of rank 0, if check of rank 0 (nil: nothing to check) likes it; else
// all get its error.
func (c *Comm) tell(value any, check func() error) error {
	tree := share.Binomial(c.Communicator, 0, c.tag)
	var text []byte
	var err error
	if tree.IsRoot() {
		if check != nil {
			err = check()
		}
		if err == nil {
			text, err = json.Marshal(value)
		}
	}
	if refused, failed := tree.Agree(err); refused != nil || failed != nil {
		return cmp.Or(refused, failed)
	}
	if text, err = tree.TellAny(text); err == nil && !tree.IsRoot() {
		err = json.Unmarshal(text, value)
	}
	return err
}

// checkGroups refuses ranks that do not exist, or are named twice.
func checkGroups(groups [][]int, ranks int) error {
	named := make([]bool, ranks)
	for i, g := range groups {
		for _, r := range g {
			if uint(r) >= uint(ranks) {
				return fmt.Errorf("Settings.Groups[%d]: rank %d: %w: want in [0, %d)", i, r, mpi.ErrRank, ranks)
			}
			if named[r] {
				return fmt.Errorf("Settings.Groups[%d]: rank %d is in two groups, or twice in one", i, r)
			}
			named[r] = true
		}
	}
	return nil
}

// takeGroups completes the groups and finds those that this rank is in.
func (c *Comm) takeGroups(groups [][]int) {
	named := make([]bool, c.Size())
	var own [][]int
	for _, g := range groups {
		g = slices.Clone(g)
		slices.Sort(g)
		for _, r := range g {
			named[r] = true
		}
		if len(g) > 0 {
			own = append(own, g)
		}
	}
	for r, is := range named {
		if !is {
			own = append(own, []int{r})
		}
	}
	if len(own) == 1 || len(own) == c.Size() {
		return
	}
	slices.SortFunc(own, func(a, b []int) int { return a[0] - b[0] })
	c.groups = own
	even := true
	c.placeOf = make([]int, c.Size())
	for i, g := range own {
		for _, r := range g {
			c.placeOf[r] = len(c.order)
			c.order = append(c.order, r)
		}
		c.leaders = append(c.leaders, g[0])
		even = even && len(g) == len(own[0])
		if at, in := slices.BinarySearch(g, c.Rank()); in {
			c.group, c.own = i, team{ranks: g, size: len(g), me: at}
		}
	}
	if even {
		peers := make([]int, len(own))
		for i, g := range own {
			peers[i] = g[c.own.me]
		}
		c.peers = team{ranks: peers, size: len(peers), me: c.group}
	}
	c.chosen = slices.Clone(c.leaders)
}

// of is comm itself if it is a Comm, else one that serves for one call.
func of(comm mpi.Communicator) (*Comm, error) {
	c, ok := comm.(*Comm)
	if !ok {
		return wrap(comm, 0)
	}
	c.used = 0
	return c, nil
}

// take returns n bytes of scratch memory, aligned for every type, until the end of the collective.
func (c *Comm) take(n int) []byte {
	words := (n + 7) / 8
	if c.used+words > len(c.arena) {
		// What was taken before stays in the old one.
		c.arena = make([]uint64, max(c.used+words, 2*len(c.arena)))
	}
	b := bytesOf(c.arena[c.used : c.used+words])[:n]
	c.used += words
	return b
}

// isNative tells whether the library has a collective.
func (c *Comm) isNative(k kind) bool {
	switch k {
	case barrier:
		return c.barrier != nil
	case reduction, allreduction:
		return c.reduce != nil
	}
	return c.blocks != nil || c.gather != nil
}

// checkRoot refuses roots that are no ranks.
func (c *Comm) checkRoot(root int) error {
	if uint(root) >= uint(c.all.size) {
		return fmt.Errorf("root %d: %w: want in [0, %d)", root, mpi.ErrRank, c.all.size)
	}
	return nil
}

// failed says which collective an error is of.
func failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("collective: %s: %w", name, err)
}
