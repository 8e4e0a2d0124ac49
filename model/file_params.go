package model

import (
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

type levelFile struct {
	Latency *float64  `json:"latency_s,omitempty"`
	Sizes   []int64   `json:"sizes_bytes"`
	Gap     []float64 `json:"gap_s"`
	Send    []float64 `json:"send_s,omitempty"`
	Recv    []float64 `json:"recv_s,omitempty"`
	Spread  *float64  `json:"spread,omitempty"`
	Ratios  []float64 `json:"ratios,omitempty"` // those of the network, of this level
}

func (l *LevelParams) toFile() levelFile {
	return levelFile{jsonfile.Known(l.Latency), l.Sizes, l.Gap, l.Send, l.Recv, jsonfile.Known(l.Spread), l.MeasuredOverPredicted}
}

func (f levelFile) params() LevelParams {
	return LevelParams{
		PLogP:  PLogP{Latency: jsonfile.Value(f.Latency), Sizes: f.Sizes, Gap: f.Gap, Send: f.Send, Recv: f.Recv},
		Spread: jsonfile.Value(f.Spread), MeasuredOverPredicted: f.Ratios,
	}
}

// degradationFile has null for what was not measured.
type degradationFile struct {
	Distance []*float64 `json:"distance_ratio,omitempty"`
	Access   []*float64 `json:"access_ratio,omitempty"`
	Hosts    int        `json:"distance_hosts,omitempty"`
}

func (d *Degradation) toFile() *degradationFile {
	if d == nil {
		return nil
	}
	return &degradationFile{knownOf(d.Distance), knownOf(d.Access), d.Hosts}
}

func (f *degradationFile) degradation() *Degradation {
	if f == nil {
		return nil
	}
	return &Degradation{valuesOf(f.Distance), valuesOf(f.Access), f.Hosts}
}

// knownOf are the values that a file has; nil for those that are not known.
func knownOf(values []float64) (list []*float64) {
	for _, x := range values {
		list = append(list, jsonfile.Known(x))
	}
	return list
}

// valuesOf are the values of a file; NaN for those that are not known.
func valuesOf(list []*float64) (values []float64) {
	for _, p := range list {
		values = append(values, jsonfile.Value(p))
	}
	return values
}

type resourceFile struct {
	Kind       string   `json:"kind"` // see topology.ParseKind
	Bytes      int64    `json:"bytes,omitempty"`
	Bandwidth  *float64 `json:"bandwidth_Bps,omitempty"`
	FromSystem bool     `json:"told,omitempty"` // by the operating system, not measured
	Groups     [][]int  `json:"groups"`
}

func resourcesToFile(resources []Resource) []resourceFile {
	var out []resourceFile
	for _, r := range resources {
		out = append(out, resourceFile{r.Kind.String(), r.Bytes, jsonfile.Known(r.Bandwidth), r.FromSystem, r.Groups})
	}
	return out
}

func resourcesFromFile(resources []resourceFile) ([]Resource, error) {
	var out []Resource
	for i, r := range resources {
		kind, err := topology.ParseKind(r.Kind)
		if err != nil {
			return nil, fmt.Errorf("resource %d: %w", i, err)
		}
		out = append(out, Resource{Kind: kind, Bytes: r.Bytes, Bandwidth: jsonfile.Value(r.Bandwidth), FromSystem: r.FromSystem, Groups: r.Groups})
	}
	return out, nil
}
