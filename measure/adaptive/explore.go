package adaptive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/words"
)

// A finding is the tree as it was found, before it is judged.
type finding struct {
	inserter
	core     *core
	first    []float64 // levels that the core has seen, ln of s
	odd      []int32   // hosts that no level explains
	stopped  bool      // before all was done
	unplaced int       // hosts that were never placed, as time was up
}

const (
	// Times that all hosts are placed anew, as levels came up that were not known: two or three are seldom needed.
	mostRestarts = 5
	// Hosts of which all pairs are read at once: less than a core and what follows would read.
	fewHosts = 12
	// Share of quadruples that a tree satisfies at least, as linkage has it.
	treeLike = 0.98
	// More hosts than this share that no level explains, or that contradict their place, are no exceptions: it is no tree
	// of equal links.
	exceptions = 0.05
)

// errNoTree says that hosts could not be placed in nested groups.
var errNoTree = errors.New("adaptive: no tree")

// Explore works out the wiring of hosts from few readings of an oracle. Where they are nested groups of equal links it
// takes some n times the sum of half the children per level, in rounds whose number grows with the logarithm of
// n. What is no tree of equal links is read by all pairs. With ErrStop of the oracle Explore returns what there
// is, with all groups uncertain; that is an error if it is nothing. O(readings) time and memory.
func Explore(hosts int, oracle Oracle, settings *Settings) (*Result, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	if hosts < 2 {
		return nil, fmt.Errorf("adaptive: %s: want at least 2", words.Count(hosts, "host"))
	}
	if err := s.validate(hosts); err != nil {
		return nil, err
	}
	l := newLedger(oracle, hosts)
	rng := rand.New(rand.NewPCG(s.Seed, uint64(hosts)))
	r := &Result{}
	err := errNoTree
	if hosts > fewHosts {
		var f *finding
		if f, err = seek(l, &s, rng); err == nil {
			r.Topology, err = f.result()
		}
	}
	if errors.Is(err, errNoTree) {
		err = r.withoutTree(l, rng)
	}
	if err != nil {
		return nil, err
	}
	r.Readings, r.Rounds = l.log, l.rounds
	r.Warnings = r.Topology.Warnings
	return r, nil
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
	err = f.grow()
	if errors.Is(err, ErrStop) {
		f.stopped, err = true, nil
		f.placeRest()
	}
	return f, err
}

// grow places all hosts and verifies their places.
func (f *finding) grow() error {
	for range mostRestarts {
		f.tree, f.givenUp, f.odd = f.core.tree(f.ledger.hosts, f.levels), nil, nil
		again, err := f.insert(slices.DeleteFunc(shuffled(f.ledger.hosts, f.rng), f.tree.has))
		if err != nil {
			return err
		}
		if again {
			continue
		}
		if again, err = f.settle(); err != nil || !again {
			return err
		}
	}
	return errNoTree
}

// settle places the odd hosts, verifies all, and places those anew that verification suspects.
func (f *finding) settle() (again bool, err error) {
	var suspects []int32
	for range mostPasses {
		if again, err = f.placeOdd(); again || err != nil {
			return again, err
		}
		if suspects, err = f.verify(setOf(f.odd), nil); err != nil {
			return false, err
		}
		if len(suspects) == 0 {
			break
		}
		f.tree = f.tree.without(setOf(suspects))
		if again, err = f.insert(suspects); again || err != nil {
			return again, err
		}
	}
	again, err = f.placeOdd()
	if err == nil && float64(len(f.odd)+len(suspects)) > exceptions*float64(f.ledger.hosts) {
		return false, errNoTree
	}
	if again || err != nil {
		return again, err
	}
	if err = f.relocate(); err != nil {
		return false, err
	}
	odd := setOf(f.odd)
	_, err = f.verify(odd, odd) // what they said of others is asked again
	return false, err
}

// placeOdd puts the hosts that no level explains where they fit best.
func (f *finding) placeOdd() (again bool, err error) {
	hosts := f.givenUp
	f.givenUp = nil
	f.odd = append(f.odd, hosts...)
	f.last = true
	again, err = f.insert(hosts)
	f.last = false
	return again, err
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

func shuffled(n int, rng *rand.Rand) []int32 {
	all := make([]int32, n)
	for k, h := range rng.Perm(n) {
		all[k] = int32(h)
	}
	return all
}

func setOf(hosts []int32) map[int32]bool {
	set := make(map[int32]bool, len(hosts))
	for _, h := range hosts {
		set[h] = true
	}
	return set
}
