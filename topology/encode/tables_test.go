package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Tables as people have them. Each stands for three hosts or more with the pair (0, 1) at 1.5 us unless it says another
// number; understood is a part of the line that tells how the file was read.
func TestTablesAsPeopleHaveThem(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unit       Unit
		names      string
		first      float64 // s, from 0 to 1
		understood string
	}{
		{"CPUs that do not count from 0", ",8,9,24\n8,0,1.5,4\n9,1.5,0,4\n24,4,4,0\n", Microsecond, "8 9 24", 1.5e-6, "names from the first column"},
		{"a word in the corner", "CPU 2 4 6\n2 0 1.5 4\n4 1.5 0 4\n6 4 4 0\n", Microsecond, "2 4 6", 1.5e-6, "names"},
		{"unit in a title", "OSU Latency (us)\nnode n1 n2 n3\nn1 0 1.5 4\nn2 1.5 0 4\nn3 4 4 0\n", 0, "n1 n2 n3", 1.5e-6, `unit us (from "OSU Latency (us)")`},
		{"unit in the corner", "[usec];n1;n2;n3\nn1;;1.5;4\nn2;1.5;;4\nn3;4;4;\n", 0, "n1 n2 n3", 1.5e-6, "unit us"},
		{"unit in a comment without the word", "# round trip / 2, in microseconds\n0,1.5,4\n1.5,0,4\n4,4,0\n", 0, "", 1.5e-6, "unit us"},
		{"unit in cells", "n1,n2,n3\n,0.0015 ms,4us\n", 0, "", 0, ""},
		{"all cells with their unit", ",n1,n2,n3\nn1,,1.5us,4us\nn2,1.5us,,4us\nn3,4us,4us,\n", 0, "n1 n2 n3", 1.5e-6, `unit us (from "cells")`},
		{"a spread behind each number", "n1 0 1.5±0.1 4±0.2\nn2 1.5±0.1 0 4±0.1\nn3 4±0.2 4±0.1 0\n", Microsecond, "n1 n2 n3", 1.5e-6, "3 hosts"},
		{"Markdown", "| us | a | b | c |\n|:--|--:|--:|--:|\n| **a** | - | 1.5 | 4 |\n| **b** | 1.5 | - | 4 |\n| **c** | 4 | 4 | - |\n", Microsecond, "a b c", 1.5e-6, "1 lines of text skipped"},
		{"NumPy", "array([[0. , 1.5, 4. ],\n       [1.5, 0. , 4. ],\n       [4. , 4. , 0. ]])\n", Microsecond, "", 1.5e-6, "without names"},
		{"MATLAB", "L = [0 1.5 4; 1.5 0 4; 4 4 0];\n", Microsecond, "", 1.5e-6, "without names"},
		{"JSON lists", "[[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]\n", Microsecond, "", 1.5e-6, "without names"},
		{"a line for each pair", "from;to;rtt_us\na;b;1.5\na;c;4\nb;c;4\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with blanks, both ways", "a b 1.5\nb a 2.5\na c 4\nc a 4\nb c 4\nc b 4\n", Microsecond, "a b c", 1.5e-6, "from a list of pairs"},
		{"prose before and after", "starting 3 processes ...\n\n    a   b   c\na   -   1.5 4\nb   1.5 -   4\nc   4   4   -\n\ndone after some time\n", Microsecond, "a b c", 1.5e-6, "2 lines of text skipped"},
		{"no answer is -1", ",n1,n2,n3,n4\nn1,0,1.5,4,-1\nn2,1.5,0,4,4\nn3,4,4,0,4\nn4,-1,4,4,0\n", Microsecond, "n1 n2 n3 n4", 1.5e-6, "2 cells missing"},
		{"a dead host", ",n1,n2,n3,n4\nn1,,1.5,,4\nn2,1.5,,,4\nn3,,,,\nn4,4,4,,\n", Microsecond, "n1 n2 n4", 1.5e-6, "read 3 hosts"},
		{"a sentinel for no answer", ",n1,n2,n3\nn1,0,1.5,99999\nn2,1.5,0,4\nn3,99999,4,0\n", Microsecond, "n1 n2 n3", 1.5e-6, "2 cells missing"},
		{"a host that never answers", ",n1,n2,n3\nn1,0,1.5,1000000\nn2,1.5,0,1000000\nn3,1000000,1000000,0\n", Microsecond, "n1 n2", 1.5e-6, "read 2 hosts"},
		{"two sites a power of ten apart", ",n1,n2,n3,n4\nn1,0,5,1000,1000\nn2,5,0,1000,1000\nn3,1000,1000,0,6\nn4,1000,1000,6,0\n", Microsecond, "n1 n2 n3 n4", 5e-6, "read 4 hosts"},
		{"seconds without a unit", "0,1.5e-6,4e-6\n1.5e-6,0,4e-6\n4e-6,4e-6,0\n", 0, "", 1.5e-6, "none is named"},
	} {
		l, err := ReadMatrix(strings.NewReader(c.text), c.unit)
		if c.first == 0 {
			if err == nil {
				t.Errorf("%s: read as %s, want it refused", c.name, l.Understood)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(l.Names, " "); got != c.names {
			t.Errorf("%s: names %q, want %q", c.name, got, c.names)
		}
		if got := l.Matrix.At(0, 1); fmt.Sprintf("%.6g", got) != fmt.Sprintf("%.6g", c.first) {
			t.Errorf("%s: %g s from 0 to 1, want %g", c.name, got, c.first)
		}
		if !strings.Contains(l.Understood, c.understood) {
			t.Errorf("%s: understood as %q, want %q in it", c.name, l.Understood, c.understood)
		}
	}
}

// What can be understood in two ways, or is something else, is refused.
func TestTablesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no unit", ",n1,n2\nn1,,0.11\nn2,0.11,\n", "no unit is named: want --unit"},
		{"bandwidths", "GB/s n1 n2 n3\nn1 0 9.2 9.1\nn2 9.2 0 9.1\nn3 9.1 9.1 0\n", "bandwidths are no latencies"},
		{"bandwidths by a comment", "# unit: MB/s\n0,1\n1,0\n", "bandwidths are no latencies"},
		{"two tables", "Latency (us)\na b\n0 1\n1 0\n\nc d\n0 2\n2 0\n", "tables are in the file"},
		{"two units", "in us\nLatency (ms)\n0 1 2\n1 0 2\n2 2 0\n", "names us and ms as units"},
		{"a pair twice", "a b 1\na b 2\na c 3\n", ""},
	} {
		l, err := ReadMatrix(strings.NewReader(c.text), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want an error with %q", c.name, l, err, c.want)
		}
	}
	if l, err := ReadMatrix(strings.NewReader("# unit: MB/s\n0,1\n1,0\n"), Microsecond); err == nil {
		t.Errorf("bandwidths with a unit of time that was given are read as %s", l.Understood)
	}
}

// The graph of node-link JSON, as networkx writes it.
func TestReadNodeLink(t *testing.T) {
	for _, text := range []string{
		`{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}], "links": [{"source": "a", "target": "s"}, {"source": "s", "target": "b"}]}`,
		`{"nodes": [{"id": 1, "type": "host"}, {"id": 2, "type": "host"}, {"id": 9, "type": "switch"}], "edges": [{"source": 1, "target": 9, "latency_s": 1e-6}, {"source": 2, "target": 9}]}`,
	} {
		if !IsNodeLink([]byte(text)) {
			t.Errorf("%s is not known as node-link JSON", text)
		}
		g, err := ReadNodeLink(strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if g.Hosts() != 2 || g.Vertices() != 3 || g.NumArcs() != 4 {
			t.Errorf("%s: %d hosts, %d vertices, %d arcs, want 2, 3, 4", text, g.Hosts(), g.Vertices(), g.NumArcs())
		}
	}
	for _, text := range []string{`{"nodes": [], "links": []}`, `{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}`, `{"nodes": [{}], "links": []}`} {
		if g, err := ReadNodeLink(strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: %d hosts, want an error", text, g.Hosts())
		}
	}
	if slices.ContainsFunc([]string{`{"graph": {"hosts": []}}`, `[1]`, `{"nodes": []}`}, func(s string) bool { return IsNodeLink([]byte(s)) }) {
		t.Error("another file is taken for node-link JSON")
	}
}

// Tables that can be understood in two ways are refused, and what nobody answered is left out.
func TestTablesOfTwoMeanings(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"numbers of hosts below a 0", "0,10,11,12\n10,0,1.5,4.0\n11,1.5,0,4.1\n12,4.0,4.1,0\n", "of hosts, or latencies?"},
		{"three pairs of numbers", "0,1,1.1\n0,2,5.2\n1,2,5.1\n", "a matrix, or a list of the pairs"},
	} {
		if l, err := ReadMatrix(strings.NewReader(c.file), Microsecond); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, l, err, c.want)
		}
	}
	for _, c := range []struct{ name, file, names string }{
		{"names say that they are latencies", ",a,b,c,d\na,0,10,11,12\nb,10,0,1.5,4.0\nc,11,1.5,0,4.1\nd,12,4.0,4.1,0\n", "[a b c d]"},
		{"all are whole numbers", "0,10,11,12\n10,0,15,40\n11,15,0,41\n12,40,41,0\n", "[]"},
		{"pairs of numbers", "0,1,1.1\n0,2,5.2\n1,2,5.1\n0,3,7\n1,3,7.1\n2,3,7.2\n", "[0 1 2 3]"},
		{"a host of zeros", ",a,b,c,d\na,0,1,5,0\nb,1,0,5.1,0\nc,5,5.1,0,0\nd,0,0,0,0\n", "[a b c]"},
		{"a host of 3000", ",a,b,c,d\na,0,1,5,3000\nb,1,0,5.1,3000\nc,5,5.1,0,3000\nd,3000,3000,3000,0\n", "[a b c]"},
		{"a far host", ",a,b,c,d\na,0,1,5,3001\nb,1,0,5.1,3004\nc,5,5.1,0,2999\nd,3000,3002,3000,0\n", "[a b c d]"},
		{"zeros between two near hosts", ",a,b,c\na,0,0,5\nb,0,0,5.1\nc,5,5.1,0\n", "[a b c]"},
	} {
		l, err := ReadMatrix(strings.NewReader(c.file), Microsecond)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := fmt.Sprint(l.Names); got != c.names {
			t.Errorf("%s: hosts %s, want %s (%q)", c.name, got, c.names, l.Warnings)
		}
	}
}
