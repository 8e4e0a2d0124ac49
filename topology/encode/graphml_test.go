package encode

import (
	"bytes"
	"strings"
	"testing"
)

func TestGraphMLRoundTrip(t *testing.T) {
	for name, g := range smallGraphs(t) {
		var b bytes.Buffer
		if err := WriteGraphML(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if again, _, err := ReadGraphML(&b, nil); err != nil || !sameGraph(again, g) {
			t.Errorf("%s: read back %v, %v of\n%s", name, again, err, text)
		}
	}
}

// networkxFile is how networkx writes a graph: keys are numbered.
const networkxFile = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <key id="d1" for="edge" attr.name="latency_s" attr.type="double"/>
  <key id="d0" for="node" attr.name="kind" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="a"><data key="d0">host</data></node>
    <node id="b"><data key="d0">switch</data></node>
    <edge source="a" target="b"><data key="d1">2e-06</data></edge>
  </graph>
</graphml>`

// yEdFile is how yEd writes a graph, as far as it matters: texts are drawn.
const yEdFile = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <key for="edge" id="d10" yfiles.type="edgegraphics"/>
  <graph edgedefault="directed" id="G">
    <node id="n0"><data key="d6"><y:ShapeNode><y:Geometry height="30.0"/><y:NodeLabel fontSize="12">node 1<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
    <node id="n1"><data key="d6"><y:ImageNode><y:NodeLabel>switch</y:NodeLabel></y:ImageNode></data></node>
    <node id="n2"/>
    <edge id="e0" source="n0" target="n1" directed="false"><data key="d10"><y:PolyLineEdge><y:EdgeLabel>100</y:EdgeLabel></y:PolyLineEdge></data></edge>
    <edge id="e1" source="n1" target="n2"/>
  </graph>
</graphml>`

func TestReadGraphML(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"names as igraph writes them", `<graphml><key id="v" for="node" attr.name="name"/><graph><node id="n0"><data key="v">alpha</data></node><node id="n1"><data key="v">sw</data></node><node id="n2"/><edge source="n0" target="n1"/><edge source="n1" target="n2"/></graph></graphml>`, "alpha n2 |sw ; alpha-sw  ; n2-sw  "},
		{"of networkx", networkxFile, "a |b ; a-b 2 "},
		{"of yEd", yEdFile, "node 1 n2 |switch ; node 1-switch  100; switch>n2  "},
		{"defaults", `<graphml><key id="k" for="node" attr.name="kind"><default>host</default></key><key id="l" for="edge" attr.name="latency_s"><default> 1e-6 </default></key>
<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"><data key="k">switch</data></node><edge source="a" target="b"/><edge source="b" target="c"><data key="l">2e-6</data></edge></graph></graphml>`, "a b |c ; a-b 1 ; b-c 2 "},
		{"a directed tree", `<graphml><graph edgedefault="directed"><node id="s"/><node id="a"/><node id="b"/><edge source="s" target="a"/><edge source="s" target="b"/></graph></graphml>`, "a b |s ; a-s  ; b-s  "},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _, err := ReadGraphML(strings.NewReader(c.file), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// billionLaughs is the entity that grows to 10^9 words.
const billionLaughs = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>`

func TestReadGraphMLRefuses(t *testing.T) {
	body := func(inside string) string {
		return `<graphml><graph edgedefault="undirected">` + inside + `</graph></graphml>`
	}
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", "", "encode: GraphML: EOF"},
		{"a cut file", networkxFile[:len(networkxFile)-20], "unexpected EOF"},
		{"another root", "<html/>", "expected element type <graphml> but have <html>"},
		{"no graph", "<graphml/>", "0 graphs in the file: want one"},
		{"a node twice", body(`<node id="a"/><node id="a"/>`), `node "a": vertex "a" is there twice`},
		{"a graph inside", body(`<node id="a"><graph/></node>`), `node "a": has a graph inside`},
		{"a hyperedge", body(`<hyperedge/>`), "hyperedges"},
		{"an edge to nowhere", body(`<node id="a"/><edge source="a" target="b"/>`), `edge "a" to "b": there is no vertex "b"`},
		{"neither directed nor not", body(`<node id="a"/><node id="b"/><edge source="a" target="b" directed="yes"/>`), `directed "yes": want true or false`},
		{"an unknown kind", `<graphml><key id="k" for="node" attr.name="kind"/><graph><node id="a"><data key="k">hub</data></node></graph></graphml>`, `node "a": kind "hub": want host or switch`},
		{"a latency that is no number", strings.Replace(networkxFile, "2e-06", "NaN", 1), `edge "a" to "b": latency_s "NaN": want a number`},
		{"entities", billionLaughs + body(`<node id="&c;"/>`), "invalid character entity &c;"},
		{"elements without end", strings.Repeat("<graphml>", 20000), "encode: GraphML: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadGraphML(strings.NewReader(c.file), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ReadGraphML = %v, want one line with %q", err, c.want)
			}
		})
	}
}

func FuzzReadGraphML(f *testing.F) {
	f.Add(networkxFile)
	f.Add(yEdFile)
	f.Fuzz(func(t *testing.T, file string) {
		g, _, err := ReadGraphML(strings.NewReader(file), nil)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteGraphML(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if again, _, err := ReadGraphML(&b, nil); err != nil || !sameGraph(again, g) {
			t.Errorf("read back %v of\n%s", err, text)
		}
	})
}
