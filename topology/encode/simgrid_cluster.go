package encode

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
)

// A cluster of SimGrid is hosts with equal links: around a switch, or wired as the attribute topology says. The wirings are those that
// SimGrid itself makes of topo_parameters; several cables between the same two ends are one link of all their rates. A cluster with a
// topology has no router, as SimGrid has no links to it.

// cluster reads a cluster.
func (p *simGridReader) cluster(e *element) {
	c := &wiredCluster{simGridReader: p, id: e.attr("id")}
	c.hosts, c.cable = p.addHosts(e)
	name, parameters := e.attr("topology"), e.attr("topo_parameters")
	wire := map[string]func(lists [][]int){"FAT_TREE": c.fatTree, "TORUS": c.torus, "DRAGONFLY": c.dragonfly}[name]
	switch {
	case p.err != nil:
	case name == "" || name == "FLAT":
		p.star(e, c.hosts, c.cable)
	case wire == nil:
		p.fail("topology %s: want FLAT, FAT_TREE, TORUS or DRAGONFLY", shorten(name))
	default:
		p.place += fmt.Sprintf("topology %s, topo_parameters %q: ", name, shorten(parameters))
		if lists := p.countLists(parameters); p.err == nil {
			wire(lists)
		}
	}
}

// hostsOf returns the ids of the hosts of a cluster or a cabinet, and the link of each.
func (p *simGridReader) hostsOf(e *element) (ids []string, link sketchEdge) {
	p.enter(e)
	radical := e.attr("radical")
	numbers, err := hostlist.ExpandNumbers(strings.ReplaceAll(radical, " ", ""), maxHosts)
	if err != nil {
		p.fail("radical %q: want ascending numbers, at most %d", shorten(radical), maxHosts)
	}
	for _, digits := range numbers {
		number, _ := strconv.Atoi(digits) // without zeros before it
		ids = append(ids, e.attr("prefix")+strconv.Itoa(number)+e.attr("suffix"))
	}
	return ids, p.edgeOf(e.attr("bw"), e.attr("lat"))
}

// addHosts is hostsOf with hosts that are new.
func (p *simGridReader) addHosts(e *element) (ids []string, link sketchEdge) {
	ids, link = p.hostsOf(e)
	for _, id := range ids {
		p.point(id, "", kindHost)
	}
	return ids, link
}

// star ties the hosts of a cluster to its router, or to its backbone.
func (p *simGridReader) star(e *element, hosts []string, link sketchEdge) {
	hub, half := cmp.Or(e.attr("router_id"), e.attr("prefix")+e.attr("id")+"_router"+e.attr("suffix")), 0.0
	p.point(hub, "", kindSwitch)
	if bandwidth := e.attr("bb_bw"); bandwidth != "" {
		hub, half = p.backbone(hub, bandwidth, e.attr("bb_lat"))
	}
	p.tie(hosts, link, hub, half)
}

// countLists reads lists of numbers above 0: "2;4,4;1,2;1,2".
func (p *simGridReader) countLists(text string) (lists [][]int) {
	for words := range strings.SplitSeq(text, ";") {
		var counts []int
		for word := range strings.SplitSeq(words, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 1 || n > maxHosts {
				p.fail("want numbers from 1 to %d, separated by commas and semicolons", maxHosts)
			}
			counts = append(counts, n)
		}
		lists = append(lists, counts)
	}
	return lists
}

// A wiredCluster is a cluster that is wired.
type wiredCluster struct {
	*simGridReader
	id    string
	hosts []string
	cable sketchEdge
}

// join links two vertices by a number of cables. Those that are new are switches.
func (c *wiredCluster) join(u, v string, cables int) {
	for _, end := range []string{u, v} {
		if _, known := c.number[end]; !known {
			c.point(end, "", kindSwitch)
		}
	}
	link := c.cable
	link.Bandwidth *= float64(cables)
	c.connect(u, v, link)
}

// hasShape tells whether lists have the given lengths, and fails with what is wanted if not.
func (c *wiredCluster) hasShape(want string, lists [][]int, lengths ...int) bool {
	isShape := slices.EqualFunc(lists, lengths, func(list []int, length int) bool { return len(list) == length })
	if !isShape {
		c.fail("want %s", want)
	}
	return isShape
}

// check fails if the product of counts is not the number of hosts, or the links would be too many.
func (c *wiredCluster) check(links int, counts ...int) bool {
	product := 1
	for _, n := range counts {
		product = min(product*n, maxHosts+1)
	}
	switch {
	case product != len(c.hosts):
		c.fail("want as many hosts as radical has, %d", len(c.hosts))
	case links > maxEdges: // before any is made
		c.fail("more than %d links", maxEdges)
	}
	return c.err == nil
}

// fatTree wires a parallel-port generalised fat tree (Zahavi 2010). The lists are the number of levels, and for each level the children
// and the parents of a vertex and the cables between two. A switch is one of the tops of a subtree, above one top of each subtree below.
func (c *wiredCluster) fatTree(lists [][]int) {
	levels := lists[0][0]
	if !c.hasShape("levels;children;parents;cables, each but the first a number for each level", lists, 1, levels, levels, levels) {
		return
	}
	children, parents, cables := lists[1], lists[2], lists[3]
	links, width := 0, len(c.hosts) // of a level
	for l, below := range children {
		links += width * parents[l]
		width = min(width/below*parents[l], maxEdges+1)
	}
	if !c.check(links, children...) {
		return
	}
	lower, subtrees, tops := c.hosts, len(c.hosts), 1
	for l, below := range children {
		subtrees /= below
		upper := make([]string, subtrees*tops*parents[l])
		for i := range upper {
			upper[i] = fmt.Sprintf("%s-%d.%d", c.id, l+1, i)
			subtree, top := i/(tops*parents[l]), i%tops // of those below
			for child := range below {
				c.join(lower[(subtree*below+child)*tops+top], upper[i], cables[l])
			}
		}
		lower, tops = upper, tops*parents[l]
	}
}

// torus wires hosts with those beside them in each dimension, the first dimension running fastest. Two hosts in a ring have one link.
func (c *wiredCluster) torus(lists [][]int) {
	if !c.hasShape("the sizes of the dimensions, separated by commas", lists, len(lists[0])) || !c.check(0, lists[0]...) {
		return
	}
	stride := 1
	for _, size := range lists[0] {
		for i := range c.hosts {
			next := i + stride
			if i/stride%size == size-1 {
				next -= size * stride
			}
			if size > 2 || next > i {
				c.join(c.hosts[i], c.hosts[next], 1)
			}
		}
		stride *= size
	}
}

// dragonfly wires a Cray Cascade (Faanes and others 2012) of groups of chassis of routers, which have hosts. All routers of a chassis
// are linked, and those of the same place in all chassis of a group. Router n in the first chassis of group m is linked to router m
// in the first one of group n.
func (c *wiredCluster) dragonfly(lists [][]int) {
	if !c.hasShape("groups,cables;chassis,cables;routers,cables;hosts", lists, 2, 2, 2, 1) {
		return
	}
	groups, chassis, routers, each := lists[0][0], lists[1][0], lists[2][0], lists[3][0]
	between, black, green := lists[0][1], lists[1][1], lists[2][1] // cables
	if groups > routers {
		c.fail("%d groups: want at most as many as routers in a chassis, %d, each of which leads to one", groups, routers)
	}
	if !c.check(groups*chassis*routers*(chassis+routers)/2, groups, chassis, routers, each) {
		return
	}
	router := func(group, cage, place int) string { return fmt.Sprintf("%s-%d.%d.%d", c.id, group, cage, place) }
	for i, host := range c.hosts {
		at := i / each
		group, cage, place := at/(chassis*routers), at/routers%chassis, at%routers
		here := router(group, cage, place)
		c.join(host, here, 1)
		if i%each > 0 {
			continue
		}
		for other := range place {
			c.join(router(group, cage, other), here, green)
		}
		for other := range cage {
			c.join(router(group, other, place), here, black)
		}
		if cage == 0 && place < group {
			c.join(router(place, 0, group), here, between)
		}
	}
}
