package encode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

const (
	hierarchyFormat  = "topocast/hierarchy"
	hierarchyVersion = 1 // groups, fit and warnings
	resultVersion    = 2 // and the graph, with the names of the hosts if they are known
)

// hierarchyFile is the layout of a hierarchy in JSON. Levels go from fine to
// coarse; a host in no group of a level is alone there; the group of all
// hosts is left out. Values that are not known are left out.
type hierarchyFile struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	N        int              `json:"n"`
	Levels   []hierarchyLevel `json:"levels"`
	Root     *float64         `json:"root_latency_s,omitempty"`
	Fit      fitFile          `json:"fit"`
	Warnings []string         `json:"warnings"`
	Local    []localFile      `json:"by_size,omitempty"` // of a graph merged of several message lengths
	Names    []string         `json:"names,omitempty"`
	Graph    json.RawMessage  `json:"graph,omitempty"` // as WriteGraph writes it
}

// hierarchyLevel has the groups of one level; the lists after them have one
// entry per group and are left out when no group has the value.
type hierarchyLevel struct {
	Name            string     `json:"name"`
	Kind            string     `json:"kind,omitempty"` // see topology.ParseKind
	Latency         *float64   `json:"latency_s,omitempty"`
	Confidence      *float64   `json:"support,omitempty"`
	Groups          [][]int    `json:"groups"`
	GroupLatency    []*float64 `json:"group_latency_s,omitempty"`
	GroupConfidence []*float64 `json:"group_support,omitempty"`
}

type fitFile struct {
	Family       topology.Family `json:"family,omitempty"`
	R2           *float64        `json:"r2,omitempty"`
	Residual     *float64        `json:"residual,omitempty"`
	TreeLikeness *float64        `json:"tree_likeness,omitempty"`
	Noise        *float64        `json:"noise,omitempty"`
	Overhead     float64         `json:"overhead_s,omitempty"` // at the ends of every message
	Levels       []levelFitFile  `json:"levels,omitempty"`
}

type levelFitFile struct {
	Residual *float64 `json:"residual,omitempty"`
}

// WriteHierarchy writes the hierarchy, the fit and the warnings of a result as
// JSON of the format "topocast/hierarchy", version 1, on one line. The graph
// is not part of it: see [WriteResult].
func WriteHierarchy(w io.Writer, r *topology.Result) (err error) {
	defer naming("hierarchy", &err)
	return json.NewEncoder(w).Encode(hierarchyToFile(r))
}

// hierarchyToFile is what WriteHierarchy writes.
func hierarchyToFile(r *topology.Result) *hierarchyFile {
	h := r.Hierarchy
	f := &hierarchyFile{
		Format:   hierarchyFormat,
		Version:  hierarchyVersion,
		N:        h.Hosts(),
		Levels:   make([]hierarchyLevel, len(h.Levels())),
		Root:     jsonfile.Known(h.Groups()[0].Latency),
		Fit:      fitToFile(r.Fit),
		Warnings: append([]string{}, r.Warnings...),
		Local:    localToFile(r.Local),
	}
	for i, l := range h.Levels() {
		out := hierarchyLevel{Name: l.Name, Kind: l.Kind.String(), Latency: jsonfile.Known(l.Latency), Confidence: jsonfile.Known(l.Confidence), Groups: [][]int{}}
		for _, g := range h.GroupsAt(i) {
			out.Groups = append(out.Groups, g.Hosts)
			out.GroupLatency = append(out.GroupLatency, jsonfile.Known(g.Latency))
			out.GroupConfidence = append(out.GroupConfidence, jsonfile.Known(g.Confidence))
		}
		out.GroupLatency, out.GroupConfidence = ifAny(out.GroupLatency), ifAny(out.GroupConfidence)
		f.Levels[i] = out
	}
	return f
}

// ifAny is a list that has a value; nil if nothing in it is known.
func ifAny(list []*float64) []*float64 {
	if slices.ContainsFunc(list, func(x *float64) bool { return x != nil }) {
		return list
	}
	return nil
}

// ofGroups are the values of the groups of a level, which are one value if the file has no list of them.
func ofGroups(key string, list []*float64, otherwise *float64, groups int) ([]*float64, error) {
	switch len(list) {
	case 0:
		return slices.Repeat([]*float64{otherwise}, groups), nil
	case groups:
		return list, nil
	}
	return nil, fmt.Errorf("%s of %s for %s", words.Count(len(list), "value"), key, words.Count(groups, "group"))
}

// hierarchy builds the result of all but the graph.
func (f *hierarchyFile) hierarchy() (*topology.Result, error) {
	if f.N < 0 || f.N > maxHosts {
		return nil, fmt.Errorf("n is %d, want in [0, %d]", f.N, maxHosts)
	}
	levels := make([]topology.Level, len(f.Levels))
	var groups []topology.Group
	for i, l := range f.Levels {
		kind, err := topology.ParseKind(l.Kind)
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		levels[i] = topology.Level{Name: l.Name, Kind: kind, Latency: jsonfile.Value(l.Latency), Confidence: jsonfile.Value(l.Confidence)}
		latency, err := ofGroups("group_latency_s", l.GroupLatency, l.Latency, len(l.Groups))
		confidence, failed := ofGroups("group_support", l.GroupConfidence, nil, len(l.Groups))
		if err = cmp.Or(err, failed); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		for k, hosts := range l.Groups {
			groups = append(groups, topology.Group{Hosts: hosts, Level: i, Latency: jsonfile.Value(latency[k]), Confidence: jsonfile.Value(confidence[k])})
		}
	}
	h, err := topology.NewHierarchy(f.N, levels, groups, jsonfile.Value(f.Root))
	if err != nil {
		return nil, err
	}
	local, err := localFromFile(f.Local, f.N)
	if err != nil {
		return nil, err
	}
	return &topology.Result{Hierarchy: h, Fit: fitFromFile(f.Fit), Warnings: f.Warnings, Local: local}, nil
}

func fitToFile(fit topology.Fit) fitFile {
	f := fitFile{
		Family: fit.Family, R2: jsonfile.Known(fit.R2), Residual: jsonfile.Known(fit.Residual),
		TreeLikeness: jsonfile.Known(fit.TreeLikeness), Noise: jsonfile.Known(fit.Noise), Overhead: fit.Overhead,
	}
	for _, residual := range fit.Levels {
		f.Levels = append(f.Levels, levelFitFile{jsonfile.Known(residual)})
	}
	return f
}

func fitFromFile(f fitFile) topology.Fit {
	fit := topology.Fit{
		Family: f.Family, R2: jsonfile.Value(f.R2), Residual: jsonfile.Value(f.Residual),
		TreeLikeness: jsonfile.Value(f.TreeLikeness), Noise: jsonfile.Value(f.Noise), Overhead: f.Overhead,
	}
	for _, l := range f.Levels {
		fit.Levels = append(fit.Levels, jsonfile.Value(l.Residual))
	}
	return fit
}
