// Package decisions finds out how a collective operation is performed, for each class of sizes and of roots, and remembers it.
// Packages bcast and reduce are what programs call: they perform what is decided here.
//
//	base := decisions.New("reduce", comm, places, tag)
//	err := base.SetUp(&base.Setup, func() error {             // collective; the function is called on rank 0
//		return base.Prepare(settings, table.Allreduce)
//	})
//	all := base.Decisions(table.Allreduce, algorithms, timed) // one for each collective
//	decision, err := all.Contest(...)                         // collective
//
// Rank 0 decides, always: it alone has the network, predicts, and reads what earlier jobs have left in the network's table.
package decisions

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"os"
	"strings"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// A Base is what all collectives of one communicator have in common.
type Base struct {
	Setup
	Comm    mpi.Communicator
	Control *share.Tree // of the short messages by which rank 0 tells its decisions

	// Barrier returns what lets all ranks begin at once. nil: ranks wait for the root (tuner.Stopwatch).
	Barrier func(*tuner.Stopwatch) func() error

	// Network is, on rank 0, that of the ranks in their order; nil: none is known.
	Network *model.Network

	name      string // of the package, for errors
	places    []mpi.Place
	hosts     []int              // of all ranks, on rank 0
	watch     *tuner.Stopwatch   // made when first needed
	evaluator *predict.Evaluator // on rank 0, made when first needed
	job       table.Job          // on rank 0, of broadcasts
	stored    *table.Table       // on rank 0
}

// A Setup is what rank 0 tells all ranks.
type Setup struct {
	Tag            int
	Budget         time.Duration // of one call; 0: no bound
	ModelOnly      bool          // nothing is timed
	Oversubscribed bool          // some host has more ranks than cores: times are noisy
	Warnings       []string
	Groupings      []Grouping              // that of the network, and those along which choices were stored
	Tuned          map[string][]table.Cell // from the network's table, by collective
}

// Settings are those of a user.
type Settings struct {
	Network    *model.Network
	ModelOnly  bool
	Doubts     bool // ModelOnly does not hold where the network may not be that of the ranks
	Topologies []table.Topology
	Budget     time.Duration
	Tag        int // 0: that of New
}

func (s *Settings) validate() error {
	switch {
	case s.Tag < 0 || s.Tag > mpi.MaxTag:
		return fmt.Errorf("settings: tag %d: %w: want in [0, %d]", s.Tag, mpi.ErrTag, mpi.MaxTag)
	case s.Budget < 0:
		return fmt.Errorf("settings: budget %v: want at least 0", s.Budget)
	}
	return nil
}

// New returns a base on which nothing is told yet. name is that of the package, for errors. Places are those of all ranks, on
// rank 0.
func New(name string, comm mpi.Communicator, places []mpi.Place, tag int) *Base {
	b := &Base{Setup: Setup{Tag: tag}, Comm: comm, Control: share.Binomial(comm, 0, tag), name: name, places: places}
	b.hosts, _ = mpi.NumberHosts(places)
	return b
}

// SetUp is collective: prepare makes on rank 0 what v points to, with the Setup in it. All ranks get that, or its error.
func (b *Base) SetUp(v any, prepare func() error) error {
	var wrong error
	if b.Control.IsRoot() {
		wrong = prepare()
	}
	refused, failed := b.Control.TellValue(v, wrong)
	err := cmp.Or(failed, refused)
	if err == nil {
		err = b.build()
	}
	if err == nil {
		return nil
	}
	if before, after, isTag := strings.Cut(err.Error(), mpi.ErrTag.Error()); isTag && !b.Control.IsRoot() {
		err = fmt.Errorf("%s%w%s", before, mpi.ErrTag, after) // callers look for it by errors.Is
	}
	return fmt.Errorf("%s: new: %w", b.name, err)
}

// Prepare makes the Setup. Rank 0 alone calls it.
func (b *Base) Prepare(s Settings, collectives ...string) error {
	if err := s.validate(); err != nil {
		return err
	}
	b.Setup = Setup{
		Tag: cmp.Or(s.Tag, b.Tag), Budget: s.Budget, ModelOnly: s.ModelOnly,
		Oversubscribed: len(mpi.OversubscribedHosts(b.places)) > 0,
		Groupings:      []Grouping{{Wanted: s.Topologies == nil}},
		Tuned:          make(map[string][]table.Cell),
	}
	library := ""
	if v, ok := b.Comm.(mpi.Versioned); ok {
		library = v.LibraryVersion()
	}
	at := Locations(b.places)
	b.job = table.JobOf(at, library, os.Environ())
	for _, t := range s.Topologies {
		if t.Name == table.Found {
			b.Groupings[0].Wanted = true
		} else {
			b.Groupings = append(b.Groupings, Grouping{Topology: t, Wanted: true})
		}
	}
	if s.Network != nil {
		var err error
		if b.Network, b.Warnings, err = s.Network.OfJob(at); err != nil {
			return err
		}
		b.ModelOnly = b.ModelOnly && !(s.Doubts && len(b.Warnings) > 0)
		b.Groupings[0].Levels = table.Levels(b.Network.Hierarchy())
		if !b.ModelOnly || s.Doubts {
			b.findTuned(s.Network, collectives)
		}
	}
	for i := range b.Groupings {
		g := &b.Groupings[i]
		if err := g.build(len(b.places)); err != nil {
			return err
		}
		if b.Network != nil {
			if i == 0 {
				g.tree = b.Network.Hierarchy() // the tree for which predictions know what native takes in groups
			}
			g.Costs = predict.Costs(b.Network, g.tree)
		}
	}
	return nil
}

// Locations are places as networks have them.
func Locations(places []mpi.Place) []model.Location {
	at := make([]model.Location, len(places))
	for i, p := range places {
		at[i] = model.Location{Host: p.Host, Core: p.Core}
	}
	return at
}

// build works out on each rank what follows from the setup.
func (b *Base) build() error {
	for i := range b.Groupings {
		if err := b.Groupings[i].build(b.Comm.Size()); err != nil {
			return err
		}
	}
	b.Control = share.Binomial(b.Comm, 0, b.Tag)
	return nil
}

// Tree is that of the network's groups; nil: nothing is known of the ranks.
func (b *Base) Tree() *topology.Hierarchy { return b.Groupings[0].tree }

// Problem is a collective among the ranks by a plan.
func (b *Base) Problem(p predict.Plan, bytes, root int) schedule.Problem {
	return schedule.Problem{Ranks: b.Comm.Size(), Root: root, Bytes: bytes, Segment: p.Segment, Tree: b.Tree(), Costs: b.Groupings[0].Costs}
}

// Evaluator predicts on the network of the ranks. Rank 0 alone calls it.
func (b *Base) Evaluator() *predict.Evaluator {
	if b.evaluator == nil {
		if b.evaluator = predict.Uniform(b.Comm.Size()); b.Network != nil {
			b.evaluator = predict.New(b.Network)
		}
	}
	return b.evaluator
}

// Stopwatch is collective when it is called first.
func (b *Base) Stopwatch() (*tuner.Stopwatch, error) {
	if b.watch == nil {
		watch, err := tuner.NewStopwatch(b.Comm, b.Tag, b.hosts, b.Oversubscribed)
		if err != nil {
			return nil, err
		}
		if b.Barrier != nil {
			watch = watch.Together(b.Barrier(watch))
		}
		b.watch = watch
	}
	return b.watch, nil
}

// Seconds is the budget in s.
func (b *Base) Seconds() float64 {
	if b.Budget == 0 {
		return math.Inf(1)
	}
	return b.Budget.Seconds()
}

// Each is collective: it calls decide for each of n decisions. budget is a fair part of what is left of the budget of all, in s.
func (b *Base) Each(n int, decide func(i int, budget float64) error) error {
	watch, err := b.Stopwatch()
	if err != nil {
		return fmt.Errorf("%s: %w", b.name, err)
	}
	end := watch.Now() + b.Seconds() // that of rank 0 applies
	for i := range n {
		if err := decide(i, (end-watch.Now())/float64(n-i)); err != nil {
			return err
		}
	}
	return nil
}

// MaxClass is the last class of sizes, that of 0 bytes.
const MaxClass = 64

// ClassOf is the class of a size: c for 2^(c-1)+1 to 2^c bytes, for which decisions are the same: they follow from
// the largest of them. 0 bytes have a class of their own, the last, as 0-1 is the largest unsigned number.
func ClassOf(bytes int) int { return bits.Len(uint(bytes - 1)) }

// ClassBytes is the largest size of the class of a size.
func ClassBytes(bytes int) int {
	if bytes == 0 {
		return 0
	}
	return int(min(uint64(1)<<ClassOf(bytes), math.MaxInt))
}
