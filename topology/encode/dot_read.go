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
//
// Warnings say how the file was understood where that is a guess.
func ReadDOT(r io.Reader, hosts []string) (_ *topology.Graph, warnings []string, err error) {
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
	d.statements(file.Graphs[0].Stmts, dotScope{})
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
	members map[string][]int // of named subgraphs
	named   int              // how often a vertex was named, by itself or with its subgraph
}

// A dotScope is what holds in a graph or subgraph.
type dotScope struct {
	given [3]map[string]string // by ast.Kind: the attributes that vertices and edges get where they say nothing themselves
	depth int                  // of subgraphs in subgraphs
}

// statements reads those of a graph or subgraph, and returns the vertices that are named in it. It stops at the first error.
func (d *dotReader) statements(all []ast.Stmt, scope dotScope) (inside []int) {
	for _, s := range all {
		var named []int
		switch s := s.(type) {
		case *ast.NodeStmt:
			named = d.node(s.Node, s.Attrs, scope)
		case *ast.EdgeStmt:
			named = d.chain(s, scope)
		case *ast.Subgraph:
			named = d.end(s, scope)
		case *ast.AttrStmt:
			scope.given[s.Kind] = withAttributes(scope.given[s.Kind], s.Attrs)
		}
		inside = append(inside, named...)
		if d.named += len(named); d.named > maxEdges {
			d.fail("vertices are named more than %d times", maxEdges)
		}
		if d.err != nil {
			break
		}
	}
	return inside
}

// withAttributes are attributes with those of a statement put over them.
func withAttributes(under map[string]string, over []*ast.Attr) map[string]string {
	all := map[string]string{}
	maps.Copy(all, under)
	for _, a := range over {
		all[dotUnquoted(a.Key)] = dotUnquoted(a.Val)
	}
	return all
}

func (d *dotReader) node(n *ast.Node, attributes []*ast.Attr, scope dotScope) []int {
	before := len(d.vertices)
	id := dotUnquoted(n.ID)
	v := d.vertex(id)
	var given map[string]string
	if v == before { // defaults are for vertices that are new
		given = scope.given[ast.NodeKind]
	}
	given = withAttributes(given, attributes)
	given["label"] = dotLabel(given["label"], id)
	d.place = fmt.Sprintf("vertex %q: ", id)
	d.describe(v, given)
	d.place = ""
	return []int{v}
}

// end reads one end of an edge: a vertex, or all of a subgraph, which may have been described before.
func (d *dotReader) end(v ast.Vertex, scope dotScope) []int {
	s, isSubgraph := v.(*ast.Subgraph)
	if !isSubgraph {
		return d.node(v.(*ast.Node), nil, scope)
	}
	if scope.depth++; scope.depth > deepestNested {
		d.fail("subgraphs nest more than %d deep", deepestNested)
		return nil
	}
	inside := append(d.statements(s.Stmts, scope), d.members[s.ID]...)
	slices.Sort(inside)
	inside = slices.Compact(inside)
	if s.ID != "" {
		d.members[s.ID] = inside
	}
	return inside
}

// chain reads "a -- b -- {c d}": edges between each end and the next one.
func (d *dotReader) chain(s *ast.EdgeStmt, scope dotScope) []int {
	values := d.values(s, scope)
	from := d.end(s.From, scope)
	named := from
	for e := s.To; e != nil && d.err == nil; e = e.To {
		to := d.end(e.Vertex, scope)
		if len(from)*len(to) > maxEdges-len(d.edges) {
			d.fail("more than %d edges", maxEdges)
			break
		}
		for _, values.From = range from {
			for _, values.To = range to {
				d.join(values)
			}
		}
		named = append(slices.Clip(named), to...)
		from = to
	}
	return named
}

// values are those of the edges of a chain.
func (d *dotReader) values(s *ast.EdgeStmt, scope dotScope) sketchEdge {
	given := withAttributes(scope.given[ast.EdgeKind], s.Attrs)
	for key, unit := range map[string]string{"latency": "_s", "bandwidth": "_Bps"} { // of numbers without any, as WriteDOT writes them
		if _, err := quantity.ParseShifted(given[key], 0); err == nil {
			given[key+unit] = given[key]
			delete(given, key)
		}
	}
	d.place = fmt.Sprintf("edge from %s: ", shorten(strings.Join(strings.Fields(fmt.Sprint(s.From)), " ")))
	e := d.edge(d.directed && given["dir"] != "both" && given["dir"] != "none", given)
	d.place = ""
	return e
}

// dotUnquoted is the text of an id, which may be a quoted string; only quotes are escaped in one.
func dotUnquoted(id string) string {
	if len(id) < 2 || id[0] != '"' {
		return id
	}
	return strings.ReplaceAll(strings.ReplaceAll(id[1:len(id)-1], "\\\n", ""), `\"`, `"`)
}

// dotLabel is what a label shows: a backslash begins the id of its vertex, or the end of a line, which may be centred or not.
func dotLabel(text, id string) string {
	if !strings.Contains(text, `\`) { // as most do
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\N`, id, `\n`, "\n", `\l`, "\n", `\r`, "\n").Replace(text)
}
