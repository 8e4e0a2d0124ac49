package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// uplinks are the arcs that lead up from groups and hosts, by their numbers, and the switches of groups; -1: none.
type uplinks struct {
	group, vertex []int
	host          []int
	all           bool // they are all links of the graph, but for those that a switch of two links continues
}

// findLinks finds the links of a tree that have the hosts of a group on one side and all others on the other. The switch
// of a group is the only one that joins the group's hosts and no others. O(n log n).
func findLinks(g *topology.Graph, h *topology.Hierarchy) *uplinks {
	groups := h.Groups()
	u := &uplinks{group: slices.Repeat([]int{-1}, len(groups)), vertex: slices.Repeat([]int{-1}, len(groups)), host: slices.Repeat([]int{-1}, h.Hosts())}
	for host := range u.host {
		if out := g.Out(host); len(out) == 1 && g.IsSwitch(out[0].To) {
			u.host[host] = g.ArcIndex(host, out[0].To)
		}
	}
	count := make([]int, len(groups))
	for v, group := range insideOf(g, h) {
		if g.IsSwitch(v) {
			u.vertex[group] = v
			count[group]++
		}
	}
	parts := g.Parts()
	tree := g.IsForest() && (len(parts) == 0 || slices.Max(parts) == 0)
	up := make(map[[2]int]bool)
	for i := range groups {
		if count[i] > 1 {
			u.vertex[i] = -1
		}
		if from, to, ok := g.LinkAbove(groups[i].Hosts); ok && i > 0 && tree && g.IsSwitch(from) {
			u.group[i] = g.ArcIndex(from, to)
			up[[2]int{min(from, to), max(from, to)}] = true
		}
	}
	continues := func(v int) bool { return g.IsSwitch(v) && len(g.Out(v)) == 2 }
	u.all = tree && (g.Vertices() == 2 || !slices.ContainsFunc(g.Channels(), func(c topology.Channel) bool {
		ofHost := c.U < g.Hosts() && u.host[c.U] >= 0
		return !ofHost && !up[[2]int{c.U, c.V}] && !continues(c.U) && !continues(c.V)
	}))
	return u
}

// writeLinks lists the links of a graph that the tree does not show, as of rings and of lines, but for those of hosts to
// their only switch.
func (t *textTree) writeLinks() {
	if t.links.all {
		return
	}
	next := make([][]int, t.graph.Vertices())
	var latencies, rates []float64
	oneWay := 0
	for _, c := range t.graph.Channels() {
		if c.U < t.graph.Hosts() && t.links.host[c.U] >= 0 {
			continue
		}
		next[c.U], next[c.V] = append(next[c.U], c.V), append(next[c.V], c.U)
		both := 0
		for _, i := range []int{t.graph.ArcIndex(c.U, c.V), t.graph.ArcIndex(c.V, c.U)} {
			if i < 0 {
				continue
			}
			both++
			latencies, rates = append(latencies, t.graph.Arcs()[i].Latency), append(rates, t.graph.Arcs()[i].Bandwidth)
		}
		oneWay += both % 2
	}
	least, most, links, first := len(next), 0, 0, -1
	between := t.Noun + "s"
	if t.Noun == "rank" && len(t.ranksOf) == len(t.Places) && t.Places[0].Host != "" {
		between = "hosts"
	}
	for v, ns := range next {
		if len(ns) > 0 {
			least, most, links = min(least, len(ns)), max(most, len(ns)), links+len(ns)
			if first < 0 || len(ns) < len(next[first]) {
				first = v
			}
			if t.graph.IsSwitch(v) {
				between = "switches"
			}
		}
	}
	if first < 0 {
		return
	}
	degree := fmt.Sprint(least)
	if most > least {
		degree += fmt.Sprintf(" to %d", most)
	}
	fmt.Fprintf(&t.out, "\n%s between %s, %s at each", words.Count(links/2, "link"), between, degree)
	for _, typical := range []string{quantified(quantity.Seconds, stats.Median(stats.SortedFinite(latencies))), quantified(quantity.Rate, stats.Median(stats.SortedFinite(rates)))} {
		if typical != "" {
			fmt.Fprintf(&t.out, ", %s", typical)
		}
	}
	if oneWay > 0 {
		fmt.Fprintf(&t.out, ", %d in one direction only", oneWay)
	}
	t.out.WriteString("\n")
	if most <= 2 {
		if way := t.chain(next, first); 2*len(way) >= links { // all of them
			t.wrap("", way)
			return
		}
	}
	shown := 0
	for v, ns := range next {
		if len(ns) == 0 {
			continue
		}
		if shown == mostShown {
			fmt.Fprintf(&t.out, "and so on\n")
			return
		}
		shown++
		names := make([]string, len(ns))
		for i, x := range ns {
			names[i] = t.vertexName(x)
		}
		t.wrap(t.vertexName(v)+" -- ", names)
	}
}

// chain is a ring, its first vertex again at the end, or a line.
func (t *textTree) chain(next [][]int, first int) []string {
	way, before, v := []string{t.vertexName(first)}, -1, first
	for {
		k := slices.IndexFunc(next[v], func(x int) bool { return x != before })
		if k < 0 {
			return way
		}
		before, v = v, next[v][k]
		way = append(way, "-- "+t.vertexName(v))
		if v == first {
			return way
		}
	}
}

func (t *textTree) vertexName(v int) string {
	switch {
	case t.graph.IsSwitch(v):
		return t.graph.Name(v)
	case t.alone(v):
		return t.Places[v].Host
	}
	return fmt.Sprint(v)
}

// wrap writes names after a start, in lines that fit, later ones indented by the start.
func (t *textTree) wrap(start string, names []string) {
	indent := strings.Repeat(" ", len([]rune(start)))
	text := words.Fill(strings.Join(names, " "), textWidth-len(indent))
	t.out.WriteString(start + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n")
}
