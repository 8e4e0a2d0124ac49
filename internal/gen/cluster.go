package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// A Cluster is a machine of known wiring.
type Cluster struct {
	// Graph holds hosts, switches and links with latency and bandwidth. The
	// hosts of core:... specifications are their leaves, cores say.
	Graph *topology.Graph

	// Hierarchy holds the true nested groups, with nominal latencies. Where
	// the wiring is not nested it has the groups of hosts that share a switch,
	// and a dragonfly's groups. Latencies are NaN where none is typical.
	Hierarchy *topology.Hierarchy

	// Node is the machine in which each host of the graph is: host i itself,
	// but of core:... specifications the number of the level host.
	Node []int

	// Choice is the routing option, for topology.NewRoutes.
	Choice topology.RouteChoice
}

// A level is a class of links.
type level struct {
	name                              string
	kind                              topology.Kind // of what the link leads from
	latency, rate, spread, rateSpread float64       // s, B/s, shares
}

// A shape is a specification of which the wiring is known but not the links'
// values.
type shape struct {
	hosts, switches int
	levels          []level // of links, coarse to fine
	links           []link
	hlevels         []topology.Level // fine to coarse
	groups          []topology.Group
	paths           [][]int // per group the link levels on a route between its children; nil: none is typical
	rootPath        []int   // the same between hosts that no group joins
	node            []int   // nil: identity
}

// A link joins vertices u and v, at a level; its rate is multiplied by width.
type link struct{ u, v, level, width int }

// Parse makes the cluster of a specification; see the package's text for what
// can be said. Errors name the column. The same specification gives the same
// cluster on every run.
func Parse(spec string) (*Cluster, error) {
	sh, o, err := read(spec, maxVertices)
	if err != nil {
		return nil, err
	}
	return sh.build(o)
}

// Check refuses a specification that is wrong, and one of more hosts and switches than most, before they take memory.
func Check(spec string, most int) error {
	_, _, err := read(spec, min(most, maxVertices))
	return err
}

// read reads a specification of at most so many hosts and switches.
func read(spec string, most int) (*shape, *options, error) {
	s := &scanner{spec: spec, most: most}
	s.skipSpace()
	family := s.name()
	if family == "" || !s.accept(':') {
		return nil, nil, s.errorf(s.pos, "want a family and a colon, as in tree:2x4x8, got %s", s.rest(s.pos))
	}
	hosts, err := s.hostsOption()
	if err != nil {
		return nil, nil, err
	}
	var sh *shape
	switch family {
	case "star", "tree":
		sh, err = s.tree(family == "star")
	case "fattree":
		sh, err = s.fatTree()
	case "ring", "line", "torus", "mesh":
		sh, err = s.grid(family, max(hosts, 0))
		hosts = -1
	case "dragonfly":
		sh, err = s.dragonfly()
	default:
		s.pos -= len(family) + 1
		sh, err = s.synthetic()
	}
	if err != nil {
		return nil, nil, err
	}
	o := options{}
	if err := s.options(sh, &o, hosts >= 0); err != nil {
		return nil, nil, err
	}
	return sh, &o, nil
}

// hostsKey begins the option hosts=.
var hostsKey = regexp.MustCompile(`[ \t\n]hosts=`)

// hostsOption looks ahead for hosts=, on which the vertices' numbers depend;
// -1 if there is none.
func (s *scanner) hostsOption() (int, error) {
	at := hostsKey.FindStringIndex(s.spec)
	if at == nil {
		return -1, nil
	}
	return (&scanner{spec: s.spec, pos: at[1]}).count("hosts", 0)
}

type options struct {
	seed    uint64
	shuffle bool
	choice  topology.RouteChoice
}

func (s *scanner) options(sh *shape, o *options, hostsRefused bool) error {
	var seen []string
	for {
		s.skipSpace()
		if s.pos == len(s.spec) {
			return nil
		}
		start := s.pos
		key := s.name()
		if key == "" {
			return s.errorf(start, "want an option such as latency=, got %s", s.rest(start))
		}
		if slices.Contains(seen, key) {
			return s.errorf(start, "%s given twice", key)
		}
		seen = append(seen, key)
		if key == "shuffle" && s.atEnd() {
			o.shuffle = true
			continue
		}
		if !s.accept('=') {
			key = "" // no option
		}
		var err error
		switch key {
		case "latency":
			err = s.perLevel(sh, key, seconds, 0, 1e3, func(l *level, v float64) { l.latency = v })
		case "rate":
			err = s.perLevel(sh, key, rate, 1, 1e15, func(l *level, v float64) { l.rate = v })
		case "spread":
			err = s.perLevel(sh, key, quantity.ParseShare, 0, 0.99, func(l *level, v float64) { l.spread = v })
		case "rate-spread":
			err = s.perLevel(sh, key, quantity.ParseShare, 0, 0.99, func(l *level, v float64) { l.rateSpread = v })
		case "seed":
			var n int
			n, err = s.count(key, 0)
			o.seed = uint64(n)
		case "hosts":
			if hostsRefused {
				return s.errorf(start, "hosts= belongs to ring, line, torus and mesh")
			}
			_, err = s.count(key, 0)
		case "routing":
			at := s.pos
			if o.choice, err = topology.ParseRouteChoice(s.name()); err != nil {
				return s.errorf(at, "routing: %s: want %s", s.rest(at), words.Or(topology.RouteChoices()))
			}
		default:
			return s.errorf(start, "unknown option %s: want latency= rate= spread= rate-spread= hosts= routing= seed= or shuffle", s.rest(start))
		}
		if err == nil {
			err = s.end()
		}
		if err != nil {
			return err
		}
	}
}

// perLevel reads one value for all levels of links, or one for each.
func (s *scanner) perLevel(sh *shape, what string, read func(string) (float64, error), least, most float64, set func(*level, float64)) error {
	values, at, err := s.quantities(what, read, least, most)
	if err != nil {
		return err
	}
	if len(values) != 1 && len(values) != len(sh.levels) {
		names := make([]string, len(sh.levels))
		for i, l := range sh.levels {
			names[i] = l.name
		}
		return s.errorf(at[min(len(values)-1, len(sh.levels))], "%s: %d values: want 1, or %d for the links of %s",
			what, len(values), len(sh.levels), strings.Join(names, ", "))
	}
	for i := range sh.levels {
		set(&sh.levels[i], values[min(i, len(values)-1)])
	}
	return nil
}

// check refuses shapes of too many vertices before they are laid out.
func (s *scanner) check(pos int, vertices ...int) error {
	total := 0
	for _, v := range vertices {
		if v < 0 || v > s.most {
			total = s.most + 1
			break
		}
		total += v
	}
	if total > s.most {
		return s.errorf(pos, "more than %d hosts and switches", s.most)
	}
	return nil
}

// product multiplies without overflow: anything above maxVertices is
// maxVertices+1.
func product(ns ...int) int {
	p := 1
	for _, n := range ns {
		if n != 0 && p > maxVertices/n {
			return maxVertices + 1
		}
		p *= n
	}
	return p
}

func (sh *shape) build(o *options) (*Cluster, error) {
	rng := rand.New(rand.NewPCG(o.seed, 0x67656e)) // "gen": a stream of its own
	arcs := make([]topology.Arc, 0, 2*len(sh.links))
	vary := func(v, spread float64) float64 {
		if spread == 0 {
			return v
		}
		return v * (1 + spread*(2*rng.Float64()-1))
	}
	for _, l := range sh.links {
		lv := sh.levels[l.level]
		arcs = topology.AppendLink(arcs, l.u, l.v, vary(lv.latency, lv.spread), vary(lv.rate, lv.rateSpread)*float64(l.width))
	}
	path := func(levels []int) float64 {
		if levels == nil {
			return math.NaN()
		}
		sum := 0.0
		for _, l := range levels {
			sum += sh.levels[l].latency
		}
		return sum
	}
	sh.dropEmptyLevels()
	for i := len(sh.groups) - 1; i >= 0; i-- { // so that a level has the latency of its first group
		g := &sh.groups[i]
		g.Latency, g.Confidence = path(sh.paths[i]), 1
		sh.hlevels[g.Level].Latency, sh.hlevels[g.Level].Confidence = g.Latency, 1
	}
	c := &Cluster{Node: sh.node, Choice: o.choice}
	if c.Node == nil {
		c.Node = identity(sh.hosts)
	}
	var err error
	if c.Graph, err = topology.NewGraph(sh.hosts, sh.switches, nil, arcs); err != nil {
		return nil, fmt.Errorf("gen: %w", err)
	}
	if c.Hierarchy, err = topology.NewHierarchy(sh.hosts, sh.hlevels, sh.groups, path(sh.rootPath)); err != nil {
		return nil, fmt.Errorf("gen: %w", err)
	}
	if o.shuffle {
		return c.Relabel(rng.Perm(sh.hosts))
	}
	return c, nil
}

func identity(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// addGroup adds a group of the hosts first..first+n-1 unless a Hierarchy has
// no place for it: a single host, or all.
func (sh *shape) addGroup(level, first, n int, path []int) {
	if n < 2 || n == sh.hosts {
		return
	}
	hosts := make([]int, n)
	for i := range hosts {
		hosts[i] = first + i
	}
	sh.groups = append(sh.groups, topology.Group{Hosts: hosts, Level: level})
	sh.paths = append(sh.paths, path)
}

// dropEmptyLevels removes hierarchy levels without groups, so that levels are
// those which the machine shows.
func (sh *shape) dropEmptyLevels() {
	number := make([]int, len(sh.hlevels))
	used := make([]bool, len(sh.hlevels))
	for _, g := range sh.groups {
		used[g.Level] = true
	}
	var levels []topology.Level
	for i, l := range sh.hlevels {
		number[i] = len(levels)
		if used[i] {
			levels = append(levels, l)
		}
	}
	for i := range sh.groups {
		sh.groups[i].Level = number[sh.groups[i].Level]
	}
	sh.hlevels = levels
}
