package encode

import (
	"cmp"
	"errors"
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
func (p *simGridReader) cluster(c *element) error {
	hosts, link, err := p.clusterHosts(c)
	if err != nil {
		return err
	}
	name, parameters := c.attr("topology"), c.attr("topo_parameters")
	wire := map[string]func(string, []string, [][]int) ([]cables, error){"FAT_TREE": fatTree, "TORUS": torus, "DRAGONFLY": dragonfly}[name]
	switch {
	case name == "" || name == "FLAT":
		return p.star(c, hosts, link)
	case wire == nil:
		return fmt.Errorf("topology %s: want FLAT, FAT_TREE, TORUS or DRAGONFLY", shorten(name))
	}
	lists, err := countLists(parameters)
	var all []cables
	if err == nil {
		all, err = wire(c.attr("id"), hosts, lists)
	}
	for i := 0; i < len(all) && err == nil; i++ {
		err = p.addCables(all[i], link)
	}
	if err != nil {
		return fmt.Errorf("topology %s, topo_parameters %q: %w", name, shorten(parameters), err)
	}
	return nil
}

// addCables adds the link of cables, and those of its ends that are new, which are switches.
func (p *simGridReader) addCables(c cables, link sketchEdge) error {
	for _, end := range []string{c.u, c.v} {
		if _, known := p.number[end]; known {
			continue
		}
		if err := p.point(end, "", kindSwitch); err != nil {
			return err
		}
	}
	link.bandwidth *= float64(c.count)
	return p.sketch.connect(c.u, c.v, link)
}

// clusterHosts adds the hosts of a cluster or a cabinet. It returns their ids and the link of each.
func (p *simGridReader) clusterHosts(c *element) (ids []string, link sketchEdge, err error) {
	radical := c.attr("radical")
	numbers, err := hostlist.ExpandNumbers(strings.ReplaceAll(radical, " ", ""), maxHosts)
	if err != nil {
		return nil, link, fmt.Errorf("radical %q: want ascending numbers, at most %d", shorten(radical), maxHosts)
	}
	if link, err = simGridEdge(c.attr("bw"), c.attr("lat")); err != nil {
		return nil, link, err
	}
	for _, digits := range numbers {
		number, _ := strconv.Atoi(digits) // without zeros before it
		id := c.attr("prefix") + strconv.Itoa(number) + c.attr("suffix")
		if err := p.point(id, "", kindHost); err != nil {
			return nil, link, err
		}
		ids = append(ids, id)
	}
	return ids, link, nil
}

// star ties the hosts of a cluster to its router, or to its backbone.
func (p *simGridReader) star(c *element, hosts []string, link sketchEdge) error {
	router := cmp.Or(c.attr("router_id"), c.attr("prefix")+c.attr("id")+"_router"+c.attr("suffix"))
	if err := p.point(router, "", kindSwitch); err != nil {
		return err
	}
	hub, half := router, 0.0
	if c.attr("bb_bw") != "" {
		var err error
		if hub, half, err = p.backbone(router, c.attr("bb_bw"), c.attr("bb_lat")); err != nil {
			return err
		}
	}
	return p.tie(hosts, link, hub, half)
}

// tie links hosts to a switch. Each link gets half of the latency of a backbone there.
func (p *simGridReader) tie(hosts []string, link sketchEdge, hub string, half float64) error {
	link.latency += half
	for _, host := range hosts {
		if err := p.sketch.connect(host, hub, link); err != nil {
			return err
		}
	}
	return nil
}

// cables are a number of cables between two vertices of a cluster.
type cables struct {
	u, v  string
	count int
}

// errManyLinks is of a short text that stands for too much.
var errManyLinks = fmt.Errorf("more than %d links", maxEdges)

// countLists reads lists of numbers above 0: "2;4,4;1,2;1,2".
func countLists(text string) (lists [][]int, err error) {
	for words := range strings.SplitSeq(text, ";") {
		var counts []int
		for word := range strings.SplitSeq(words, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 1 || n > maxHosts {
				return nil, fmt.Errorf("want numbers from 1 to %d, separated by commas and semicolons", maxHosts)
			}
			counts = append(counts, n)
		}
		lists = append(lists, counts)
	}
	return lists, nil
}

// checkCounts refuses counts whose product is not the number of hosts.
func checkCounts(hosts []string, counts ...int) error {
	rest := len(hosts)
	for _, n := range counts {
		if rest%n != 0 {
			rest = 0
		}
		rest /= n
	}
	if rest != 1 {
		return fmt.Errorf("want as many hosts as radical has, %d", len(hosts))
	}
	return nil
}

// fatTree wires a parallel-port generalised fat tree (Zahavi 2010). The lists are the number of levels, and for each level the children
// and the parents of a vertex and the cables between two. A switch is one of the tops of a subtree, above one top of each subtree below.
func fatTree(id string, hosts []string, lists [][]int) (all []cables, err error) {
	if len(lists) != 4 || len(lists[0]) != 1 || slices.ContainsFunc(lists[1:], func(list []int) bool { return len(list) != lists[0][0] }) {
		return nil, errors.New("want levels;children;parents;cables, each but the first a number for each level")
	}
	children, parents, count := lists[1], lists[2], lists[3]
	if err := checkCounts(hosts, children...); err != nil {
		return nil, err
	}
	lower, subtrees, tops := hosts, len(hosts), 1
	for l, below := range children {
		subtrees /= below
		if len(all)+len(lower)*parents[l] > maxEdges {
			return nil, errManyLinks
		}
		upper := make([]string, subtrees*tops*parents[l])
		for i := range upper {
			upper[i] = fmt.Sprintf("%s-%d.%d", id, l+1, i)
			subtree, top := i/(tops*parents[l]), i%tops // of those below
			for child := range below {
				all = append(all, cables{lower[(subtree*below+child)*tops+top], upper[i], count[l]})
			}
		}
		lower, tops = upper, tops*parents[l]
	}
	return all, nil
}

// torus wires hosts with those beside them in each dimension, the first dimension running fastest. Two hosts in a ring have one link.
func torus(_ string, hosts []string, lists [][]int) (all []cables, err error) {
	if len(lists) != 1 {
		return nil, errors.New("want the sizes of the dimensions, separated by commas")
	}
	if err := checkCounts(hosts, lists[0]...); err != nil {
		return nil, err
	}
	stride := 1
	for _, size := range lists[0] {
		if size == 1 {
			continue
		}
		for i := range hosts {
			next := i + stride
			if i/stride%size == size-1 {
				next -= size * stride
			}
			if size > 2 || next > i {
				all = append(all, cables{hosts[i], hosts[next], 1})
			}
		}
		stride *= size
	}
	return all, nil
}

// dragonfly wires a Cray Cascade (Faanes and others 2012) of groups of chassis of routers, which have hosts. All routers of a chassis
// are linked, and those of the same place in all chassis of a group. Router n in the first chassis of group m is linked to router m
// in the first one of group n.
func dragonfly(id string, hosts []string, lists [][]int) (all []cables, err error) {
	if len(lists) != 4 || len(lists[0]) != 2 || len(lists[1]) != 2 || len(lists[2]) != 2 || len(lists[3]) != 1 {
		return nil, errors.New("want groups,cables;chassis,cables;routers,cables;hosts")
	}
	groups, chassis, routers, each := lists[0][0], lists[1][0], lists[2][0], lists[3][0]
	between, black, green := lists[0][1], lists[1][1], lists[2][1] // cables
	err = checkCounts(hosts, groups, chassis, routers, each)
	switch {
	case err != nil:
		return nil, err
	case groups > routers:
		return nil, fmt.Errorf("%d groups: want at most as many as routers in a chassis, %d, each of which leads to one", groups, routers)
	case groups*chassis*routers*(chassis+routers) > 2*maxEdges:
		return nil, errManyLinks
	}
	router := func(group, cage, place int) string { return fmt.Sprintf("%s-%d.%d.%d", id, group, cage, place) }
	for i, host := range hosts {
		at := i / each
		group, cage, place := at/(chassis*routers), at/routers%chassis, at%routers
		here := router(group, cage, place)
		all = append(all, cables{host, here, 1})
		if i%each > 0 {
			continue
		}
		for other := range place {
			all = append(all, cables{router(group, cage, other), here, green})
		}
		for other := range cage {
			all = append(all, cables{router(group, other, place), here, black})
		}
		if cage == 0 && place < group {
			all = append(all, cables{router(place, 0, group), here, between})
		}
	}
	return all, nil
}
