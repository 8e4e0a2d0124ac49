package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

const (
	graphFormat  = "topocast/graph"
	graphVersion = 2 // 2: links may be marked as estimated
)

// graphFile is the layout of a graph in JSON.
type graphFile struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	graphBody
}

// graphBody is also what platform files wrap in {"graph": ...}, with latencies
// in us and bandwidths in MB/s.
type graphBody struct {
	Hosts    []string   `json:"hosts"`
	Switches []string   `json:"switches"`
	Links    []linkFile `json:"links"`
	Arcs     []linkFile `json:"arcs,omitempty"`
}

// linkFile is a full-duplex link between a and b, or, in the list of arcs,
// the one direction from a to b. A and B are numbers of vertices, hosts first, or their names.
// Ranks of one host often share a name, so we write numbers.
type linkFile struct {
	A            any      `json:"a"`
	B            any      `json:"b"`
	Latency      *float64 `json:"latency_s,omitempty"`
	Bandwidth    *float64 `json:"bandwidth_Bps,omitempty"`
	Estimated    bool     `json:"estimated,omitempty"` // the bandwidth was not measured
	Probability  *float64 `json:"probability,omitempty"`
	LatencyUs    *float64 `json:"latency_us,omitempty"`
	BandwidthMBs *float64 `json:"bandwidth_MBps,omitempty"`
	Kind         string   `json:"kind,omitempty"` // of platform files; not read
}

// WriteGraph writes a graph as JSON of the format "topocast/graph", version 2:
// the names of hosts and switches, then links as vertex numbers, hosts first.
// Two opposite arcs with equal values make a link; the others stand in a list
// of arcs. Values that are not known are left out, and so is a probability of 1.
func WriteGraph(w io.Writer, g *topology.Graph) (err error) {
	defer naming("graph", &err)
	names, hosts := g.Names(), g.Hosts()
	f := graphFile{
		Format: graphFormat, Version: graphVersion,
		graphBody: graphBody{Hosts: names[:hosts], Switches: names[hosts:], Links: []linkFile{}},
	}
	for _, a := range g.Arcs() {
		l := linkFile{
			A: a.From, B: a.To,
			Latency: jsonfile.Known(a.Latency), Bandwidth: jsonfile.Known(a.Bandwidth), Estimated: a.Estimated,
		}
		if a.Probability != 1 {
			l.Probability = &a.Probability
		}
		back := g.ArcIndex(a.To, a.From)
		switch {
		case back < 0 || !sameValues(a, g.Arcs()[back]):
			f.Arcs = append(f.Arcs, l)
		case a.From < a.To:
			f.Links = append(f.Links, l)
		}
	}
	return json.NewEncoder(w).Encode(f)
}

func sameValues(a, b topology.Arc) bool {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return same(a.Latency, b.Latency) && same(a.Bandwidth, b.Bandwidth) && a.Estimated == b.Estimated && a.Probability == b.Probability
}

// ReadGraph reads what WriteGraph writes, in version 1 too, and platform files
// {"graph":{"hosts":[...],"switches":[...],"links":[{"a","b","latency_us","bandwidth_MBps"}]}}
// (1 MB = 10^6 bytes), which carry no format. Links may name their ends
// instead of numbering them, as far as the names are unique. Keys of a graph
// or a link that it does not know are an error.
func ReadGraph(r io.Reader) (_ *topology.Graph, err error) {
	defer naming("graph", &err)
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var f graphFile
	if inner := platformGraph(data); inner != nil {
		err = jsonfile.Decode(bytes.NewReader(inner), &f.graphBody)
	} else if err = jsonfile.Decode(bytes.NewReader(data), &f); err == nil {
		err = checkFormat(f.Format, f.Version, graphFormat, graphVersion)
	}
	if err != nil {
		return nil, err
	}
	return f.build()
}

// platformGraph is the graph that a platform file wraps; nil for other files.
// What else a platform file holds is its author's.
func platformGraph(data []byte) json.RawMessage {
	var f struct {
		Format *string         `json:"format"`
		Graph  json.RawMessage `json:"graph"`
	}
	if json.Unmarshal(data, &f) != nil || f.Format != nil {
		return nil
	}
	return f.Graph
}

func (f *graphBody) build() (*topology.Graph, error) {
	names := slices.Concat(f.Hosts, f.Switches)
	number := make(map[string]int, len(names))
	for i, name := range names {
		if _, twice := number[name]; twice {
			number[name] = -1
		} else {
			number[name] = i
		}
	}
	var e firstError
	find := func(v any) int {
		switch x := v.(type) {
		case float64:
			if x == math.Trunc(x) && math.Abs(x) < maxHosts {
				return int(x) // NewGraph checks the range
			}
		case string:
			i, known := number[x]
			if !known {
				e.fail("no host or switch is called %q", x)
			} else if i < 0 {
				e.fail("more than one host or switch is called %q", x)
			}
			return i
		}
		e.fail("%v: want the number or the name of a host or a switch", v)
		return 0
	}
	arcs := make([]topology.Arc, 0, 2*len(f.Links)+len(f.Arcs))
	for i, l := range slices.Concat(f.Links, f.Arcs) {
		isLink := i < len(f.Links)
		if e.place = fmt.Sprintf("link %d: ", i); !isLink {
			e.place = fmt.Sprintf("arc %d: ", i-len(f.Links))
		}
		a := topology.Arc{From: find(l.A), To: find(l.B), Latency: jsonfile.Value(l.Latency), Bandwidth: jsonfile.Value(l.Bandwidth), Probability: 1, Estimated: l.Estimated}
		if l.LatencyUs != nil {
			a.Latency = *l.LatencyUs * 1e-6
		}
		if l.BandwidthMBs != nil {
			a.Bandwidth = *l.BandwidthMBs * 1e6
		}
		if l.Probability != nil {
			a.Probability = *l.Probability
		}
		arcs = append(arcs, a)
		if isLink {
			a.From, a.To = a.To, a.From
			arcs = append(arcs, a)
		}
	}
	if e.err != nil {
		return nil, e.err
	}
	return topology.NewGraph(len(f.Hosts), len(f.Switches), names, arcs)
}
