package encode

import (
	"fmt"
	"math"
	"regexp"
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

// NewFabric works out the switches of a machine from the confident groups of its hierarchy. host names
// the host of each of its ranks; ranks of one host become one, and groups within a host have no
// switch. Nor have uncertain groups (topology.ConfidentFrom): their hosts hang below the next confident one.
//
// Each part of the graph that no arc connects with the others is a root. A common one would let
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
	h = h.Confident(topology.ConfidentFrom)
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
		root, _ := p.build(own, 0, names)
		if root.Name = "root"; len(parts) > 1 {
			root.Name = names.next("root")
		}
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
	vertices []int    // of the graph, ascending
	ranks    []int    // the first of the vertices
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
	number := joined.Parts()
	parts := make([]fabricPart, slices.Max(number[:len(host)])+1) // others are switches alone
	for v, i := range number {
		if i < len(parts) {
			parts[i].vertices = append(parts[i].vertices, v)
		}
	}
	for i := range parts {
		p := &parts[i]
		ranks, _ := slices.BinarySearch(p.vertices, len(host))
		p.ranks = p.vertices[:ranks]
		for _, rank := range p.ranks {
			p.hosts = append(p.hosts, host[rank])
		}
		slices.SortFunc(p.hosts, hostlist.Naturally)
		p.hosts = slices.Compact(p.hosts)
		p.node = slices.Repeat([]int{-1}, len(host))
		for _, rank := range p.ranks {
			p.node[rank], _ = slices.BinarySearchFunc(p.hosts, host[rank], hostlist.Naturally)
		}
	}
	return parts, nil
}

// The names that files of schedulers can have: of hosts, which else would become something else, and of switches. oddInHost is what the
// names of hosts do not have.
var (
	hostName   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	oddInHost  = regexp.MustCompile(`[^A-Za-z0-9._-]`)
	switchName = regexp.MustCompile(`^[^\x00- \x7f-\x{10ffff},\[\]"'#=\\]+$`)
)

func checkHost(name string) error {
	return checkName("host", name, `of letters, digits, "-_."`, hostName)
}

func checkSwitch(name string) error {
	return checkName("switch", name, `without blanks, commas, brackets, quotes and any of #=\`, switchName)
}

func checkName(kind, name, want string, usual *regexp.Regexp) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s has no name", kind)
	case len(name) > hostlist.LongestName:
		return fmt.Errorf("%s %.20q...: a name of %d bytes: want at most %d", kind, name, len(name), hostlist.LongestName)
	case !usual.MatchString(name):
		return fmt.Errorf("%s %q: want a name %s", kind, name, want)
	}
	return nil
}

// leaves counts the switches that have hosts.
func (p *fabricPart) leaves(g *topology.Graph) (count int) {
	for _, v := range p.vertices[len(p.ranks):] {
		if slices.ContainsFunc(g.Out(v), func(a topology.Arc) bool { return !g.IsSwitch(a.To) }) {
			count++
		}
	}
	return count
}

// hierarchy is that of the part's graph alone.
func (p *fabricPart) hierarchy(g *topology.Graph) (*topology.Hierarchy, error) {
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		from, isOwn := slices.BinarySearch(p.vertices, a.From)
		to, _ := slices.BinarySearch(p.vertices, a.To)
		if isOwn { // and so is the other end
			a.From, a.To = from, to
			arcs = append(arcs, a)
		}
	}
	part, err := topology.NewGraph(len(p.ranks), len(p.vertices)-len(p.ranks), nil, arcs)
	if err != nil {
		return nil, err
	}
	h, err := part.Hierarchy()
	if err != nil {
		return nil, err
	}
	var node []int
	for _, rank := range p.ranks {
		node = append(node, p.node[rank])
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
	if l.Name == "" || strings.HasPrefix(l.Name, "level ") {
		return fmt.Sprintf("tier%d", tier)
	}
	name := oddInHost.ReplaceAllString(l.Name, "-")
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
func (f *Fabric) check() error {
	var e firstError
	known := map[string]bool{}
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		once := func(kind, name string, err error) {
			e.check(err)
			thing := fmt.Sprintf("%s %q", kind, name)
			if known[thing] {
				e.fail("%s is there twice", thing)
			}
			known[thing] = true
		}
		once("switch", s.Name, checkSwitch(s.Name))
		for _, host := range s.Hosts {
			once("host", host, checkHost(host))
		}
		if len(s.Hosts)+len(s.Switches) == 0 {
			e.fail("switch %q has nothing below it", s.Name)
		}
	})
	if len(f.Roots) == 0 {
		e.fail("no switches")
	}
	return e.err
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
	below, level := map[*FabricSwitch][]int{}, map[*FabricSwitch]int{} // of switches: hosts, and the number of groups below each other
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		var members []int
		for _, name := range s.Hosts {
			if i, ok := index[name]; ok {
				members = append(members, i)
			}
		}
		largest := 0
		for _, c := range s.Switches {
			members = append(members, below[c]...)
			level[s], largest = max(level[s], level[c]), max(largest, len(below[c]))
		}
		below[s] = members
		if len(members) > 1 && len(members) != largest && len(members) != len(hosts) {
			groups = append(groups, topology.Group{Hosts: members, Level: level[s], Latency: math.NaN(), Confidence: math.NaN()})
			level[s]++
			levels = max(levels, level[s])
		}
	})
	unknown := slices.Repeat([]topology.Level{{Latency: math.NaN(), Confidence: math.NaN()}}, levels)
	return topology.NewHierarchy(len(hosts), unknown, groups, math.NaN())
}
