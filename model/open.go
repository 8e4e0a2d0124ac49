package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology/encode"
)

// Open reads a network from a file of any format that DecodeFile knows.
func Open(path string) (*Network, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model: open: %w", err)
	}
	n, err := DecodeFile(path, data, nil)
	if err != nil {
		return nil, fmt.Errorf("model: open %s: %w", path, err)
	}
	return n, nil
}

// DecodeFile makes a network of what a file holds: a network or a platform file of topocast, a reconstruction with its graph,
// or any of encode.Formats but matrices. The format is known by the content. names are those of the ranks in their order,
// where they are known: they tell hosts from switches where a file does not, and name the ranks of one that has only
// numbers. Errors say what a file is instead, and what makes a network of it.
//
// Warnings of the network say how a file of another tool was understood where that is a guess.
//
// path names the file, or is empty: a topology.conf of Slurm may include others in its folder.
func DecodeFile(path string, data []byte, names []string) (*Network, error) {
	data, err := encode.PlainText(data)
	if err != nil {
		return nil, err
	}
	if encode.IsFabric(data) {
		folder := ""
		if path != "" {
			folder = filepath.Dir(path)
		}
		return ofFabric(data, folder)
	}
	n, err := ofForeign(data, names)
	isForeign := n != nil || err != nil
	if !isForeign {
		n, err = read(data)
	}
	switch {
	case err == nil && n.Ranks() == 0:
		return nil, fmt.Errorf("no network: no host is in it; want %s", encode.Readable())
	case err == nil || isForeign:
		return n, err
	}
	format := jsonfile.Format(data)
	switch format {
	case "topocast/measurement":
		return nil, errors.New("holds measurements: topocast reconstruct --output makes a network of them")
	case "topocast/hierarchy":
		return nil, errors.New("holds no graph: topocast reconstruct --json, or --output, writes one")
	case "topocast/discovery":
		return nil, errors.New("holds a report: topocast discover --output writes a network")
	}
	m, failed := encode.ReadMatrix(bytes.NewReader(data), 0)
	if failed != nil {
		m, failed = encode.ReadMatrix(bytes.NewReader(data), encode.Second) // one that tells no unit
	}
	if failed == nil && m.Matrix.RawMatrix().Rows > 1 { // one cell is any text
		return nil, errors.New("no network: want JSON of topocast, as topocast reconstruct --output makes of these latencies")
	}
	if text := bytes.TrimSpace(data); len(text) > 0 && (text[0] != '{' || format == "" && json.Valid(text) && !holdsGraph(text)) {
		return nil, fmt.Errorf("no network: want %s", encode.Readable())
	}
	return nil, err
}

// holdsGraph tells whether JSON is an object with a graph, as a platform file is.
func holdsGraph(data []byte) bool {
	var x struct{ Graph json.RawMessage }
	return json.Unmarshal(data, &x) == nil && x.Graph != nil
}
