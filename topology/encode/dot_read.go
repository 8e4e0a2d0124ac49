package encode

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// maxDOT bounds the size of a file in bytes: the parser goes one call deeper for each edge of a
// chain. It is enough for some 40,000 links as WriteDOT writes them.
const maxDOT = 8 << 20

// ReadDOT reads a graph in the language of Graphviz: what WriteDOT writes, and specifications of a
// machine (Bannikov 2014, section 2.3). The attributes are those of WriteDOT: of a vertex label and
// kind; of an edge latency in s, bandwidth in B/s, probability, estimated. A vertex without label is named by its id.
// Vertices that share a name are cores of one processor. An edge whose label is a number
// and which has no bandwidth has as many Gbit/s. Edges of a graph lead both ways, and so do those of a digraph with dir=both or
// dir=none. If no vertex of a digraph could answer another, all edges do, as in a tree that is drawn from its root.
//
// Where no vertex has a kind, hosts are those whose names are among the given ones, which may be nil. So are those that
// share a name, and those with one neighbour at most. The others are switches. Where that makes none a host all are.
//
// Other attributes are for drawing, and are passed over, as edges from a vertex to itself are. It refuses files with more than one graph and
// files above 8 MiB.
func ReadDOT(r io.Reader, hosts []string) (*topology.Graph, error) {
	return onlyGraph(readDOT(r, hosts))
}

// readDOT is ReadDOT with warnings, which say how the file was understood.
func readDOT(r io.Reader, hosts []string) (_ *topology.Graph, _ []string, err error) {
	defer naming("DOT", &err)
	text, err := readAtMost(r, maxDOT)
	if err != nil {
		return nil, nil, err
	}
	file, err := dot.ParseBytes(text)
	if err != nil {
		return nil, nil, oneLine(err)
	}
	if len(file.Graphs) != 1 {
		return nil, nil, fmt.Errorf("%d graphs in the file: want one", len(file.Graphs))
	}
	d := dotReader{sketch: sketch{directed: file.Graphs[0].Directed}, members: map[string][]int{}}
	if _, err := d.statements(file.Graphs[0].Stmts, dotScope{}); err != nil {
		return nil, nil, err
	}
	return d.graph(hosts)
}

// oneLine is an error whose text has no line breaks.
func oneLine(err error) error {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return errors.New(text)
}

// A dotReader makes a sketch of the statements of a file.
type dotReader struct {
	sketch
	depth   int              // of subgraphs in subgraphs
	members map[string][]int // of named subgraphs
	named   int              // how often a vertex was named, by itself or with its subgraph
}

// A dotScope holds the attributes that vertices and edges get where they say nothing themselves.
type dotScope struct{ vertex, edge map[string]string }

// statements reads those of a graph or subgraph, and returns the vertices that are named in it.
func (d *dotReader) statements(all []ast.Stmt, scope dotScope) ([]int, error) {
	var inside []int
	for _, s := range all {
		var named []int
		var err error
		switch s := s.(type) {
		case *ast.NodeStmt:
			named, err = d.node(s.Node, s.Attrs, scope)
		case *ast.EdgeStmt:
			named, err = d.chain(s, scope)
		case *ast.Subgraph:
			named, err = d.subgraph(s, scope)
		case *ast.AttrStmt:
			switch s.Kind {
			case ast.NodeKind:
				scope.vertex = withAttributes(scope.vertex, s.Attrs)
			case ast.EdgeKind:
				scope.edge = withAttributes(scope.edge, s.Attrs)
			}
		}
		if err != nil {
			return nil, err
		}
		inside = append(inside, named...)
		if d.named += len(named); d.named > maxEdges {
			return nil, fmt.Errorf("vertices are named more than %d times", maxEdges)
		}
	}
	return inside, nil
}

// withAttributes are attributes with those of a statement put over them.
func withAttributes(under map[string]string, over []*ast.Attr) map[string]string {
	all := maps.Clone(under)
	if all == nil {
		all = map[string]string{}
	}
	for _, a := range over {
		all[dotUnquoted(a.Key)] = dotUnquoted(a.Val)
	}
	return all
}

func (d *dotReader) node(n *ast.Node, attributes []*ast.Attr, scope dotScope) ([]int, error) {
	before := len(d.vertices)
	v, err := d.vertex(dotUnquoted(n.ID))
	if err != nil {
		return nil, err
	}
	var given map[string]string
	if v == before { // defaults are for vertices that are new
		given = scope.vertex
	}
	given = withAttributes(given, attributes)
	if given["label"] == `\N` { // the id
		delete(given, "label")
	}
	given["label"] = dotEscapes.Replace(given["label"])
	if err := d.describe(v, given); err != nil {
		return nil, fmt.Errorf("vertex %q: %w", d.vertices[v].id, err)
	}
	return []int{v}, nil
}

// subgraph reads one, or finds the one of that name.
func (d *dotReader) subgraph(s *ast.Subgraph, scope dotScope) ([]int, error) {
	if d.depth == deepestNested {
		return nil, fmt.Errorf("subgraphs nest more than %d deep", deepestNested)
	}
	d.depth++
	inside, err := d.statements(s.Stmts, scope)
	d.depth--
	if err != nil {
		return nil, err
	}
	if s.ID == "" {
		slices.Sort(inside)
		return slices.Compact(inside), nil
	}
	inside = append(inside, d.members[s.ID]...)
	slices.Sort(inside)
	d.members[s.ID] = slices.Compact(inside)
	return d.members[s.ID], nil
}

// end reads one end of an edge: a vertex, or all of a subgraph.
func (d *dotReader) end(v ast.Vertex, scope dotScope) ([]int, error) {
	switch v := v.(type) {
	case *ast.Node:
		return d.node(v, nil, scope)
	case *ast.Subgraph:
		return d.subgraph(v, scope)
	}
	return nil, fmt.Errorf("%v: want a vertex or a subgraph", v)
}

// chain reads "a -- b -- {c d}": edges between each end and the next one.
func (d *dotReader) chain(s *ast.EdgeStmt, scope dotScope) ([]int, error) {
	values, err := d.values(withAttributes(scope.edge, s.Attrs))
	if err != nil {
		return nil, fmt.Errorf("edge from %v: %w", s.From, err)
	}
	from, err := d.end(s.From, scope)
	if err != nil {
		return nil, err
	}
	named := from
	for e := s.To; e != nil; e = e.To {
		to, err := d.end(e.Vertex, scope)
		if err != nil {
			return nil, err
		}
		for _, values.from = range from {
			for _, values.to = range to {
				if err := d.join(values); err != nil {
					return nil, err
				}
			}
		}
		named = append(named[:len(named):len(named)], to...)
		from = to
	}
	return named, nil
}

// values are those of an edge with the given attributes.
func (d *dotReader) values(given map[string]string) (sketchEdge, error) {
	for key, unit := range map[string]string{"latency": "_s", "bandwidth": "_Bps"} { // of numbers without any, as WriteDOT writes them
		if _, err := quantity.ParseShifted(given[key], 0); err == nil {
			given[key+unit] = given[key]
			delete(given, key)
		}
	}
	return newEdge(d.directed && given["dir"] != "both" && given["dir"] != "none", given)
}

// dotUnquoted is the text of an id, which may be a quoted string; only quotes are escaped in one.
func dotUnquoted(id string) string {
	if len(id) < 2 || id[0] != '"' {
		return id
	}
	return strings.ReplaceAll(strings.ReplaceAll(id[1:len(id)-1], "\\\n", ""), `\"`, `"`)
}

// dotEscapes are what stands in labels for a backslash and the ends of lines, which may be centred or not.
var dotEscapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\l`, "\n", `\r`, "\n")
