package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
)

// suspectData is a suspect in the page's data.
type suspectData struct {
	Hosts []int `json:"hosts"`          // to be marked
	Link  []int `json:"link,omitempty"` // both ends, to be marked instead
}

// suspectsData says what of each suspect is marked: its link if there is one, else its hosts.
func (r *Report) suspectsData() []suspectData {
	data := []suspectData{}
	for _, s := range r.Suspects {
		d := suspectData{Hosts: append([]int{}, s.Hosts...)}
		if s.Uplink {
			if u, v, ok := r.Graph.LinkAbove(s.Hosts); ok {
				d = suspectData{Hosts: []int{}, Link: []int{u, v}}
			}
		}
		data = append(data, d)
	}
	return data
}

// slowLinks are the links that Text marks with "!", the slowest first. The result is not nil.
func (r *Report) slowLinks() []Suspect {
	suspects := []Suspect{}
	if r.Graph.Hosts() == 0 {
		return suspects
	}
	t := &textTree{graph: r.Graph, hierarchy: r.hierarchy()}
	t.links = findLinks(t.graph, t.hierarchy)
	root := t.node(0)
	t.judge(root)
	var slow []*textNode
	var visit func(*textNode)
	visit = func(x *textNode) {
		if x.times > 0 {
			slow = append(slow, x)
		}
		for _, c := range x.children {
			visit(c)
		}
	}
	visit(root)
	slices.SortStableFunc(slow, func(a, b *textNode) int {
		switch {
		case a.times > b.times:
			return -1
		case a.times < b.times:
			return 1
		}
		return 0
	})
	for _, x := range slow {
		reason := fmt.Sprintf("%.1f times slower than the links like it", x.times)
		for _, figure := range []string{quantified(quantity.Seconds, x.latency), quantified(quantity.Rate, x.rate)} {
			if figure != "" {
				reason += ", " + figure
			}
		}
		name := "link of "
		if len(x.hosts) > 1 {
			name = "uplink of "
		}
		suspects = append(suspects, Suspect{Name: name + r.hostList(x.hosts), Reason: reason, Hosts: x.hosts, Uplink: true})
	}
	return suspects
}

// hostList names ascending hosts, runs of them by their first and last.
func (r *Report) hostList(hosts []int) string {
	const most = 4 // runs
	var parts []string
	for i := 0; i < len(hosts); {
		j := i
		for j+1 < len(hosts) && hosts[j+1] == hosts[j]+1 {
			j++
		}
		if len(parts) == most {
			return strings.Join(parts, ", ") + " and more"
		}
		part := r.name(hosts[i])
		if j > i {
			part += "-" + r.name(hosts[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
