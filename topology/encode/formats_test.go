package encode

import (
	"bytes"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// Each format that is read and written recognises what it writes, reads it back, and is the first in the list that does.
func TestFormatsRecogniseWhatTheyWrite(t *testing.T) {
	arcs := topology.AppendLink(nil, 0, 2, 1e-6, 1e9)
	arcs = topology.AppendLink(arcs, 1, 2, 1e-6, 1e9)
	g, err := topology.NewGraph(2, 1, []string{"a", "b", "s"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range Formats() {
		if f.About == "" || names[f.Name] {
			t.Errorf("format %q: about %q, want a text and a name of its own", f.Name, f.About)
		}
		names[f.Name] = true
		if f.WriteGraph == nil {
			continue
		}
		var file bytes.Buffer
		if err := f.WriteGraph(&file, g); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for _, other := range Formats() {
			if other.Is != nil && other.Is(file.Bytes()) {
				if other.Name != f.Name {
					t.Errorf("%s is taken for %s:\n%s", f.Name, other.Name, &file)
				}
				break
			}
		}
		read, _, err := f.ReadGraph(&file, nil)
		if err != nil || read.Hosts() != 2 || read.Vertices() != 3 {
			t.Errorf("%s: %v, %v; want two hosts and a switch", f.Name, read, err)
		}
	}
}

// Arrows from a root are read as cables, and a warning says so. Arrows with one back, and edges without direction, are read as they are.
func TestDirectedTreesAreReadWithAWarning(t *testing.T) {
	for _, c := range []struct {
		name, text string
		arcs       int
		warns      bool
	}{
		{"DOT tree", "digraph { s -> a; s -> b }", 4, true},
		{"DOT edges", "graph { s -- a; s -- b }", 4, false},
		{"DOT circle", "digraph { s -> a; s -> b; a -> s; b -> s }", 4, false},
		{"node-link tree", `{"directed": true, "nodes": [{"id": "s"}, {"id": "a"}, {"id": "b"}], "links": [{"source": "s", "target": "a"}, {"source": "s", "target": "b"}]}`, 4, true},
		{"GraphML tree", `<graphml><graph edgedefault="directed"><node id="s"/><node id="a"/><node id="b"/><edge source="s" target="a"/><edge source="s" target="b"/></graph></graphml>`, 4, true},
		{"TGF", "s\na\nb\n#\ns a\ns b\n", 4, false},
	} {
		for _, f := range Formats() {
			if f.Is == nil || !f.Is([]byte(c.text)) {
				continue
			}
			g, warnings, err := f.ReadGraph(strings.NewReader(c.text), nil)
			if err != nil || g.NumArcs() != c.arcs || len(warnings) > 0 != c.warns {
				t.Errorf("%s: %v, warnings %q, %v; want %d arcs, a warning: %t", c.name, g, warnings, err, c.arcs, c.warns)
			}
			break
		}
	}
}

// Each reader of a graph takes files as editors of Windows and of old Macs save them: a byte order mark, lines that end in CR or in CR and LF,
// names in Latin-1.
func TestFormatsTakeAnyPlainText(t *testing.T) {
	g, err := topology.NewGraph(2, 1, []string{"fée", "b", "s"}, topology.AppendLink(topology.AppendLink(nil, 0, 2, 1e-6, 1e9), 1, 2, 1e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if f.WriteGraph == nil {
			continue
		}
		var file bytes.Buffer
		if err := f.WriteGraph(&file, g); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for _, c := range []struct{ name, from, to string }{
			{"a byte order mark", "", byteOrderMark}, {"CR", "\n", "\r"}, {"CR and LF", "\n", "\r\n"}, {"Latin-1", "é", "\xe9"},
		} {
			text := strings.ReplaceAll(file.String(), c.from, c.to)
			if c.from == "" {
				text = c.to + file.String()
			}
			read, _, err := f.ReadGraph(strings.NewReader(text), nil)
			if err != nil || read.Hosts() != 2 || read.Vertices() != 3 || read.Name(0) != "fée" && read.Name(1) != "fée" {
				t.Errorf("%s with %s: %v, %v; want two hosts, of which one is fée, and a switch", f.Name, c.name, read, err)
			}
		}
	}
}
