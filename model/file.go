package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

const (
	networkFormat  = "topocast/network"
	networkVersion = 5
)

// networkFile is the layout of a network in JSON. The graph and the hierarchy
// are those of package encode. Values that are not known are left out, or null
// in lists.
type networkFile struct {
	Format    string           `json:"format"`
	Version   int              `json:"version"`
	Ranks     int              `json:"ranks"`
	Measured  Metadata         `json:"measured"`
	Hosts     []string         `json:"hosts,omitempty"`     // distinct names
	RankHost  []int32          `json:"rank_host,omitempty"` // index into hosts
	RankCore  []int            `json:"rank_core,omitempty"` // -1: not bound to one core
	Levels    []levelFile      `json:"levels"`              // fine to coarse, the root last
	Routing   string           `json:"routing"`
	Law       Law              `json:"law,omitzero"`
	Ratios    []float64        `json:"ratios,omitempty"` // quantiles of measured over predicted
	Part      *typicalPaths    `json:"part,omitempty"`   // of a view
	Slowdown  *degradationFile `json:"degradation,omitempty"`
	Resources []resourceFile   `json:"resources,omitempty"`
	Bcast     json.RawMessage  `json:"bcast_table,omitempty"` // of package bcast/table
	Hierarchy json.RawMessage  `json:"hierarchy"`
	Graph     json.RawMessage  `json:"graph"`
	Checksum  string           `json:"checksum,omitempty"` // of all before; the last, see verify
}

// Write writes the network as JSON of the format "topocast/network", version 5.
// It takes some 60 bytes per rank and 6 more per further level: 0.3 MB for
// 4,096 ranks, 1.2 MB for 16,384 (BenchmarkFileSize).
func (n *Network) Write(w io.Writer) error {
	var graph, hierarchy bytes.Buffer
	if err := encode.WriteGraph(&graph, n.graph); err != nil {
		return fmt.Errorf("model: write network: %w", err)
	}
	if err := encode.WriteHierarchy(&hierarchy, &n.found); err != nil {
		return fmt.Errorf("model: write network: %w", err)
	}
	f := networkFile{
		Format: networkFormat, Version: networkVersion, Ranks: n.Ranks(), Measured: n.s.Measured,
		Hosts: n.hosts, RankHost: n.hostOf,
		Routing: n.s.Routing.String(), Law: n.s.Law,
		Slowdown: n.s.Degradation.toFile(), Ratios: n.s.MeasuredOverPredicted, Resources: resourcesToFile(n.s.Resources), Bcast: n.s.BcastTable,
		Hierarchy: hierarchy.Bytes(), Graph: graph.Bytes(),
	}
	if n.tree != nil && n.tree.part {
		f.Part = &n.tree.typicalPaths
	}
	for _, at := range n.s.Locations {
		f.RankCore = append(f.RankCore, at.Core)
	}
	for i := range n.s.Levels {
		f.Levels = append(f.Levels, n.s.Levels[i].toFile())
	}
	object, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("model: write network: %w", err)
	}
	if _, err := w.Write(append(withChecksum(object), '\n')); err != nil {
		return fmt.Errorf("model: write network: %w", err)
	}
	return nil
}

// Save writes the network to a file, which appears whole or not at all. Links
// are followed; devices and pipes are written into.
func (n *Network) Save(path string) error {
	if err := outfile.Write(path, n.Write); err != nil {
		return fmt.Errorf("model: save network: %w", err)
	}
	return nil
}

// Load reads the network of a file: see Read. Open reads those of other tools, too.
func Load(path string) (*Network, error) {
	data, err := os.ReadFile(path)
	var n *Network
	if err == nil {
		n, err = read(data)
	}
	if err != nil {
		return nil, fmt.Errorf("model: load network: %w (in %s)", err, path)
	}
	return n, nil
}

// Read reads a network that Write wrote. Or it makes one of a platform file or another graph that
// encode.ReadGraph reads (see FromGraph). Of a reconstruction that encode.WriteResult wrote it makes one
// with latencies only, and with the names of the hosts as the locations of ranks. It refuses damaged files, other formats, other versions and keys that it does not know.
// Who edits a file by hand takes its checksum out, which is then not missed.
func Read(r io.Reader) (*Network, error) {
	data, err := io.ReadAll(r)
	var n *Network
	if err == nil {
		n, err = read(data)
	}
	if err != nil {
		return nil, fmt.Errorf("model: read network: %w", err)
	}
	return n, nil
}

// read is Read of the content of a file.
func read(data []byte) (*Network, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("no content")
	}
	var head struct {
		Format  string          `json:"format"`
		Version int             `json:"version"`
		Graph   json.RawMessage `json:"graph"`
	}
	if err := jsonfile.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format == networkFormat && head.Version == networkVersion:
	case head.Format == networkFormat:
		return nil, fmt.Errorf("version is %d, this program reads %d: measure again with topocast discover", head.Version, networkVersion)
	case head.Format == "topocast/graph" || head.Format == "" && head.Graph != nil:
		g, err := encode.ReadGraph(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return FromGraph(g, topology.ChooseLowest)
	case head.Format == "topocast/hierarchy" && head.Graph != nil:
		result, names, err := encode.ReadResult(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return New(result, atHosts(names))
	default:
		return nil, fmt.Errorf("format is %q, want %q", head.Format, networkFormat)
	}
	var f networkFile
	if err := jsonfile.Decode(bytes.NewReader(data), &f); err != nil {
		return nil, err
	}
	if err := verify(data, f.Checksum); err != nil {
		return nil, err
	}
	return f.network()
}

// atHosts are the settings of a network whose ranks ran on the hosts of the given names; nil: not known.
func atHosts(names []string) *Settings {
	s := &Settings{}
	for _, name := range names {
		s.Locations = append(s.Locations, Location{Host: name, Core: -1})
	}
	return s
}

func (f *networkFile) network() (*Network, error) {
	result, err := encode.ReadHierarchy(bytes.NewReader(f.Hierarchy))
	if err != nil {
		return nil, err
	}
	if result.Graph, err = encode.ReadGraph(bytes.NewReader(f.Graph)); err != nil {
		return nil, err
	}
	if f.Ranks != result.Hierarchy.Hosts() {
		return nil, fmt.Errorf("ranks is %d, the hierarchy has %d", f.Ranks, result.Hierarchy.Hosts())
	}
	s := &Settings{Levels: []LevelParams{}, Measured: f.Measured, BcastTable: f.Bcast}
	if f.Routing != "" {
		if s.Routing, err = topology.ParseRouteChoice(f.Routing); err != nil {
			return nil, err
		}
	}
	s.Law, s.MeasuredOverPredicted = f.Law, f.Ratios
	s.Degradation = f.Slowdown.degradation()
	if s.Resources, err = resourcesFromFile(f.Resources); err != nil {
		return nil, err
	}
	for _, l := range f.Levels {
		s.Levels = append(s.Levels, l.params())
	}
	if len(f.RankHost) != len(f.RankCore) {
		return nil, fmt.Errorf("%d entries of rank_host, %d of rank_core", len(f.RankHost), len(f.RankCore))
	}
	for rank, host := range f.RankHost {
		if host < 0 || int(host) >= len(f.Hosts) {
			return nil, fmt.Errorf("rank_host of rank %d is %d, want in [0, %d)", rank, host, len(f.Hosts))
		}
		s.Locations = append(s.Locations, Location{Host: f.Hosts[host], Core: f.RankCore[rank]})
	}
	n, err := build(result, *s)
	if err != nil {
		return nil, err
	}
	return n, n.setPart(f.Part)
}

// setPart takes over what a view knows of the whole.
func (n *Network) setPart(f *typicalPaths) error {
	if f == nil {
		return nil
	}
	if len(f.Limit) != len(n.s.Levels) || len(f.Agree) != len(n.groups) {
		return fmt.Errorf("part has links_limit of %d levels, links_agree of %d groups, want %d and %d", len(f.Limit), len(f.Agree), len(n.s.Levels), len(n.groups))
	}
	if n.tree = n.newTree(); n.tree == nil {
		return nil
	}
	n.tree.typicalPaths, n.tree.part = *f, true
	return nil
}
