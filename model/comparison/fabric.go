package comparison

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/encode"
)

// A FabricComparison says what of a scheduler's switches the measured groups confirm, and what
// they contradict.
type FabricComparison struct {
	Measured       *Side
	Hosts          []string // that both have
	Missing, Extra []string
	Groups         *compare.GroupComparison // of Hosts by their index
	Joined         [][]string               // the hosts of networks that the file keeps apart and messages pass between
	Renamed        string                   // how names without domains were matched; "" if none was

	// Outcome is Differs where what is measured contradicts the file, and Unknown where nothing can be told.
	Outcome compare.Outcome
	// Differences are what cannot be true of both, a sentence each: hosts that the measured groups have elsewhere, if they
	// tell, or else the groups.
	Differences []string
}

// CompareFabric holds the confident groups of a measured network against what a scheduler is told.
func CompareFabric(measured *Side, f *encode.Fabric) (*FabricComparison, error) {
	measured, renamed, err := measured.renamed(f.Hosts())
	if err != nil {
		return nil, err
	}
	r := &FabricComparison{Measured: measured, Renamed: renamed}
	known := map[string]bool{}
	for v := range measured.Graph.Hosts() {
		known[measured.Graph.Name(v)] = true
	}
	for _, host := range f.Hosts() {
		if known[host] {
			r.Hosts = append(r.Hosts, host)
			delete(known, host)
		} else {
			r.Missing = append(r.Missing, host)
		}
	}
	for host := range known {
		r.Extra = append(r.Extra, host)
	}
	slices.SortFunc(r.Extra, hostlist.Naturally)
	if len(r.Hosts) == 0 {
		return nil, fmt.Errorf("compare: no host of %s is in the reference", measured.Name)
	}
	found, err := measured.groups(r.Hosts)
	if err != nil {
		return nil, err
	}
	specified, err := f.Hierarchy(r.Hosts)
	if err != nil {
		return nil, err
	}
	if r.Groups, err = compare.Groups(found, specified); err != nil {
		return nil, err
	}
	r.join(f)
	r.Differences = r.differences()
	switch {
	case len(r.Groups.Crossed)+len(r.Joined) > 0:
		r.Outcome = compare.Differs
	case len(r.Groups.Same) == 0 && len(r.Groups.Missing) > 0:
		r.Outcome = compare.Unknown
	}
	return r, nil
}

// groups returns the confident groups of the hosts of the given names. A host is in a group if more than half of its ranks are.
func (s *Side) groups(hosts []string) (*topology.Hierarchy, error) {
	index := make(map[string]int, len(hosts))
	for i, name := range hosts {
		index[name] = i
	}
	node := make([]int, s.Graph.Hosts())
	for v := range node {
		i, ok := index[s.Graph.Name(v)]
		if !ok {
			i = -1
		}
		node[v] = i
	}
	return s.Network.Hierarchy().Contract(node, len(hosts))
}

// join finds the separate networks of the file that are one in the measured graph.
func (r *FabricComparison) join(f *encode.Fabric) {
	if len(f.Roots) < 2 {
		return
	}
	part := map[string]int{}
	for v, p := range r.Measured.Graph.Parts() {
		if v < r.Measured.Graph.Hosts() {
			part[r.Measured.Graph.Name(v)] = p
		}
	}
	roots := map[int][]string{} // part -> the hosts of roots in it
	count := map[int]int{}
	for _, root := range f.Roots {
		one := encode.Fabric{Roots: []*encode.FabricSwitch{root}}
		in := map[int]bool{}
		for _, host := range one.Hosts() {
			if p, ok := part[host]; ok {
				in[p] = true
				roots[p] = append(roots[p], host)
			}
		}
		for p := range in {
			count[p]++
		}
	}
	for p, hosts := range roots {
		if count[p] > 1 {
			r.Joined = append(r.Joined, hosts)
		}
	}
	slices.SortFunc(r.Joined, slices.Compare)
}

// names are the names of hosts by their index.
func (r *FabricComparison) names(hosts []int) []string {
	var names []string
	for _, h := range hosts {
		names = append(names, r.Hosts[h])
	}
	return names
}

// differences are the contradictions in words.
func (r *FabricComparison) differences() []string {
	var list []string
	for _, hosts := range r.Joined {
		list = append(list, fmt.Sprintf("%s: messages pass between them, and the file has them in networks that are not connected", hostlist.Ranges(hosts)))
	}
	if len(r.Groups.Crossed) == 0 {
		return list
	}
	crossed := map[int]bool{}
	for _, x := range r.Groups.Crossed {
		for _, h := range slices.Concat(x.Reference, x.Measured) {
			crossed[h] = true
		}
	}
	told := false
	for _, h := range r.Groups.Moved {
		if !crossed[h] {
			continue
		}
		told = true
		list = append(list, fmt.Sprintf("host %s: specified with %s, measured with %s", r.Hosts[h],
			r.company(h, func(x compare.Crossing) []int { return x.Reference }), r.company(h, func(x compare.Crossing) []int { return x.Measured })))
	}
	for _, x := range r.Groups.Crossed {
		if !told {
			list = append(list, fmt.Sprintf("specified %s, measured %s: neither holds the other", hostlist.Ranges(r.names(x.Reference)), hostlist.Ranges(r.names(x.Measured))))
		}
	}
	return list
}

// company names the other hosts of the smallest group of crossings that holds the host.
func (r *FabricComparison) company(host int, of func(compare.Crossing) []int) string {
	var least []int
	for _, x := range r.Groups.Crossed {
		if g := of(x); slices.Contains(g, host) && (least == nil || len(g) < len(least)) {
			least = g
		}
	}
	if least == nil {
		return "others"
	}
	return hostlist.Ranges(r.names(slices.DeleteFunc(slices.Clone(least), func(h int) bool { return h == host })))
}
