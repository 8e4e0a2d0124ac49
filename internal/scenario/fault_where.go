package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// above finds the link above hosts, which are written as "h8-h11", "h3" or several of these by commas.
func above(text string, g *topology.Graph) (from, to int, err error) {
	var hosts []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := hostRange(part, g)
		if !ok {
			return 0, 0, fmt.Errorf("%q: want hosts, such as %s-%s", part, g.Name(0), g.Name(g.Hosts()-1))
		}
		for h := first; h <= last; h++ {
			hosts = append(hosts, h)
		}
	}
	slices.Sort(hosts)
	if from, to, ok := g.LinkAbove(slices.Compact(hosts)); ok {
		return from, to, nil
	}
	return 0, 0, fmt.Errorf("%q: no link leads from these hosts to all others", text)
}

// hostRange reads "A-B" or "A". Names may hold the mark, so each place of it is tried.
func hostRange(text string, g *topology.Graph) (first, last int, ok bool) {
	if h, ok := vertex(text, g); ok && h < g.Hosts() {
		return h, h, true
	}
	for i := range text {
		if text[i] != '-' {
			continue
		}
		a, isA := vertex(text[:i], g)
		b, isB := vertex(text[i+1:], g)
		if isA && isB && a <= b && b < g.Hosts() {
			return a, b, true
		}
	}
	return 0, 0, false
}

// move puts the only cable of a host at another switch, or at that of another host. Faults of before stay with their
// cables, whose arcs have other numbers in the graph that is returned.
func move(before *simnet.Faults, g *topology.Graph, host int, where string) (*topology.Graph, error) {
	to, ok := vertex(where, g)
	if ok && to < g.Hosts() && len(g.Out(to)) == 1 {
		to = g.Out(to)[0].To
	}
	if !ok || !g.IsSwitch(to) {
		return nil, fmt.Errorf("%q is no switch, and no host with one cable", where)
	}
	if len(g.Out(host)) != 1 || !g.IsSwitch(g.Out(host)[0].To) {
		return nil, fmt.Errorf("%s has not one cable to a switch, which could be moved", g.Name(host))
	}
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		switch a := &arcs[i]; {
		case a.From == host:
			a.To = to
		case a.To == host:
			a.From = to
		}
	}
	moved, err := g.WithArcs(arcs)
	if err != nil {
		return nil, err
	}
	renumber := func(old []int) []int {
		var numbers []int
		for _, i := range old {
			numbers = append(numbers, moved.ArcIndex(arcs[i].From, arcs[i].To))
		}
		slices.Sort(numbers)
		return numbers
	}
	before.Slow = slices.Clone(before.Slow)
	for i := range before.Slow {
		slow := &before.Slow[i]
		slow.Arcs, slow.Cables = renumber(slow.Arcs), renumber(slow.Cables)
	}
	return moved, nil
}

// ends finds the vertices of "A-B". Names may hold the mark, so each place of the mark is tried.
func ends(text, mark string, g *topology.Graph) (from, to int, err error) {
	found := false
	for i := range text {
		if !strings.HasPrefix(text[i:], mark) {
			continue
		}
		a, isA := vertex(text[:i], g)
		b, isB := vertex(text[i+len(mark):], g)
		if !isA || !isB {
			continue
		}
		if g.ArcIndex(a, b) >= 0 || mark == "-" && g.ArcIndex(b, a) >= 0 {
			return a, b, nil
		}
		from, to, found = a, b, true
	}
	if found {
		var linked []string
		for _, a := range g.Out(from) {
			if g.IsSwitch(a.To) { // first, so that a list that is cut has them
				linked = slices.Insert(linked, 0, g.Name(a.To))
			} else {
				linked = append(linked, g.Name(a.To))
			}
		}
		return 0, 0, fmt.Errorf("there is no link %s%s%s: %s is linked to %s", g.Name(from), mark, g.Name(to), g.Name(from), words.List(linked))
	}
	return 0, 0, fmt.Errorf("%q: want two hosts or switches with %q between, by names such as %s or numbers from 0 to %d", text, mark, g.Name(0), g.Vertices()-1)
}

// vertex finds the lowest vertex of a name, or the vertex of a number.
func vertex(text string, g *topology.Graph) (int, bool) {
	for v := range g.Vertices() {
		if g.Name(v) == text {
			return v, true
		}
	}
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 0 && v < g.Vertices()
}

// hostOf finds a host by its name or number.
func hostOf(text string, g *topology.Graph) (int, error) {
	host, ok := vertex(text, g)
	if !ok || host >= g.Hosts() {
		return 0, fmt.Errorf("%q is no host: want a name such as %s, or a number from 0 to %d", text, g.Name(0), g.Hosts()-1)
	}
	return host, nil
}
