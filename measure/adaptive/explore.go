package adaptive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology/linkage"
)

// A finding is the tree as it was found, before it is judged.
type finding struct {
	tree      *tree
	in        *inserter
	levels    *levels
	core      *core
	ledger    *ledger
	likeness  float64     // share of quadruples of the core that are those of a tree
	uneven    float64     // share of triples of the core that are not those of equal links
	first     []float64   // levels that the core has seen, ln of s
	odd       []int32     // hosts that no level explains
	unsettled []*relation // what verification left open
	stopped   bool        // before all was done
	unplaced  int         // hosts that were never placed, as time was up
}

const (
	// Times that all hosts are placed anew, as levels came up that were not known: two or three are seldom needed.
	mostRestarts = 5
	// Hosts of which all pairs are read at once: less than a core and what follows would read.
	fewHosts = 12
	// Share of quadruples that a tree satisfies at least, as linkage has it.
	treeLike = 0.98
	// Share of triples that nested groups of equal links do not have: trees have up to 5 % in slow rounds, links that differ by 15
	// % of the lowest latency and more up to half. Those between are tried.
	unevenLinks = 0.1
	// More hosts than this share that no level explains, or that contradict their place, are no exceptions: it is no tree
	// of equal links.
	exceptions = 0.05
)

// errNoTree says that hosts could not be placed in nested groups.
var errNoTree = errors.New("adaptive: no tree")

// Explore works out the wiring of hosts from few readings of an oracle. Where they are nested groups of equal links it
// takes some n times the sum of half the children per level, in rounds whose number grows with the logarithm of
// n; else see Method. With MaxReadings reached, or ErrStop of the oracle, it returns what there
// is, with all groups weak; that is an error if it is nothing. O(readings) time and memory.
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
	l := newLedger(oracle, hosts, s.MaxReadings)
	rng := rand.New(rand.NewPCG(s.Seed, uint64(hosts)))
	r := &Result{Hosts: hosts, Method: MethodTree}
	err := errNoTree
	if hosts > fewHosts {
		var f *finding
		if f, err = seek(l, &s, rng); err == nil {
			r.Topology, err = f.result()
		}
	}
	if errors.Is(err, errNoTree) {
		err = r.withoutTree(l, &s, rng)
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
	core, err := readCore(l, s.Hints, rng)
	if err != nil {
		return nil, fmt.Errorf("adaptive: before anything was found: %w", err)
	}
	f := &finding{core: core, ledger: l}
	known, err := linkage.Reconstruct(matrices(core.value, len(core.hosts))...)
	if err != nil {
		return nil, err
	}
	f.likeness = known.Fit.TreeLikeness
	f.uneven = core.uneven(rng)
	if f.likeness < treeLike || f.uneven > unevenLinks {
		return nil, errNoTree
	}
	values, pairs := core.values()
	f.levels = firstLevels(values, pairs, core.noise, core.tick)
	if len(f.levels.at) == 0 {
		return nil, errNoTree
	}
	f.first = slices.Clone(f.levels.at)
	err = f.grow(s, rng)
	if errors.Is(err, ErrStop) {
		f.stopped, err = true, nil
		f.placeRest()
	}
	return f, err
}

// grow places all hosts and verifies their places.
func (f *finding) grow(s *Settings, rng *rand.Rand) error {
	f.in = &inserter{levels: f.levels, ledger: f.ledger, rng: rng}
	in := f.in
	inCore := len(f.ledger.log)
	in.hints = newHints(s, f.ledger.hosts)
	hosts := f.ledger.hosts
	for range mostRestarts {
		in.tree, in.odd = newTree(hosts), nil
		f.tree = in.tree
		in.remember(f.ledger.log[:inCore])
		again, err := in.insert(coreFirst(f.core.hosts, shuffled(hosts, rng)))
		in.memory = nil // whoever is placed once more is so by other readings
		if err != nil {
			return err
		}
		if again {
			continue
		}
		if again, err = f.settle(in); err != nil {
			return err
		}
		if !again {
			return f.prove()
		}
	}
	return errNoTree
}

// settle places the odd hosts, verifies all, and places those anew that verification suspects.
func (f *finding) settle(in *inserter) (again bool, err error) {
	odd := make(map[int32]bool)
	var suspects []int32
	for range mostPasses {
		if again, err = f.placeOdd(in, odd); again || err != nil {
			return again, err
		}
		if suspects, f.unsettled, err = in.verify(odd); err != nil || len(suspects) == 0 {
			break
		}
		gone := make(map[int32]bool, len(suspects))
		for _, h := range suspects {
			gone[h] = true
		}
		in.tree = in.tree.without(gone)
		f.tree = in.tree
		if again, err = in.insert(suspects); again || err != nil {
			return again, err
		}
	}
	if err == nil {
		again, err = f.placeOdd(in, odd)
	}
	if err == nil && float64(len(f.odd)+len(suspects)) > exceptions*float64(f.ledger.hosts) {
		return false, errNoTree
	}
	if again || err != nil {
		return again, err
	}
	if err = f.relocate(in); err == nil && len(f.odd) > 0 {
		for _, h := range f.odd {
			odd[h] = true
		}
		_, f.unsettled, err = in.verify(odd)
	}
	return false, err
}

// placeOdd puts the hosts that no level explains where they fit best.
func (f *finding) placeOdd(in *inserter, odd map[int32]bool) (again bool, err error) {
	hosts := in.odd
	in.odd = nil
	f.odd = append(f.odd, hosts...)
	for _, h := range hosts {
		odd[h] = true
	}
	in.last = true
	again, err = in.insert(hosts)
	in.last = false
	return again, err
}

// placeRest puts the hosts that have no place yet, as time is up, beside all others.
func (f *finding) placeRest() {
	if f.tree == nil {
		return
	}
	t := f.tree
	for h := range int32(t.n) {
		if !t.has(h) {
			f.unplaced++
			root := t.kids(t.top())
			if len(root) == 1 && t.isGroup(root[0]) {
				t.add(h, root[0])
			}
		}
	}
}

// coreFirst puts the hosts of the core before the others: of them all is known.
func coreFirst(core, hosts []int32) []int32 {
	rest := slices.DeleteFunc(hosts, func(h int32) bool { return slices.Contains(core, h) })
	return append(slices.Clone(core), rest...)
}

func shuffled(n int, rng *rand.Rand) []int32 {
	all := make([]int32, n)
	for k, h := range rng.Perm(n) {
		all[k] = int32(h)
	}
	return all
}
