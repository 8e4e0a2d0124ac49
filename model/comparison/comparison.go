// Package comparison holds a measured network against a reference and says what differs, in the words of topocast compare.
//
//	measured, err := comparison.NewSide("today", network)
//	reference, err := comparison.NewSide("plan", planned)
//	found, err := comparison.Compare(measured, reference, 0)
//	for _, f := range found.Links.Findings { // the worst first
//		fmt.Println(f.What, f.Reason)
//	}
package comparison

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// A Side is one of the two networks of a comparison.
type Side struct {
	Name    string // of its file
	Network *model.Network
	Graph   *topology.Graph // with the names of the hosts
}

// NewSide returns a side of a network, uncertain groups included.
func NewSide(name string, n *model.Network) (*Side, error) {
	g, err := n.ReportedGraph()
	if err == nil {
		g, err = n.NameHosts(g)
	}
	if err != nil {
		return nil, err
	}
	return &Side{name, n, g}, nil
}

// renamed is the side with its hosts called as others call them, where domains alone differ, and a sentence that says so; "" if no name
// changes.
func (s *Side) renamed(others []string) (*Side, string, error) {
	names, said := hostlist.Renamed(s.hostNames(), others)
	if said == "" {
		return s, "", nil
	}
	g, err := s.Graph.WithHostNames(names)
	return &Side{s.Name, s.Network, g}, said, err
}

// hostNames are the names of the graph's hosts.
func (s *Side) hostNames() []string { return s.Graph.Names()[:s.Graph.Hosts()] }

// Describe says what a side is: its name, hosts, ranks and date.
func (s *Side) Describe() string {
	names := map[string]bool{}
	for _, name := range s.hostNames() {
		names[name] = true
	}
	text := fmt.Sprintf("%s, %s", s.Name, words.Count(len(names), "host"))
	if ranks := s.Graph.Hosts(); ranks > len(names) {
		text += fmt.Sprintf(" of %d ranks", ranks)
	}
	if date := s.Network.Measured().Date; date != "" {
		text += ", " + date
	}
	return text
}

// A Comparison is a measured network held against a reference, link by link and group by group.
type Comparison struct {
	Measured, Reference *Side
	Links               *compare.LinkComparison
}

// Compare compares two networks, whose hosts it matches by their names, without domains where one side has none. tolerance is the
// share by which a link may differ; 0: as the spread of its level says.
func Compare(measured, reference *Side, tolerance float64) (*Comparison, error) {
	settings := compare.LinkSettings{
		Tolerance: tolerance, Overhead: measured.Network.Reconstruction().Fit.Overhead,
		MeasuredGroups: measured.Network.Reconstruction().Hierarchy, ReferenceGroups: reference.Network.Reconstruction().Hierarchy,
	}
	for _, x := range []*Side{measured, reference} {
		if noise := x.Network.Reconstruction().Fit.Noise; noise > 0 && !math.IsInf(noise, 0) {
			settings.Noise = math.Hypot(settings.Noise, noise)
		}
	}
	measured, said, err := measured.renamed(reference.hostNames())
	if err != nil {
		return nil, err
	}
	links, err := compare.Links(measured.Graph, reference.Graph, &settings)
	if err != nil {
		return nil, err
	}
	if said != "" {
		links.Warnings = append(links.Warnings, said)
	}
	return &Comparison{Measured: measured, Reference: reference, Links: links}, nil
}
