package table

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
)

const version = 1

// tableFile is the layout of the section in JSON. Values that are not known are left out.
type tableFile struct {
	Version int          `json:"version"`
	Tunings []tuningFile `json:"tunings"`
}

type tuningFile struct {
	Collective string         `json:"collective,omitempty"` // left out: broadcasts
	Ranks      int            `json:"ranks"`
	Library    string         `json:"library,omitempty"`
	Places     string         `json:"places"`
	Settings   string         `json:"settings,omitempty"` // of the library; left out: its defaults
	Date       string         `json:"date,omitempty"`
	RootClass  []int          `json:"root_class_of_rank,omitempty"`
	Topologies []topologyFile `json:"topologies,omitempty"` // that cells follow instead of the network's hierarchy
	Cells      []Cell         `json:"cells"`
}

type topologyFile struct {
	Name   string    `json:"name"`
	Levels [][][]int `json:"levels"` // ranks of each group of each level, the finest first
}

type cellFile struct {
	Bytes     int64    `json:"up_to_bytes"` // a power of two
	RootClass int      `json:"root_class,omitempty"`
	Algorithm string   `json:"algorithm"`
	Topology  string   `json:"topology,omitempty"`      // left out: the network's hierarchy
	Segment   int64    `json:"segment_bytes,omitempty"` // left out: the whole message
	Blocking  bool     `json:"blocking,omitempty"`
	Measured  *float64 `json:"measured_s,omitempty"`
	Native    *float64 `json:"native_s,omitempty"`
	Pairs     int      `json:"pairs"`
}

// MarshalJSON writes a cell without the values that are not known.
func (c Cell) MarshalJSON() ([]byte, error) {
	return json.Marshal(cellFile{
		c.Bytes, c.RootClass, c.Algorithm, c.Topology, c.Segment, c.Blocking,
		jsonfile.Known(c.Measured), jsonfile.Known(c.Choice.Native), c.Pairs,
	})
}

// UnmarshalJSON reads what MarshalJSON has written. It refuses keys that it does not know.
func (c *Cell) UnmarshalJSON(data []byte) error {
	var f cellFile
	if err := jsonfile.Decode(bytes.NewReader(data), &f); err != nil {
		return err
	}
	*c = Cell{f.Bytes, f.RootClass, Choice{
		f.Algorithm, f.Topology, f.Segment, f.Blocking, jsonfile.Value(f.Measured), jsonfile.Value(f.Native), f.Pairs,
	}}
	return nil
}

// Of reads the table of a network, which has no tunings if the network has no table. It refuses
// damaged tables, later versions and keys that it does not know.
func Of(n *model.Network) (*Table, error) {
	section := n.Settings().BcastTable
	if section == nil {
		return &Table{}, nil
	}
	return read(section)
}

// Keep is the network with this table in the place of its own.
func (t *Table) Keep(n *model.Network) (*model.Network, error) {
	section, err := t.encode()
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	kept, err := n.With(func(s *model.Settings) { s.BcastTable = section })
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return kept, nil
}

func (t *Table) encode() (json.RawMessage, error) {
	f := tableFile{Version: version, Tunings: []tuningFile{}}
	for _, x := range t.Tunings() {
		out := tuningFile{x.Collective, x.Ranks, x.Library, x.Places, x.Settings, x.Date, x.RootClass, nil, append([]Cell{}, x.Cells...)}
		for _, t := range x.Topologies {
			out.Topologies = append(out.Topologies, topologyFile(t))
		}
		f.Tunings = append(f.Tunings, out)
	}
	return json.Marshal(f)
}

func read(section json.RawMessage) (*Table, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := jsonfile.Unmarshal(section, &head); err != nil {
		return nil, fmt.Errorf("table: read: %w", err)
	}
	if head.Version != version {
		return nil, fmt.Errorf("table: read: version is %d, this program reads %d", head.Version, version)
	}
	var f tableFile
	if err := jsonfile.Decode(bytes.NewReader(section), &f); err != nil {
		return nil, fmt.Errorf("table: read: %w", err)
	}
	if len(f.Tunings) > maxTunings {
		return nil, fmt.Errorf("table: read: %d tunings: want at most %d", len(f.Tunings), maxTunings)
	}
	t := &Table{}
	for i, in := range f.Tunings {
		x := Tuning{Job: Job{in.Collective, in.Ranks, in.Library, in.Places, in.Settings}, Date: in.Date, RootClass: in.RootClass, Cells: in.Cells}
		for _, t := range in.Topologies {
			x.Topologies = append(x.Topologies, Topology(t))
		}
		if err := x.check(); err != nil {
			return nil, fmt.Errorf("table: read: tuning %d: %w", i, err)
		}
		if t.Find(x.Job) != nil {
			return nil, fmt.Errorf("table: read: tuning %d: its job has one already", i)
		}
		t.tunings = append(t.tunings, x)
	}
	return t, nil
}
