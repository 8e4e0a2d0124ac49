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
	topologyName := c.attr("topology")
	wire := map[string]func(wiring, [][]int) error{"FAT_TREE": p.fatTree, "TORUS": p.torus, "DRAGONFLY": p.dragonfly}[topologyName]
	switch {
	case topologyName == "" || topologyName == "FLAT":
		return p.star(c, hosts, link)
	case wire == nil:
		return fmt.Errorf("topology %s: want FLAT, FAT_TREE, TORUS or DRAGONFLY", shorten(topologyName))
	}
	parameters := c.attr("topo_parameters")
	lists, err := countLists(parameters)
	if err == nil {
		err = wire(wiring{c.attr("id"), hosts, link}, lists)
	}
	if err != nil {
		return fmt.Errorf("topology %s, topo_parameters %q: %w", topologyName, shorten(parameters), err)
	}
	return nil
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

// A wiring is what becomes of a cluster with a topology: its name, its hosts in their order, and one cable.
type wiring struct {
	id    string
	hosts []string
	cable sketchEdge
}

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

// checkHosts refuses counts whose product is not the number of hosts.
func (w *wiring) checkHosts(counts ...int) error {
	rest := len(w.hosts)
	for _, n := range counts {
		if rest%n != 0 {
			rest = 0
			break
		}
		rest /= n
	}
	if rest != 1 {
		return fmt.Errorf("want as many hosts as radical has, %d", len(w.hosts))
	}
	return nil
}

// addCables links two vertices by several cables.
func (p *simGridReader) addCables(w *wiring, u, v string, cables int) error {
	link := w.cable
	link.bandwidth *= float64(cables)
	return p.sketch.connect(u, v, link)
}

// fatTree wires a parallel-port generalised fat tree (Zahavi 2010). The lists are the number of levels, and for each level the children
// and the parents of a vertex and the cables between two. A switch is one of the tops of a subtree, above one top of each subtree below.
func (p *simGridReader) fatTree(w wiring, lists [][]int) error {
	if len(lists) != 4 || len(lists[0]) != 1 || slices.ContainsFunc(lists[1:], func(list []int) bool { return len(list) != lists[0][0] }) {
		return errors.New("want levels;children;parents;cables, each but the first a number for each level")
	}
	children, parents, cables := lists[1], lists[2], lists[3]
	if err := w.checkHosts(children...); err != nil {
		return err
	}
	lower, subtrees, tops := w.hosts, len(w.hosts), 1
	for l := range children {
		var upper []string
		subtrees /= children[l]
		for subtree := range subtrees {
			for top := range tops * parents[l] {
				id := fmt.Sprintf("%s-%d.%d", w.id, l+1, len(upper))
				if err := p.point(id, "", kindSwitch); err != nil {
					return err
				}
				for child := range children[l] {
					if err := p.addCables(&w, lower[(subtree*children[l]+child)*tops+top%tops], id, cables[l]); err != nil {
						return err
					}
				}
				upper = append(upper, id)
			}
		}
		lower, tops = upper, tops*parents[l]
	}
	return nil
}

// torus wires hosts with those beside them in each dimension, the first dimension running fastest. Two hosts in a ring have one link.
func (p *simGridReader) torus(w wiring, lists [][]int) error {
	if len(lists) != 1 {
		return errors.New("want the sizes of the dimensions, separated by commas")
	}
	if err := w.checkHosts(lists[0]...); err != nil {
		return err
	}
	stride := 1
	for _, size := range lists[0] {
		for i := range w.hosts {
			next := i + stride
			if i/stride%size == size-1 {
				next -= size * stride
			}
			if size < 2 || size == 2 && next < i {
				continue
			}
			if err := p.addCables(&w, w.hosts[i], w.hosts[next], 1); err != nil {
				return err
			}
		}
		stride *= size
	}
	return nil
}

// dragonfly wires a Cray Cascade (Faanes and others 2012) of groups of chassis of routers, which have hosts. All routers of a chassis
// are linked, and those of the same place in all chassis of a group. Router n in the first chassis of group m is linked to router m
// in the first one of group n.
func (p *simGridReader) dragonfly(w wiring, lists [][]int) error {
	if len(lists) != 4 || len(lists[0]) != 2 || len(lists[1]) != 2 || len(lists[2]) != 2 || len(lists[3]) != 1 {
		return errors.New("want groups,cables;chassis,cables;routers,cables;hosts")
	}
	groups, chassis, routers, hosts := lists[0], lists[1], lists[2], lists[3][0]
	if err := w.checkHosts(groups[0], chassis[0], routers[0], hosts); err != nil {
		return err
	}
	if groups[0] > routers[0] {
		return fmt.Errorf("%d groups: want at most as many as routers in a chassis, %d, each of which leads to one", groups[0], routers[0])
	}
	router := func(group, cage, place int) string { return fmt.Sprintf("%s-%d.%d.%d", w.id, group, cage, place) }
	next := 0 // host
	for group := range groups[0] {
		for cage := range chassis[0] {
			for place := range routers[0] {
				id := router(group, cage, place)
				err := p.point(id, "", kindSwitch)
				for range hosts {
					err = cmp.Or(err, p.addCables(&w, w.hosts[next], id, 1))
					next++
				}
				for other := range place {
					if err = cmp.Or(err, p.addCables(&w, router(group, cage, other), id, routers[1])); err != nil {
						return err
					}
				}
				for other := range cage {
					if err = cmp.Or(err, p.addCables(&w, router(group, other, place), id, chassis[1])); err != nil {
						return err
					}
				}
				if err != nil {
					return err
				}
			}
		}
		for other := range group {
			if err := p.addCables(&w, router(other, 0, group), router(group, 0, other), groups[1]); err != nil {
				return err
			}
		}
	}
	return nil
}
