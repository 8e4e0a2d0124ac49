package bcast

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// terms are what rank 0 tells all ranks when a broadcaster is made.
type terms struct {
	Tag         int
	Budget      time.Duration
	ModelOnly   bool
	Fit         fit
	Fingerprint uint64   // of rank 0's network
	Crowded     bool     // ranks share cores on some host
	Doubtful    bool     // the network may not be that of the ranks
	Algorithms  []string // names of Settings.Algorithms; nil: the usual ones
	Costs       []byte   // schedule.Costs of the ranks; nil: not known
	Warnings    []string
	Tuned       []tuned    // from the network's table
	Groupings   []grouping `json:",omitempty"` // the ways to see the ranks besides that which was found
	FoundIsOut  bool       `json:",omitempty"` // that one is not asked for
	Error       string     // why there is no broadcaster

	job    table.Job    // on rank 0
	stored *table.Table // on rank 0: that of the network

	tunedAlong []table.Topology // on rank 0: of the table
}

// shareTerms is collective: all ranks get the terms of rank 0, or its error,
// and rank 0 its network as these ranks see it.
func shareTerms(c *crew, s *Settings, places []mpi.Place) (*terms, *model.Network, error) {
	if s == nil {
		s = &Settings{}
	}
	var t terms
	var view *model.Network
	var wrong error
	var out []byte
	if c.isRoot() {
		t.Tag, t.Budget, t.ModelOnly = s.Tag, s.Budget, s.ModelOnly
		t.Crowded = len(mpi.OversubscribedHosts(places)) > 0
		t.Algorithms = names(s.Algorithms)
		t.job = jobOf(c.exec.comm, places)
		if s.Network != nil {
			view, wrong = t.take(s.Network, places)
		}
		if wrong == nil {
			wrong = validateTopologies(s.Topologies)
		}
		if wrong == nil {
			wrong = t.group(s.Topologies, view, places)
		}
		if wrong != nil {
			t.Error = wrong.Error()
		}
		var err error
		if out, err = json.Marshal(&t); err != nil {
			return nil, nil, fmt.Errorf("bcast: new: %w", err)
		}
	}
	in, err := c.tellAny(out)
	if err != nil {
		return nil, nil, err
	}
	if !c.isRoot() {
		if err := json.Unmarshal(in, &t); err != nil {
			return nil, nil, fmt.Errorf("bcast: new: settings of rank 0: %w", err)
		}
	}
	// All look at the same values, and so return the same kind of error.
	if err := (&Settings{Tag: t.Tag, Budget: t.Budget}).validate(); err != nil {
		return nil, nil, err
	}
	if t.Error != "" {
		if wrong == nil {
			wrong = errors.New(t.Error)
		}
		return nil, nil, wrong
	}
	if err := sameAlgorithms(c, t.Algorithms, names(s.Algorithms)); err != nil {
		return nil, nil, err
	}
	return &t, view, nil
}

// sameAlgorithms is collective: it returns the same kind of error on all ranks if
// one of them has other algorithms than rank 0, which has some of its own.
func sameAlgorithms(c *crew, want, own []string) error {
	if want == nil {
		return nil
	}
	differs, scratch := []byte{0}, []byte{0} // on this rank or one below
	if !slices.Equal(own, want) {
		differs[0] = 1
	}
	if err := c.collect(differs, scratch, func(child []byte) { differs[0] |= child[0] }); err != nil {
		return err
	}
	if err := c.tell(differs); err != nil {
		return err
	}
	if differs[0] != 0 {
		return fmt.Errorf("bcast: settings: algorithms %q of rank 0: want the same on all ranks, rank %d has %q", want, c.exec.comm.Rank(), own)
	}
	return nil
}

// names tells algorithms and their settings apart; nil if there are none.
func names(algorithms []schedule.Algorithm) []string {
	var list []string
	for _, a := range algorithms {
		list = append(list, schedule.Text(a))
	}
	return list
}

// take notes in the terms how the network serves the ranks, and returns it as
// they see it.
func (t *terms) take(n *model.Network, places []mpi.Place) (*model.Network, error) {
	at := locations(places)
	var err error
	if t.Fit, t.Warnings, err = fitting(n, at); err != nil {
		return nil, err
	}
	t.Fingerprint = fingerprint(n)
	view, err := t.Fit.view(n, at)
	if err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	if t.Costs, err = predict.Costs(view).AppendBinary(nil); err != nil {
		return nil, fmt.Errorf("bcast: new: %w", err)
	}
	t.Doubtful = len(t.Warnings) > 0
	t.find(n, view)
	return view, nil
}

// costsOf are costs that were told.
func costsOf(told []byte) (*schedule.Costs, error) {
	if told == nil {
		return nil, nil
	}
	var c schedule.Costs
	if err := c.UnmarshalBinary(told); err != nil {
		return nil, fmt.Errorf("bcast: new: costs of rank 0: %w", err)
	}
	return &c, nil
}

// A knowledge is what a rank has of the network of all ranks.
type knowledge struct {
	network *model.Network // nil: nothing
	fit     fit
	at      []byte              // locations of the ranks, as they travel; nil with fitAsIs
	tree    *topology.Hierarchy // of the ranks, the same on all of them; nil: nothing is known
	costs   *schedule.Costs     // the same on all of them; nil: nothing is known
}

// What ranks have of rank 0's network.
const (
	someLack = 1 << iota
	someHave // rank 0 aside
)

// shareNetwork is collective. All ranks get the tree of rank 0's view. Those
// that have its network keep that, and take the view of it when they have to
// predict, for which they get the locations; if there are others, they get the
// view. Rank 0 alone has view and at.
func shareNetwork(c *crew, t *terms, own, view *model.Network, at []model.Location) (*knowledge, error) {
	if t.Fit == fitNone {
		return &knowledge{}, nil
	}
	have := own != nil && fingerprint(own) == t.Fingerprint
	all, scratch := []byte{someLack}, []byte{0} // of this rank and those below
	switch {
	case c.isRoot():
		all[0] = 0
	case have:
		all[0] = someHave
	}
	if err := c.collect(all, scratch, func(child []byte) { all[0] |= child[0] }); err != nil {
		return nil, err
	}
	if err := c.tell(all); err != nil {
		return nil, err
	}
	k := &knowledge{network: own, fit: t.Fit}
	if t.Fit != fitAsIs && all[0]&someHave != 0 {
		var err error
		if k.at, err = c.tellAny(appendLocations(nil, at)); err != nil {
			return nil, err
		}
	}
	if c.isRoot() {
		k.network, k.fit, k.at = view, fitAsIs, nil
	}
	if all[0]&someLack != 0 {
		sent, err := shareView(c, view)
		if err != nil {
			return nil, err
		}
		if !c.isRoot() && !have {
			if k.network, err = model.Read(bytes.NewReader(sent)); err != nil {
				return nil, fmt.Errorf("bcast: new: network of rank 0: %w", err)
			}
			k.fit, k.at = fitAsIs, nil
		}
	}
	if t.Fit == fitAsIs {
		k.tree = k.network.Hierarchy()
		return k, nil
	}
	var err error
	k.tree, err = shareTree(c, k.network.Hierarchy())
	return k, err
}

// shareView is collective: it returns the file of rank 0's network.
func shareView(c *crew, view *model.Network) ([]byte, error) {
	var file bytes.Buffer
	var wrong error
	if c.isRoot() {
		if wrong = view.Write(&file); wrong != nil {
			file.Reset() // the others find that it is empty
		}
	}
	data, err := c.tellAny(file.Bytes())
	switch {
	case err != nil:
		return nil, err
	case wrong != nil:
		return nil, fmt.Errorf("bcast: new: %w", wrong)
	case len(data) == 0:
		return nil, fmt.Errorf("bcast: new: rank 0 has a network that it cannot write")
	}
	return data, nil
}

// shareTree is collective: all ranks get the groups of rank 0's hierarchy. They
// travel as numbers: the levels and, of each group but the first, its level, the
// number of its ranks and their distances.
func shareTree(c *crew, h *topology.Hierarchy) (*topology.Hierarchy, error) {
	var out []byte
	if c.isRoot() {
		out = binary.AppendUvarint(out, uint64(len(h.Levels())))
		for _, g := range h.Groups()[1:] {
			out = binary.AppendUvarint(out, uint64(g.Level))
			out = binary.AppendUvarint(out, uint64(len(g.Hosts)))
			last := 0
			for _, x := range g.Hosts { // ascending
				out = binary.AppendUvarint(out, uint64(x-last))
				last = x
			}
		}
	}
	in, err := c.tellAny(out)
	if err != nil || c.isRoot() {
		return h, err
	}
	next := func() int {
		x, n := binary.Uvarint(in)
		in = in[max(n, 0):]
		if n <= 0 { // cut off: let NewHierarchy refuse it
			in = nil
		}
		return int(x)
	}
	levels := make([]topology.Level, next())
	var groups []topology.Group
	for len(in) > 0 {
		g := topology.Group{Level: next(), Hosts: make([]int, next())}
		last := 0
		for i := range g.Hosts {
			last += next()
			g.Hosts[i] = last
		}
		groups = append(groups, g)
	}
	h, err = topology.NewHierarchy(c.exec.comm.Size(), levels, groups, math.NaN())
	if err != nil {
		return nil, fmt.Errorf("bcast: new: groups of rank 0: %w", err)
	}
	return h, nil
}

// evaluator predicts on the network of all ranks.
func (k *knowledge) evaluator(ranks int) (*predict.Evaluator, error) {
	n, err := k.view()
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return predict.Uniform(ranks), nil
	}
	return predict.New(n), nil
}

// view is the network of all ranks, or nil.
func (k *knowledge) view() (*model.Network, error) {
	if k.network == nil || k.fit == fitAsIs {
		return k.network, nil
	}
	at, err := decodeLocations(k.at)
	if err != nil {
		return nil, err
	}
	n, err := k.fit.view(k.network, at)
	if err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	k.network, k.fit, k.at = n, fitAsIs, nil
	return n, nil
}

// fingerprint tells networks apart by what broadcasts follow: the groups, the
// times of the levels, and where the ranks ran.
func fingerprint(n *model.Network) uint64 {
	h := fnv.New64a()
	var word [8]byte
	add := func(x uint64) {
		binary.LittleEndian.PutUint64(word[:], x)
		h.Write(word[:])
	}
	add(uint64(n.Ranks()))
	for _, g := range n.Hierarchy().Groups() {
		add(uint64(g.Level))
		add(uint64(len(g.Hosts)))
		for _, x := range g.Hosts {
			add(uint64(x))
		}
	}
	for _, l := range n.Levels() {
		for _, bytes := range []int64{0, 1 << 10, 1 << 20} {
			add(math.Float64bits(l.Time(bytes)))
		}
	}
	for r := range n.Ranks() {
		where := n.Location(r)
		add(uint64(len(where.Host)))
		h.Write([]byte(where.Host))
		add(uint64(where.Core))
	}
	return h.Sum64()
}
