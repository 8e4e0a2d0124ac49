package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// A Fabric is what schedulers are told of a machine: hosts by name, each on one switch, and
// switches below switches. Each root is a network of its own: schedulers give no job hosts of two.
// NewFabric puts hosts and switches in a natural order, readers in the file's.
type Fabric struct {
	Roots []*FabricSwitch

	// Warnings say what of a file was passed over or decided, as its scheduler does.
	Warnings []string
}

// A FabricSwitch is a leaf, which has hosts, or an upper switch, which has switches and may have
// hosts of its own.
type FabricSwitch struct {
	Name     string
	Hosts    []string // directly below
	Switches []*FabricSwitch
}

// maxNames is how many hosts and switches a fabric may have. The largest machines have 10^5 hosts.
const maxNames = 1 << 17

var errTooMany = fmt.Errorf("more than %d names", maxNames)

// NewFabric works out the switches of a machine from the firm groups of its hierarchy. host names
// the host of each of its ranks; ranks of one host become one, and groups within a host have no
// switch. Nor have weak groups (topology.FirmSupport): their hosts hang below the next firm one.
//
// Each part of the graph that no arc connects with the others is a root, as a common one would let
// jobs span networks that are not connected. Hosts that were merely not measured against each other
// look the same: warnings say so. Where the hierarchy has no group at all, or none in one of several
// parts, the groups are those that the wiring makes (topology.Graph.Hierarchy). Switches are called after the level of their group, or, if
// nobody has named it, the tier, which is 0 for leaves.
func NewFabric(g *topology.Graph, h *topology.Hierarchy, host []string) (f *Fabric, warnings []string, err error) {
	defer naming("fabric", &err)
	if g.Hosts() != h.Hosts() || len(host) != h.Hosts() {
		return nil, nil, fmt.Errorf("a graph of %s, a hierarchy of %d, %s", words.Count(g.Hosts(), "host"), h.Hosts(), words.Count(len(host), "name"))
	}
	if len(host) == 0 {
		return nil, nil, fmt.Errorf("no hosts")
	}
	parts, err := partsOf(g, host)
	if err != nil {
		return nil, nil, err
	}
	isUngrouped := len(h.Groups()) == 1
	h = h.Firm(topology.FirmSupport)
	names := switchNames{}
	f = &Fabric{}
	var alone, flat []string
	for _, p := range parts {
		own, err := h.Contract(p.node, len(p.hosts))
		if err == nil && len(own.Groups()) == 1 && (isUngrouped || len(parts) > 1) {
			own, err = p.hierarchy(g)
		}
		if err != nil {
			return nil, nil, err
		}
		if leaves := p.leaves(g); leaves > 1 && len(p.hosts) > 2 && len(own.Groups()) == 1 {
			flat = append(flat, fmt.Sprintf("%s are on %s that make no groups, as some have several links: they are put on one switch", words.Count(len(p.hosts), "host"), words.Count(leaves, "switch")))
		}
		name := "root"
		if len(parts) > 1 {
			name = names.next("root")
		}
		root, _ := p.build(own, 0, names)
		root.Name = name
		f.Roots = append(f.Roots, root)
		if len(p.hosts) == 1 {
			alone = append(alone, p.hosts[0])
		}
	}
	if len(parts) > 1 {
		w := fmt.Sprintf("%d parts of the network are not connected: each has a root switch, and no job gets hosts of two of them; if they are connected, measure between them", len(parts))
		if len(alone) > 0 {
			w += "; alone are " + words.List(alone)
		}
		warnings = append(warnings, w)
	}
	return f, append(warnings, flat...), nil
}

// A fabricPart is a connected part of a machine.
type fabricPart struct {
	hosts    []string // in a natural order
	node     []int    // rank -> index into hosts, -1 if it is in another part
	vertices []int    // of the graph, hosts first
}

// partsOf are the connected parts, by their first rank. Ranks of one host are connected.
func partsOf(g *topology.Graph, host []string) ([]fabricPart, error) {
	arcs := slices.Clone(g.Arcs())
	first := make(map[string]int, len(host)) // rank of a host
	for rank, name := range host {
		if err := checkHost(name); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
		other, seen := first[name]
		switch {
		case !seen:
			first[name] = rank
		case g.ArcIndex(rank, other) < 0 && g.ArcIndex(other, rank) < 0:
			arcs = topology.AppendLink(arcs, rank, other, math.NaN(), math.NaN())
		}
	}
	joined, err := g.WithArcs(arcs)
	if err != nil {
		return nil, err
	}
	var parts []fabricPart
	for v, number := range joined.Parts() {
		if number == len(parts) && v < len(host) {
			parts = append(parts, fabricPart{})
		}
		if number >= len(parts) { // switches alone
			continue
		}
		p := &parts[number]
		p.vertices = append(p.vertices, v)
		if v < len(host) {
			p.hosts = append(p.hosts, host[v])
		}
	}
	for i := range parts {
		p := &parts[i]
		slices.SortFunc(p.hosts, hostlist.Naturally)
		p.hosts = slices.Compact(p.hosts)
		p.node = slices.Repeat([]int{-1}, len(host))
		for _, v := range p.vertices {
			if v < len(host) {
				p.node[v], _ = slices.BinarySearchFunc(p.hosts, host[v], hostlist.Naturally)
			}
		}
	}
	return parts, nil
}

// checkHost refuses names that are no host names, of which the files of schedulers would make
// something else.
func checkHost(name string) error {
	return checkName("host", name, `of letters, digits, "-_."`, func(r rune) bool { return !plain(r) })
}

// checkSwitch refuses names of switches that files of schedulers cannot have.
func checkSwitch(name string) error {
	return checkName("switch", name, `without blanks, commas, brackets, quotes and any of #=\`, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`,[]"'#=\`, r)
	})
}

func checkName(kind, name, want string, isOdd func(rune) bool) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s has no name", kind)
	case len(name) > hostlist.LongestName:
		return fmt.Errorf("%s %.20q...: a name of %d bytes: want at most %d", kind, name, len(name), hostlist.LongestName)
	case strings.ContainsFunc(name, isOdd):
		return fmt.Errorf("%s %q: want a name %s", kind, name, want)
	}
	return nil
}

// plain tells whether names may have the character: what host names have, and the underscore.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// leaves counts the switches that have hosts.
func (p *fabricPart) leaves(g *topology.Graph) (count int) {
	for _, v := range p.vertices {
		if g.IsSwitch(v) && slices.ContainsFunc(g.Out(v), func(a topology.Arc) bool { return !g.IsSwitch(a.To) }) {
			count++
		}
	}
	return count
}

// hierarchy is that of the part's graph alone.
func (p *fabricPart) hierarchy(g *topology.Graph) (*topology.Hierarchy, error) {
	vertex := make(map[int]int, len(p.vertices))
	var node []int
	for i, v := range p.vertices {
		vertex[v] = i
		if !g.IsSwitch(v) {
			node = append(node, p.node[v])
		}
	}
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		from, ok := vertex[a.From]
		if to, too := vertex[a.To]; ok && too {
			a.From, a.To = from, to
			arcs = append(arcs, a)
		}
	}
	part, err := topology.NewGraph(len(node), len(p.vertices)-len(node), nil, arcs)
	if err != nil {
		return nil, err
	}
	h, err := part.Hierarchy()
	if err != nil {
		return nil, err
	}
	return h.Contract(node, len(p.hosts))
}

// build makes the switch of a group and all below, and tells its tier.
func (p *fabricPart) build(h *topology.Hierarchy, group int, names switchNames) (s *FabricSwitch, tier int) {
	g := h.Groups()[group]
	s = &FabricSwitch{}
	for _, c := range g.Children {
		below, height := p.build(h, c, names)
		below.Name = names.next(levelWord(h.Levels()[h.Groups()[c].Level], height))
		s.Switches = append(s.Switches, below)
		tier = max(tier, height+1)
	}
	for _, i := range g.Hosts {
		if h.Smallest(i) == group {
			s.Hosts = append(s.Hosts, p.hosts[i])
		}
	}
	return s, tier
}

// levelWord is what switches of a level are called.
func levelWord(l topology.Level, tier int) string {
	const longest = hostlist.LongestName - 10 // a number follows
	name := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '-'
	}, l.Name)
	if _, neutral := strings.CutPrefix(l.Name, "level "); neutral || name == "" {
		return fmt.Sprintf("tier%d", tier)
	}
	return name[:min(len(name), longest)]
}

// switchNames counts the switches that are called by a word.
type switchNames map[string]int

// next is the next name with the word: "rack-1".
func (n switchNames) next(word string) string {
	n[word]++
	return fmt.Sprintf("%s-%d", word, n[word])
}

// Hosts lists the hosts in the order of their switches.
func (f *Fabric) Hosts() []string {
	var hosts []string
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) { hosts = append(hosts, s.Hosts...) })
	return hosts
}

// walk calls visit for each switch after those below it, with the switches above, the nearest
// first.
func (f *Fabric) walk(visit func(s *FabricSwitch, above []*FabricSwitch)) {
	var down func(s *FabricSwitch, above []*FabricSwitch)
	down = func(s *FabricSwitch, above []*FabricSwitch) {
		for _, below := range s.Switches {
			down(below, append([]*FabricSwitch{s}, above...))
		}
		visit(s, above)
	}
	for _, root := range f.Roots {
		down(root, nil)
	}
}

// check refuses names that schedulers would misread, or that are there twice.
func (f *Fabric) check() (err error) {
	keep := func(failed error) { err = cmp.Or(err, failed) }
	hosts, switches := make(map[string]bool), make(map[string]bool)
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		keep(checkSwitch(s.Name))
		if switches[s.Name] {
			keep(fmt.Errorf("switch %q is there twice", s.Name))
		}
		switches[s.Name] = true
		for _, host := range s.Hosts {
			keep(checkHost(host))
			if hosts[host] {
				keep(fmt.Errorf("host %q is there twice", host))
			}
			hosts[host] = true
		}
		if len(s.Hosts)+len(s.Switches) == 0 {
			keep(fmt.Errorf("switch %q has nothing below it", s.Name))
		}
	})
	if len(f.Roots) == 0 {
		keep(fmt.Errorf("no switches"))
	}
	return err
}

// Hierarchy is the hierarchy of the given hosts by the fabric's switches, of which the latencies
// are not known: each switch that joins two of the hosts or more, and not all, is a group; its
// level is the number of groups below it. Several roots are groups. Hosts that are on no switch
// hang below the root.
func (f *Fabric) Hierarchy(hosts []string) (_ *topology.Hierarchy, err error) {
	defer naming("fabric", &err)
	index := make(map[string]int, len(hosts))
	for i, name := range hosts {
		if _, twice := index[name]; twice {
			return nil, fmt.Errorf("host %q given twice", name)
		}
		index[name] = i
	}
	var groups []topology.Group
	levels := 0
	var below func(s *FabricSwitch) (members []int, level int)
	below = func(s *FabricSwitch) (members []int, level int) {
		for _, name := range s.Hosts {
			if i, ok := index[name]; ok {
				members = append(members, i)
			}
		}
		largest := 0
		for _, c := range s.Switches {
			m, l := below(c)
			members = append(members, m...)
			level, largest = max(level, l), max(largest, len(m))
		}
		if len(members) < 2 || len(members) == largest || len(members) == len(hosts) {
			return members, level
		}
		groups = append(groups, topology.Group{Hosts: members, Level: level, Latency: math.NaN(), Support: math.NaN()})
		levels = max(levels, level+1)
		return members, level + 1
	}
	for _, root := range f.Roots {
		below(root)
	}
	unknown := slices.Repeat([]topology.Level{{Latency: math.NaN(), Support: math.NaN()}}, levels)
	return topology.NewHierarchy(len(hosts), unknown, groups, math.NaN())
}
