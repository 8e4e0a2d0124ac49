package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// Defaults of links between machines.
const (
	defaultLatency = 5e-6   // s
	defaultRate    = 1.25e9 // B/s; 10 Gbit/s
)

// A branch is a switch of a tree that is being read; a host has no children.
type branch struct {
	children []*branch
	depth    int
	id       int
}

// tree reads what follows star: or tree:.
func (s *scanner) tree(star bool) (*shape, error) {
	start := s.pos
	root := &branch{}
	ends, total := []*branch{root}, 1
	for {
		// Every end of the tree so far becomes what the next factor says.
		var next []*branch
		at := s.pos
		for _, b := range ends {
			s.pos = at
			leaves, err := s.factor(b, &total, 0)
			if err != nil {
				return nil, err
			}
			next = append(next, leaves...)
		}
		ends = next
		if star || !s.accept('x') {
			break
		}
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	depth := 0
	for _, b := range ends {
		depth = max(depth, b.depth)
	}
	levels := make([]level, depth)
	for i := range levels {
		// The link above a level bears its name: host links are the last.
		levels[i] = level{name: treeName(depth - 1 - i), kind: topology.KindSwitch, latency: defaultLatency, rate: defaultRate}
	}
	return s.layOut(start, root, levels)
}

// treeName is the usual word for a tree's level, 0 the hosts.
func treeName(height int) string {
	words := []string{"host", "rack", "pod", "row", "hall"}
	if height < len(words) {
		return words[height]
	}
	return fmt.Sprintf("tier%d", height)
}

// factor gives b the children that a number or a list says, and returns the
// branches at which the tree goes on. Total counts all branches.
func (s *scanner) factor(b *branch, total *int, nesting int) ([]*branch, error) {
	start := s.pos
	if !s.accept('[') {
		n, err := s.count("children", 1)
		if err != nil {
			return nil, err
		}
		if *total += n; *total > s.most {
			return nil, s.errorf(start, "more than %d hosts and switches", s.most)
		}
		b.grow(n)
		return b.children, nil
	}
	if nesting == 16 {
		return nil, s.errorf(start, "lists nested more than 16 deep")
	}
	var ends []*branch
	for {
		b.grow(1)
		if *total++; *total > s.most {
			return nil, s.errorf(start, "more than %d hosts and switches", s.most)
		}
		leaves, err := s.factor(b.children[len(b.children)-1], total, nesting+1)
		if err != nil {
			return nil, err
		}
		ends = append(ends, leaves...)
		if !s.accept(',') {
			break
		}
	}
	if !s.accept(']') {
		return nil, s.errorf(s.pos, "want , or ] in the list from column %d, got %s", start+1, s.rest(s.pos))
	}
	return ends, nil
}

// grow adds n children. They lie in one array: a machine has many.
func (b *branch) grow(n int) {
	block := make([]branch, n)
	for i := range block {
		block[i].depth = b.depth + 1
		b.children = append(b.children, &block[i])
	}
}

// layOut numbers the tree's vertices - hosts from left to right, switches from
// the root down - and makes its links and groups.
func (s *scanner) layOut(pos int, root *branch, levels []level) (*shape, error) {
	order := []*branch{root}
	for i := 0; i < len(order); i++ {
		order = append(order, order[i].children...)
	}
	if err := s.check(pos, len(order)); err != nil {
		return nil, err
	}
	sh := &shape{levels: levels}
	var count func(b *branch)
	count = func(b *branch) {
		if b.children == nil {
			b.id = sh.hosts
			sh.hosts++
			return
		}
		for _, c := range b.children {
			count(c)
		}
	}
	count(root)
	for _, b := range order {
		if b.children != nil {
			b.id = sh.hosts + sh.switches
			sh.switches++
		}
	}
	for _, b := range order {
		for _, c := range b.children {
			sh.links = append(sh.links, link{b.id, c.id, b.depth, 1})
		}
	}
	for i := len(levels) - 2; i >= 0; i-- {
		sh.hlevels = append(sh.hlevels, topology.Level{Name: levels[i].name, Kind: levels[i].kind})
	}
	for _, b := range order[1:] {
		// A switch with one child holds the hosts of the child, and adds nothing.
		if len(b.children) > 1 {
			first, last := b.ends()
			sh.addGroup(len(levels)-1-b.depth, first, last-first+1, b.path())
		}
	}
	branching := root
	for len(branching.children) == 1 {
		branching = branching.children[0]
	}
	sh.rootPath = branching.path()
	return sh, nil
}

// ends returns the first and the last host below b.
func (b *branch) ends() (first, last int) {
	f, l := b, b
	for f.children != nil {
		f = f.children[0]
	}
	for l.children != nil {
		l = l.children[len(l.children)-1]
	}
	return f.id, l.id
}

// path lists the levels of links from the first host below b to the last one.
func (b *branch) path() []int {
	var up, down []int
	for f := b; f.children != nil; f = f.children[0] {
		up = append(up, f.depth)
	}
	for l := b; l.children != nil; l = l.children[len(l.children)-1] {
		down = append(down, l.depth)
	}
	slices.Reverse(up)
	return append(up, down...)
}

// A kind is a level of a synthetic string, with the defaults of the link that
// leads from it to what holds it.
type kind struct {
	names         []string // the first is shown
	kind          topology.Kind
	latency, rate float64 // s, B/s
}

// kinds lists the levels from fine to coarse. The values are of the order that
// the measured matrices of core-to-core latency and Bufe 2014, tables 3.6 to
// 3.9, show: 20-50 ns in one L3, 100-200 ns between sockets, microseconds
// between hosts.
func kinds() []kind {
	return []kind{
		{[]string{"pu"}, topology.KindUnknown, 3e-9, 2e10},
		{[]string{"core"}, topology.KindCore, 5e-9, 1.5e10},
		{[]string{"l1", "l1cache"}, topology.KindCache, 2e-9, 1.5e10},
		{[]string{"l2", "l2cache"}, topology.KindCache, 5e-9, 1.5e10},
		{[]string{"l3", "l3cache"}, topology.KindCache, 15e-9, 2e10},
		{[]string{"die"}, topology.KindNUMA, 20e-9, 2e10},
		{[]string{"numa", "numanode"}, topology.KindNUMA, 20e-9, 2e10},
		{[]string{"socket", "package", "pack"}, topology.KindSocket, 40e-9, 2e10},
		{[]string{"host", "node", "machine"}, topology.KindHost, 1e-6, defaultRate},
		{[]string{"rack", "switch"}, topology.KindSwitch, 1e-6, defaultRate},
		{[]string{"pod"}, topology.KindSwitch, 1e-6, defaultRate},
		{[]string{"row"}, topology.KindSwitch, 1e-6, defaultRate},
	}
}

// synthetic reads core:4 socket:2 host:16 and the like.
func (s *scanner) synthetic() (*shape, error) {
	all := kinds()
	type part struct{ kind, count, at int }
	var parts []part
	start := s.pos
	for {
		s.skipSpace()
		at := s.pos
		name := s.name()
		if name == "" || !s.accept(':') {
			s.pos = at // an option
			break
		}
		k := slices.IndexFunc(all, func(k kind) bool { return slices.Contains(k.names, name) })
		if k < 0 {
			var known []string
			for _, k := range all {
				known = append(known, k.names[0])
			}
			if len(parts) == 0 {
				return nil, s.errorf(at, "unknown family %q: want star, tree, fattree, ring, line, torus, mesh, dragonfly, or names of %s", name, strings.Join(known, " "))
			}
			return nil, s.errorf(at, "unknown part %q: want one of %s", name, strings.Join(known, " "))
		}
		n, err := s.count(name, 1)
		if err == nil {
			err = s.end()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{k, n, at})
	}
	// Coarse to fine, as trees are written.
	if len(parts) > 1 && parts[0].kind < parts[1].kind {
		for i := 1; i < len(parts); i++ {
			if parts[i].kind <= parts[i-1].kind {
				return nil, s.errorf(parts[i].at, "%s does not hold %s", all[parts[i].kind].names[0], all[parts[i-1].kind].names[0])
			}
		}
		slices.Reverse(parts)
	}
	vertices, levels := 1, make([]level, len(parts))
	root := &branch{}
	ends := []*branch{root}
	for i, p := range parts {
		k := all[p.kind]
		if i > 0 && p.kind >= parts[i-1].kind {
			return nil, s.errorf(p.at, "%s is no part of %s", k.names[0], all[parts[i-1].kind].names[0])
		}
		levels[i] = level{name: k.names[0], kind: k.kind, latency: k.latency, rate: k.rate}
		vertices = product(vertices, p.count)
		if err := s.check(p.at, vertices); err != nil {
			return nil, err
		}
		var next []*branch
		for _, b := range ends {
			b.grow(p.count)
			next = append(next, b.children...)
		}
		ends = next
	}
	sh, err := s.layOut(start, root, levels)
	if err != nil {
		return nil, err
	}
	// Which leaves are in one machine: those below one host, if hosts are
	// named; all of them if the parts are smaller than hosts; else each alone.
	hostKind := slices.IndexFunc(all, func(k kind) bool { return k.names[0] == "host" })
	perNode := sh.hosts
	for _, p := range parts {
		if p.kind >= hostKind {
			perNode /= p.count
		}
	}
	sh.node = make([]int, sh.hosts)
	for i := range sh.node {
		sh.node[i] = i / perNode
	}
	return sh, nil
}
