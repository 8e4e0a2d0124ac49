package draw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
)

// suspectData is a suspect in the page's data.
type suspectData struct {
	Hosts []int    `json:"hosts"` // to be marked
	Links [][2]int `json:"links"` // by their ends, to be marked instead
}

// suspectsData says what of each suspect is marked: its link if there is one, else its hosts.
func (r *Report) suspectsData() []suspectData {
	data := []suspectData{}
	for _, s := range r.Suspects {
		d := suspectData{Hosts: append([]int{}, s.Hosts...), Links: [][2]int{}}
		if u, v, ok := r.Graph.LinkAbove(s.Hosts); ok && s.Uplink {
			d = suspectData{Hosts: []int{}, Links: [][2]int{{u, v}}}
		}
		data = append(data, d)
	}
	return data
}

// text is the tree that Text writes of the report's machine.
func (r *Report) text() *textTree {
	s := TextSettings{Noun: r.noun(), Places: r.Places}
	if s.Places == nil {
		for _, name := range r.Graph.Names()[:r.Graph.Hosts()] {
			s.Places = append(s.Places, Place{Host: name, Core: -1})
		}
	}
	return newTextTree(r.Graph, r.hierarchy(), s)
}

// slowLinks are the links that Text marks with "!", the slowest first. The result is not nil.
func (r *Report) slowLinks() []Suspect {
	suspects := []Suspect{}
	slow := slices.DeleteFunc(r.text().nodes, func(x *textNode) bool { return x.times == 0 })
	slices.SortStableFunc(slow, func(a, b *textNode) int { return cmp.Compare(b.times, a.times) })
	for _, x := range slow {
		reason := withFigures(fmt.Sprintf("%.1f times slower than the links like it", x.times), x.figures[latency], x.figures[rate])
		name := "link of "
		if len(x.hosts) > 1 {
			name = "uplink of "
		}
		names := make([]string, len(x.hosts))
		for i, h := range x.hosts {
			names[i] = r.Graph.Name(h)
		}
		suspects = append(suspects, Suspect{Name: name + hostlist.Ranges(names), Reason: reason, Hosts: x.hosts, Uplink: true})
	}
	return suspects
}
