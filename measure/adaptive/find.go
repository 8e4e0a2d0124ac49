package adaptive

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A finding is the tree as it was found, before it is judged.
type finding struct {
	inserter
	core       *core
	first      []float64 // levels that the core has seen, ln of s
	confidence map[int32]float64
	latency    map[int32]float64 // s
	stopped    bool              // before all was done
	unplaced   int               // hosts that were never placed, as time was up
}

const (
	// Times that all hosts are placed anew, as levels came up that were not known: two or three are seldom needed.
	mostRestarts = 5
	// Hosts of which all pairs are read at once: less than a core and what follows would read.
	fewHosts = 12
	// Share of quadruples that a tree satisfies at least, as linkage has it.
	treeLike = 0.98
	// Repetitions of all pairs where there is no tree, and most hosts of which they are read: 2 million pairs, and two
	// matrices of 32 MB.
	allRepetitions, mostAll = 2, 2048
	// More hosts than this share that no level explains, or that contradict their place, are no exceptions: it is no tree
	// of equal links.
	exceptions = 0.05
)

// errNoTree says that hosts could not be placed in nested groups.
var errNoTree = errors.New("adaptive: no tree")

// Settings of Find. Nil and the zero value mean all defaults.
type Settings struct {
	// Seed is that of the random choices. The same seed and the same measurements give the
	// same result.
	Seed uint64

	// Order gives each host a key. Hosts with neighbouring keys are likely near each other, as those of
	// neighbouring names. Hosts of one key are likely of one group, as the ranks of one node. A host that
	// looks for its place reads them first. Where the order is wrong, nothing but time is lost. Default: none.
	Order []int
}

// Find works out the wiring of hosts from few of their latencies. Where they are nested groups of equal links it
// takes some n times the sum of half the children per level. The number of rounds grows with the logarithm of
// n. What is no tree of equal links is read by all pairs. O(measurements) time and memory.
//
// Read measures the given pairs of hosts, all at once, and writes the latency of each in s into dst. NaN is a pair that gave
// none, and so is 0. No host is in two pairs of a call. With ErrStop of read, wrapped or not, Find returns what there
// is, with all groups uncertain; that is an error if it is nothing. Any other error is one of Find.
func Find(hosts int, read func(dst []float64, pairs [][2]int32) error, s *Settings) (*topology.Result, error) {
	s = cmp.Or(s, &Settings{})
	switch {
	case hosts < 2:
		return nil, fmt.Errorf("adaptive: %s: want at least 2", words.Count(hosts, "host"))
	case s.Order != nil && len(s.Order) != hosts:
		return nil, fmt.Errorf("adaptive: Settings.Order: of %d hosts: want of %d", len(s.Order), hosts)
	}
	l := newLedger(read, hosts)
	rng := rand.New(rand.NewPCG(s.Seed, uint64(hosts)))
	if hosts > fewHosts {
		switch f, err := seek(l, s, rng); {
		case err == nil:
			return f.result()
		case !errors.Is(err, errNoTree):
			return nil, err
		}
	}
	return withoutTree(l, rng)
}

// withoutTree finds what is no tree of equal links by all its pairs.
func withoutTree(l *ledger, rng *rand.Rand) (*topology.Result, error) {
	if l.hosts > mostAll {
		return nil, fmt.Errorf("adaptive: %d hosts that are no nested groups of equal links: only all pairs tell how they are wired: %w", l.hosts, errNoTree)
	}
	all, err := readAll(l, everyHost(l.hosts), allRepetitions, rng)
	if err != nil {
		return nil, fmt.Errorf("adaptive: all pairs: %w", err)
	}
	found, err := linkage.Reconstruct(all...)
	if err != nil {
		return nil, err
	}
	if l.hosts > fewHosts {
		found.Warnings = append(found.Warnings, "the hosts are no nested groups of equal links: all pairs were read")
	}
	return found, nil
}

// seek finds the tree; errNoTree if there is none.
func seek(l *ledger, s *Settings, rng *rand.Rand) (*finding, error) {
	o := newOrder(s.Order)
	core, err := readCore(l, o, rng)
	if err != nil {
		return nil, fmt.Errorf("adaptive: before anything was found: %w", err)
	}
	if core.found.Fit.TreeLikeness < treeLike {
		return nil, errNoTree
	}
	levels := core.levels()
	f := &finding{inserter: inserter{levels: levels, ledger: l, rng: rng, order: o}, core: core, first: slices.Clone(levels.at)}
	if err = f.grow(); err == nil {
		f.judge() // the strays tell nothing of others
		err = f.placeStrays()
	}
	if errors.Is(err, ErrStop) {
		f.stopped, err = true, nil
		f.placeRest()
		f.judge()
	}
	return f, err
}

// grow places all hosts but the strays, and verifies their places.
func (f *finding) grow() error {
	for range mostRestarts {
		f.tree, f.strays = f.core.tree(f.ledger.hosts, f.levels), slices.Clone(f.core.slow)
		hosts := slices.DeleteFunc(shuffled(f.ledger.hosts, f.rng), func(h int32) bool { return f.tree.has(h) || slices.Contains(f.strays, h) })
		if err := f.settle(hosts); err != nil || !f.again {
			return err
		}
	}
	return errNoTree
}

// settle places hosts, and those anew that verification suspects, until nothing is suspected. A host that finds no place looks
// for one once more, in whatever pass that happens. A host that finds none again is a stray. A host that is suspected to the
// last stays where it is, and its groups are uncertain.
func (f *finding) settle(hosts []int32) (err error) {
	looked := make(map[int32]bool) // hosts that get no second look: they had it, or are slow
	for _, h := range f.core.slow {
		looked[h] = true
	}
	for pass := range mostPasses {
		if err = f.insert(hosts); err != nil || f.again {
			return err
		}
		for alone := f.alone(); len(alone) > 0; alone = f.alone() { // without some of them others are alone
			f.strays = append(f.strays, alone...)
			f.tree = f.tree.without(alone)
		}
		if hosts, err = f.verify(); err != nil {
			return err
		}
		suspects := len(hosts)
		last := pass == mostPasses-1
		if !last {
			f.strays = slices.DeleteFunc(f.strays, func(h int32) bool {
				if looked[h] {
					return false
				}
				looked[h] = true
				hosts = append(hosts, h)
				return true
			})
		}
		if len(hosts) == 0 || last {
			if float64(len(f.strays)+suspects) > exceptions*float64(f.ledger.hosts) || len(f.tree.all()) == 0 {
				return errNoTree
			}
			return nil
		}
		f.tree = f.tree.without(hosts)
	}
	return nil
}

// placeRest puts the hosts that have no place yet, as time is up, beside all others.
func (f *finding) placeRest() {
	for h := range int32(f.tree.n) {
		if !f.tree.has(h) {
			f.unplaced++
			root := f.tree.kids(f.tree.top())
			if len(root) == 1 && f.tree.isGroup(root[0]) {
				f.tree.add(h, root[0])
			}
		}
	}
}

func everyHost(n int) []int32 {
	all := make([]int32, n)
	for h := range all {
		all[h] = int32(h)
	}
	return all
}

func shuffled(n int, rng *rand.Rand) []int32 {
	all := everyHost(n)
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
