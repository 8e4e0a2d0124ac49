package encode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology"
)

// nodeLink is the JSON of graphs that networkx and NetJSON write. Other keys of nodes and links are passed over.
type nodeLink struct {
	Directed bool              `json:"directed"`
	Nodes    []json.RawMessage `json:"nodes"`
	Links    []json.RawMessage `json:"links"`
	Edges    []json.RawMessage `json:"edges"`
}

// IsNodeLink tells whether a file is node-link JSON: an object with nodes, and links or edges.
func IsNodeLink(data []byte) bool {
	var head map[string]json.RawMessage
	if json.Unmarshal(data, &head) != nil || head["format"] != nil {
		return false
	}
	return head["nodes"] != nil && (head["links"] != nil || head["edges"] != nil)
}

// ReadNodeLink reads node-link JSON, as networkx writes it. A node's label is its name; its kind, type or role says whether it is a host or a
// switch; where no node says so, names are those of hosts, and else those with one link are. The latency and the bandwidth of a link
// have their units with the name or with the number: "latency_us": 5 or "latency": "5us". Where no id is a number, links may give the
// numbers of nodes, as D3 and the first networkx do.
//
// Warnings say how the file was understood where that is a guess.
func ReadNodeLink(r io.Reader, names []string) (_ *topology.Graph, warnings []string, err error) {
	defer naming("node-link JSON", &err)
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	var f nodeLink
	if err := jsonfile.Unmarshal(data, &f); err != nil {
		return nil, nil, err
	}
	s := sketch{directed: f.Directed}
	hasNumbers := false
	for i, raw := range f.Nodes {
		s.place = fmt.Sprintf("node %d: ", i)
		attributes := plainTexts(raw)
		id := cmp.Or(attributes["id"], attributes["name"], plainText(raw))
		if id == "" {
			s.fail("%s: want an id", shorten(string(raw)))
		}
		s.add(id, attributes)
		_, notNumber := strconv.Atoi(id)
		hasNumbers = hasNumbers || notNumber == nil
	}
	end := func(id string) string {
		if i, err := strconv.Atoi(id); err == nil && !hasNumbers && i >= 0 && i < len(s.vertices) {
			return s.vertices[i].id
		}
		return id
	}
	for i, raw := range append(f.Links, f.Edges...) {
		s.place = fmt.Sprintf("link %d: ", i)
		attributes := plainTexts(raw)
		delete(attributes, "label") // a number there may be anything
		from, to := cmp.Or(attributes["source"], attributes["from"]), cmp.Or(attributes["target"], attributes["to"])
		s.connect(end(from), end(to), s.edge(f.Directed, attributes))
	}
	if s.place = ""; len(s.vertices) == 0 {
		s.fail("no node is in it")
	}
	return s.graph(names)
}

// plainTexts are the values of a JSON object, by their keys; those of a list of two ends, as some programs write a link, are its source and its
// target. Other JSON has none.
func plainTexts(raw json.RawMessage) map[string]string {
	var object map[string]json.RawMessage
	var ends []json.RawMessage
	if json.Unmarshal(raw, &ends) == nil && len(ends) == 2 {
		object = map[string]json.RawMessage{"source": ends[0], "target": ends[1]}
	} else {
		_ = json.Unmarshal(raw, &object) // other JSON makes no object
	}
	texts := map[string]string{}
	for key, value := range object {
		texts[key] = plainText(value)
	}
	return texts
}

// plainText is the text of a JSON string, or a number, true or false as it is written; "" of other JSON.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if raw = bytes.TrimSpace(raw); bytes.IndexAny(raw, "[{") == 0 {
		return ""
	}
	return string(raw)
}
