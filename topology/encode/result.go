package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// WriteResult writes a whole result as JSON of the format "topocast/hierarchy", version 2, on one
// line: what [WriteHierarchy] writes, the graph as [WriteGraph] does, and the names of the
// hosts in their order, which the graph's hosts get too. nil: the names are not known, and the
// graph has its own.
func WriteResult(w io.Writer, r *topology.Result, names []string) (err error) {
	defer naming("result", &err)
	g := r.Graph
	if g == nil || g.Hosts() != r.Hierarchy.Hosts() {
		return fmt.Errorf("want a graph of the hierarchy's %s", words.Count(r.Hierarchy.Hosts(), "host"))
	}
	f := hierarchyToFile(r)
	f.Version = resultVersion
	if names != nil {
		if g, err = g.WithHostNames(names); err != nil {
			return err
		}
		f.Names = names
	}
	var graph bytes.Buffer
	if err := WriteGraph(&graph, g); err != nil {
		return err
	}
	f.Graph = graph.Bytes()
	return json.NewEncoder(w).Encode(f)
}

// ReadResult reads what WriteResult writes, and the names of the hosts, nil if they are not known.
// It reads version 1 too, which has no graph. What does not fit together is refused.
func ReadResult(r io.Reader) (result *topology.Result, names []string, err error) {
	defer naming("hierarchy", &err)
	var f hierarchyFile
	if err := jsonfile.Decode(r, &f); err != nil {
		return nil, nil, err
	}
	if err := checkFormat(f.Format, f.Version, hierarchyFormat, resultVersion); err != nil {
		return nil, nil, err
	}
	if result, err = f.hierarchy(); err != nil {
		return nil, nil, err
	}
	switch {
	case f.Version < resultVersion && (f.Graph != nil || f.Names != nil):
		return nil, nil, fmt.Errorf("version %d has no graph and no names", f.Version)
	case f.Version < resultVersion:
		return result, nil, nil
	case f.Names != nil && len(f.Names) != f.N:
		return nil, nil, fmt.Errorf("%s of %s", words.Count(len(f.Names), "name"), words.Count(f.N, "host"))
	}
	if result.Graph, err = ReadGraph(bytes.NewReader(f.Graph)); err != nil {
		return nil, nil, err
	}
	if hosts := result.Graph.Hosts(); hosts != f.N {
		return nil, nil, fmt.Errorf("%s in the graph, %d in the hierarchy", words.Count(hosts, "host"), f.N)
	}
	return result, f.Names, nil
}

// ReadHierarchy reads what WriteHierarchy and WriteResult write; the result of the former has
// no graph. It refuses other formats, later versions, and groups that do not nest.
func ReadHierarchy(r io.Reader) (*topology.Result, error) {
	result, _, err := ReadResult(r)
	return result, err
}
