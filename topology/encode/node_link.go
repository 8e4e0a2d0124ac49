package encode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

// nodeLink is the JSON of graphs that networkx and NetJSON write. Other keys of nodes and links are passed over.
type nodeLink struct {
	Directed bool                         `json:"directed"`
	Nodes    []json.RawMessage            `json:"nodes"`
	Links    []map[string]json.RawMessage `json:"links"`
	Edges    []map[string]json.RawMessage `json:"edges"`
}

// IsNodeLink tells whether a file is node-link JSON: an object with nodes, and links or edges.
func IsNodeLink(data []byte) bool {
	var head map[string]json.RawMessage
	if json.Unmarshal(data, &head) != nil || head["format"] != nil {
		return false
	}
	return head["nodes"] != nil && (head["links"] != nil || head["edges"] != nil)
}

// ReadNodeLink reads node-link JSON, as networkx writes it. A node's kind, type or role says whether it is a host or a
// switch; where no node says so, names are those of hosts, and else those with one link are. The latency and the bandwidth of a link
// have their units with the name or with the number: "latency_us": 5 or "latency": "5us".
func ReadNodeLink(r io.Reader, names []string) (_ *topology.Graph, err error) {
	defer naming("node-link JSON", &err)
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var f nodeLink
	if err := jsonfile.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	var s sketch
	for i, raw := range f.Nodes {
		if err := s.node(raw); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	for i, link := range append(f.Links, f.Edges...) {
		e := unknownEdge()
		e.oneWay = f.Directed
		attributes := map[string]string{}
		for name, raw := range link {
			if name != "label" { // a number there may be anything
				attributes[name] = plainText(string(raw))
			}
		}
		err := e.set(attributes)
		if err == nil {
			err = s.connect(plainText(cmp.Or(string(link["source"]), string(link["from"]))), plainText(cmp.Or(string(link["target"]), string(link["to"]))), e)
		}
		if err != nil {
			return nil, fmt.Errorf("link %d: %w", i, err)
		}
	}
	if len(s.vertices) == 0 {
		return nil, errors.New("no node is in it")
	}
	return s.graph(names)
}

// node adds a node, which is an object with an id, or the id alone.
func (s *sketch) node(raw json.RawMessage) error {
	var n struct {
		ID, Name         json.RawMessage
		Kind, Type, Role string
	}
	if json.Unmarshal(raw, &n) != nil {
		n.ID = raw // the id alone
	} else if n.ID == nil {
		n.ID = n.Name
	}
	id := plainText(string(n.ID))
	if id == "" {
		return fmt.Errorf("%s: want an id", shorten(string(raw)))
	}
	v, err := s.add(id)
	if err != nil {
		return err
	}
	for _, kind := range []string{n.Kind, n.Type, n.Role} {
		switch kind {
		case "host", "node", "server", "compute":
			v.kind = kindHost
		case "switch", "router", "leaf", "spine":
			v.kind = kindSwitch
		}
	}
	return nil
}

// plainText is the text of a JSON string, or a number as it is written.
func plainText(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	var number json.Number
	if json.Unmarshal([]byte(raw), &number) == nil {
		return number.String()
	}
	return ""
}
