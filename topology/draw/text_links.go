package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// linkUp finds the arc that leads up from a node to a switch: of a host its only one, and of a group the one that has the
// group's hosts on one side and all others on the other. -1: there is none.
func (t *textTree) linkUp(x *textNode) int {
	from, to, ok := 0, 0, false
	switch {
	case x.group < 0:
		from = x.hosts[0]
		if out := t.graph.Out(from); len(out) == 1 {
			to, ok = out[0].To, t.graph.IsSwitch(out[0].To)
		}
	case x.group > 0 && t.isTree:
		from, to, ok = t.graph.LinkAbove(x.hosts)
		ok = ok && t.graph.IsSwitch(from)
	}
	if !ok {
		return -1
	}
	t.uplinks[[2]int{min(from, to), max(from, to)}] = x
	return t.graph.ArcIndex(from, to)
}

// showsAll tells whether the tree shows all links of the graph, but for those that a switch of two links continues.
func (t *textTree) showsAll() bool {
	continues := func(v int) bool { return t.graph.IsSwitch(v) && len(t.graph.Out(v)) == 2 }
	return t.isTree && (t.graph.Vertices() == 2 || !slices.ContainsFunc(t.graph.Channels(), func(c topology.Channel) bool {
		return t.uplinks[[2]int{c.U, c.V}] == nil && !continues(c.U) && !continues(c.V)
	}))
}

// writeLinks lists the links of a graph that the tree does not show, as of rings and of lines. It leaves out those of hosts
// to their only switch.
func (t *textTree) writeLinks() {
	next := make([][]int, t.graph.Vertices())
	var latencies, rates []float64
	for _, a := range t.graph.Arcs() {
		if x := t.uplinks[[2]int{min(a.From, a.To), max(a.From, a.To)}]; x != nil && x.group < 0 {
			continue
		}
		latencies, rates = append(latencies, a.Latency), append(rates, a.Bandwidth)
		next[a.From] = append(next[a.From], a.To)
		if t.graph.ArcIndex(a.To, a.From) < 0 {
			next[a.To] = append(next[a.To], a.From)
		}
	}
	if len(latencies) == 0 || t.showsAll() {
		return
	}
	degrees, ends, first := emptySpan(), 0, -1
	between := t.Noun + "s"
	if t.Noun == "rank" && len(t.ranksOf) == len(t.Places) && t.Places[0].Host != "" {
		between = "hosts"
	}
	for v, ns := range next {
		if len(ns) == 0 {
			continue
		}
		slices.Sort(ns)
		if float64(len(ns)) < degrees.low {
			first = v
		}
		degrees.add(float64(len(ns)))
		ends += len(ns)
		if t.graph.IsSwitch(v) {
			between = "switches"
		}
	}
	said := fmt.Sprintf("%s between %s, %s at each", words.Count(ends/2, "link"), between, degrees.text(wholeNumber, " to "))
	said = withFigures(said, stats.Median(stats.SortedFinite(latencies)), stats.Median(stats.SortedFinite(rates)))
	if oneWay := ends - len(latencies); oneWay > 0 {
		said += fmt.Sprintf(", %d in one direction only", oneWay)
	}
	fmt.Fprintf(&t.out, "\n%s\n", said)
	if degrees.high <= 2 {
		if way := t.chain(next, first); 2*len(way) >= ends { // all of them
			t.wrap("", way)
			return
		}
	}
	shown := 0
	for v, ns := range next {
		if len(ns) == 0 {
			continue
		}
		if shown == mostShown && !t.Unfold {
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
