package encode

import (
	"fmt"
	"math"
	"math/rand/v2"
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
		{"Markdown", "| us | a | b | c |\n|:--|--:|--:|--:|\n| **a** | - | 1.5 | 4 |\n| **b** | 1.5 | - | 4 |\n| **c** | 4 | 4 | - |\n", Microsecond, "a b c", 1.5e-6, "1 line of text skipped"},
		{"NumPy", "array([[0. , 1.5, 4. ],\n       [1.5, 0. , 4. ],\n       [4. , 4. , 0. ]])\n", Microsecond, "", 1.5e-6, "without names"},
		{"MATLAB", "L = [0 1.5 4; 1.5 0 4; 4 4 0];\n", Microsecond, "", 1.5e-6, "without names"},
		{"JSON lists", "[[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]\n", Microsecond, "", 1.5e-6, "without names"},
		{"a line for each pair", "from;to;rtt_us\na;b;1.5\na;c;4\nb;c;4\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with blanks, both ways", "a b 1.5\nb a 2.5\na c 4\nc a 4\nb c 4\nc b 4\n", Microsecond, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with arrows", "a -> b 1.5\na -> c 4\nb -> c 4\n", Microsecond, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with arrows, colons and units", "a->b: 1.5 us\na->c: 4 us\nb->c: 4 us\n", 0, "a b c", 1.5e-6, `unit us (from "cells")`},
		{"pairs with arrows before commas", "a <-> b, 1.5\na <-> c, 4\nb <-> c, 4\n", Microsecond, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with arrows of Unicode and equals signs", "a → b = 1.5 µs\na → c = 4 µs\nb → c = 4 µs\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with colons", "a b: 1.5 us\na c: 4 us\nb c: 4 us\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs with hyphens and units", "h0-h1: 1.5 us\nh0-h2: 4 us\nh1-h2: 4 us\n", 0, "h0 h1 h2", 1.5e-6, `unit us (from "cells")`},
		{"pairs with hyphens of names with hyphens", "node-a-node-b 1.5\nnode-a-node-c 4\nnode-b-node-c 4\n", Microsecond, "node-a node-b node-c", 1.5e-6, "from a list of pairs"},
		{"pairs with slashes before commas", "h0/h1,1.5\nh0/h2,4\nh1/h2,4\n", Microsecond, "h0 h1 h2", 1.5e-6, "from a list of pairs"},
		{"one pair with a hyphen", "h0-h1: 1.5 us\n", 0, "h0 h1", 1.5e-6, "from a list of pairs"},
		{"numbered pairs in any order", "2 0 4\n1 0 1.5\n2 1 4\n1 2 4\n", Microsecond, "0 1 2", 1.5e-6, "from a list of pairs"},
		{"names with hyphens beside a square", "a-b 0 1.5\nc-d 1.5 0\n", Microsecond, "a-b c-d", 1.5e-6, "names from the first column"},
		{"addresses with colons", "fe80::1 -> fe80::2: 1.5\nfe80::1 -> fe80::3: 4\n", Microsecond, "fe80::1 fe80::2 fe80::3", 1.5e-6, "from a list of pairs"},
		{"pairs with a unit for a name", "from,to,us\na,b,1.5\na,c,4\nb,c,4\n", 0, "a b c", 1.5e-6, `unit us (from "us")`},
		{"pairs three times", "a b 1.5\na b 1\na b 99\na c 4\nb c 4\n", Microsecond, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs twice, in two units, once without answer", "a b 1us\na b 2000ns\na b -\na c 4us\nb c 4us\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"latency and bandwidth", "from,to,latency_us,bandwidth_MBps\na,b,1.5,900\na,c,4,700\nb,c,4,700\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"bandwidth and latency of numbered hosts", "from;to;GB/s;time [us]\n0;1;9;1.5\n0;2;7;4\n1;2;7;4\n1;3;7;4\n2;3;7;4\n", 0, "0 1 2 3", 1.5e-6, "from a list of pairs"},
		{"each cell in its unit", ",a,b,c\na,,1500ns,4us\nb,0.0015 ms,,4us\nc,4us,4e-6 s,\n", 0, "a b c", 1.5e-6, `(from "cells")`},
		{"units in some cells, and one given", ",a,b,c\na,,1500ns,4\nb,1500ns,,4\nc,4,4,\n", Microsecond, "a b c", 1.5e-6, "unit us (as given)"},
		{"MatrixMarket, array", "%%MatrixMarket matrix array real general\n% in us\n3 3\n0\n2.5\n4\n1.5\n0\n4\n4\n4\n0\n", 0, "", 1.5e-6, "3 hosts"},
		{"MatrixMarket, symmetric array", "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1.5\n4\n0\n4\n0\n", Microsecond, "", 1.5e-6, "3 hosts"},
		{"MatrixMarket, coordinates", "%%MatrixMarket matrix coordinate real general\r\n3 3 5\r\n1 2 1.5\r\n2 1 2.5\r\n1 3 4\r\n3 1 4\r\n2 3 4\r\n", Microsecond, "", 1.5e-6, "1 cell missing"},
		{"MatrixMarket, symmetric coordinates", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 15\n3 1 40\n3 2 40\n", Microsecond, "", 15e-6, "3 hosts"},
		{"MATLAB between statements", "% latencies\nL = [0 1.5 4;\n 1.5 0 4;\n 4 4 0]; % in us\nimagesc(L); colorbar\n", 0, "", 1.5e-6, "unit us"},
		{"Python that prints it", "lat = [[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]\nprint(lat)\n", Microsecond, "", 1.5e-6, "3 hosts"},
		{"JSON in an object", `{"latency": [[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]}`, Microsecond, "", 1.5e-6, "3 hosts"},
		{"JSON with names and a unit", `{"unit": "us", "hosts": ["a", "b", "c"], "latency": [[0, 1.5, 4], [1.5, null, 4], [4, 4, 0]]}`, 0, "a b c", 1.5e-6, `unit us (from "unit: us")`},
		{"JSON with a unit in its key", `{"run": {"day": "2026-05-01", "latency_us": [[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]}}`, 0, "", 1.5e-6, "unit us"},
		{"JSON of pairs", `{"tool": "mesh", "results": [{"from": "a", "to": "b", "rtt_us": 1.5}, {"from": "a", "to": "c", "rtt_us": 4}, {"from": "b", "to": "c", "rtt_us": 4}]}`, 0, "a b c", 1.5e-6, `unit us (from "from to rtt_us")`},
		{"JSON of pairs with units", `[{"pair": "a->b", "time": "1.5 us"}, {"pair": "a->c", "time": "4 us"}, {"pair": "b->c", "time": "4 us"}]`, 0, "a b c", 1.5e-6, "unit us"},
		{"pairs with a time of day before and a platform behind", "time,src,dst,latency_us,platform\n2026-01-01T08:00,a,b,1.5,x\n2026-01-01T08:00,a,c,4,x\n2026-01-01T08:01,b,c,4,y\n2026-01-01T08:01,c,b,timeout,y\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"pairs behind numbers of lines, as pandas writes them", ",from,to,rtt_us\n0,a,b,1.5\n1,a,c,4\n2,b,c,4\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"latencies before their pairs", "latency_us;source_host;target_host\n1.5;a;b\n4;a;c\n4;b;c\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"JSON of pairs by keys in any order", `[{"rtt_us": 1.5, "src": "a", "dst": "b"}, {"dst": "c", "src": "a", "rtt_us": 4}, {"src": "b", "dst": "c", "rtt_us": 4}]`, 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"JSON of Python, which has NaN", `{"latency_us": [[NaN, 1.5, 4], [1.5, NaN, 4], [4, 4, NaN]]}`, 0, "", 1.5e-6, "3 hosts"},
		{"lines of JSON", "{\"src\": \"a\", \"dst\": \"b\", \"rtt_us\": 1.5}\n{\"src\": \"a\", \"dst\": \"c\", \"rtt_us\": 4}\n", 0, "a b c", 1.5e-6, "from a list of pairs"},
		{"two words in the corner, of Intel's memory latency checker", "Measuring idle latencies (in ns)...\n                Numa node\nNuma node            0       1\n       0          81.3   131.1\n       1         131.2    81.3\n", 0, "", 131.1e-9, "read 2 hosts"},
		{"two words in the corner, and CPUs that do not count from 0", "core id 2 4 6\n2 0 1.5 4\n4 1.5 0 4\n6 4 4 0\n", Microsecond, "2 4 6", 1.5e-6, "names"},
		{"a comment in Latin-1", "# latencies in \xb5s\n0,1.5,4\n1.5,0,4\n4,4,0\n", 0, "", 1.5e-6, "unit us"},
		{"a unit in Latin-1", "# unit: \xb5s\n0,1.5,4\n1.5,0,4\n4,4,0\n", 0, "", 1.5e-6, "unit us"},
		{"cells and names in Latin-1", ",\xe4,b,c\n\xe4,,1.5\xb5s,4\xb5s\nb,1.5\xb5s,,4\xb5s\nc,4\xb5s,4\xb5s,\n", 0, "ä b c", 1.5e-6, "unit us"},
		{"a blank corner above a full diagonal", ",8,9,12,13\n8,0,1.5,12.5,12.5\n9,1.5,0,12.5,12.5\n12,12.5,12.5,0,1.5\n13,12.5,12.5,1.5,0\n", Microsecond, "8 9 12 13", 1.5e-6, "names"},
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
	compressed := make([]byte, 4096) // any byte is as likely as any other
	_, _ = rand.NewChaCha8([32]byte{1}).Read(compressed)
	for _, c := range []struct{ name, text, want string }{
		{"no unit, and a few us if it is ms", ",n1,n2\nn1,,0.002\nn2,0.002,\n", "no unit is named: want --unit"},
		{"no unit, and 20 us if it is s, 20 ns if it is ms", "0,2e-5\n2e-5,0\n", "no unit is named: want --unit"},
		{"no unit", ",n1,n2\nn1,,0.11\nn2,0.11,\n", "no unit is named: want --unit"},
		{"bandwidths", "GB/s n1 n2 n3\nn1 0 9.2 9.1\nn2 9.2 0 9.1\nn3 9.1 9.1 0\n", "bandwidths are no latencies"},
		{"bandwidths by a comment", "# unit: MB/s\n0,1\n1,0\n", "bandwidths are no latencies"},
		{"two tables", "Latency (us)\na b\n0 1\n1 0\n\nc d\n0 2\n2 0\n", "tables are in the file"},
		{
			"all that mlc prints", "Measuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\t     1\n       0\t  77.3\t  81.6\n       1\t  82.1\t  78.1\n\n" +
				"ALL Reads        :\t232777.7\n3:1 Reads-Writes :\t216680.7\n\n\t\tNuma node\nNuma node\t     0\t     1\n       0\t554843.5\t247793.1\n       1\t247281.1\t552385.5\n",
			"line 7: 3 tables are in the file, in lines 3 to 5 and 7 to 8 and 11 to 13: keep one",
		},
		{"more names than lines", "# us\na,b,c\n0,5,6\n5,0,7\n", "line 2: 3 names above 2 lines of numbers: want a line for each name"},
		{"a word between two runs of rows", "0 1 1 1 1\n1 0 1 1 1\n1 w 0 1 1\n1 1 1 0 1\n1 1 1 1 0\n", `line 3, column 2: "w" is not a number`},
		{
			"kinds of links between GPUs", "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\tSYS\t32-63\t1\nGPU1\tNV12\t X \tSYS\t32-63\t1\nNIC0\tSYS\tSYS\t X \t\t\n\nLegend:\n\n  X    = Self\n",
			"line 1: the file names kinds of links, as nvidia-smi topo prints them, and no times",
		},
		{"JSON without a table", `{"elements": {"nodes": [{"data": {"id": "a"}}]}}`, "JSON without a table of numbers"},
		{"JSON with two tables", `{"min_us": [[0, 1], [1, 0]], "max_us": [[0, 2], [2, 0]]}`, "several tables: keep one"},
		{"JSON of a platform", `{"graph": {"hosts": ["a", "b"], "links": [{"a": "a", "b": "b", "latency_us": 5}]}}`, "JSON of a graph"},
		{"node-link JSON", `{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "latency_us": 5}]}`, "node-link JSON"},
		{"JSON of rates", `{"bandwidth_MBps": [[0, 9], [9, 0]]}`, "bandwidths are no latencies"},
		{"two units", "in us\nLatency (ms)\n0 1 2\n1 0 2\n2 2 0\n", "the text names us and ms as units"},
		{"a list with two columns and no names", "a b 1 2\na c 3 4\nb c 3 4\n", "2 columns of numbers: keep the one of latencies"},
		{"a list with three times", "from to min_us avg_us max_us\na b 1 2 3\na c 3 4 5\n", "3 columns of numbers"},
		{"a list with two sizes", "from,to,bytes,latency_us\na,b,8,1\na,b,64,2\na,c,8,1\n", "line 3: a list of pairs with several sizes"},
		{"a list of rates", "from,to,bandwidth_MBps\na,b,8\na,c,8\n", "bandwidths are no latencies"},
		{"a list of far too many hosts", manyPairs(1500), "want at least one in a hundred"},
		{"numbers with and without units", ",a,b,c\na,,1500ns,4\nb,1500ns,,4\nc,4,4,\n", "some numbers carry their unit and others do not: want --unit"},
		{"IMB PingPong", "# Benchmarking PingPong\n  #bytes #repetitions  t[usec]  Mbytes/sec\n  0 1000 0.61 0.00\n  1 1000 0.70 1.43\n  2 1000 0.70 2.86\n  4 1000 0.70 5.71\n", "sizes of messages"},
		{"OSU of two sizes", "# OSU MPI Latency Test\n# Size          Latency (us)\n0                       1.09\n1                       1.10\n", "sizes of messages"},
		{"OSU of many sizes", "# OSU MPI Multi Latency Test v7.4\n# Size       Avg Latency(us)\n1                       1.88\n2                       1.84\n4                       1.88\n", "sizes of messages"},
		{"three rows of two numbers", "us\n0,1\n1,0\n1,1\n", "more lines than the 2 columns"},
		{"YAML of Slurm, which has numbers", "- topology: t\n  block:\n    block_sizes:\n      - 4\n      - 16\n    blocks:\n      - block: b\n        nodes: n[1-4]\n", "a scheduler's"},
		{"a topology.conf", "SwitchName=s1 Nodes=a,b\nSwitchName=s2 Nodes=c,d\n", "a scheduler's"},
		{"DOT", "graph g {\n  0 -- 1;\n  1 -- 0;\n}\n", "the file is DOT"},
		{"XML", "<topology version=\"2.0\"><object/></topology>\n", "XML of <topology>"},
		{"JSON that is cut off", `{"latency_us": [[0, 1.5],`, "unexpected end of JSON"},
		{"numactl -H", numactl, "line 1: distances between NUMA nodes"},
		{"numactl -H of one node", "available: 1 nodes (0)\nnode 0 cpus: 0 1\nnode distances:\nnode   0\n  0:  10\n", "line 1: distances between NUMA nodes"},
		{"compressed", string(compressed), "no text: it is binary or compressed"},
		{"a SLIT", "10 21\n21 10\n", "distances between NUMA nodes"},
		{"MatrixMarket of a graph", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "line 1: MatrixMarket: want"},
		{"MatrixMarket that ends early", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n", "the file ends after 2 of 4 numbers"},
		{"MatrixMarket of a promise", "%%MatrixMarket matrix array real general\n30000 30000\n0\n1\n", "the file ends after 2 of 900000000 numbers"},
		{"MatrixMarket of few coordinates", "%%MatrixMarket matrix coordinate real general\n30000 30000 10\n" + strings.Repeat("1 1 1\n", 10), "want at least one in a hundred"},
		{"MatrixMarket outside", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 5\n", "line 3: MatrixMarket: place 1 3"},
		{"two matrices of MATLAB", "A = [0 1; 1 0];\nB = [0 2; 2 0];\n", "2 tables are in the file, each in brackets"},
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

// numactl is what numactl -H prints of a machine with three nodes, shortened.
const numactl = "available: 3 nodes (0-2)\nnode 0 cpus: 0 1\nnode distances:\nnode   0   1   2\n  0:  10  16  32\n  1:  16  10  32\n  2:  32  32  10\n"

// manyPairs is a chain of hosts, of which a square would be large.
func manyPairs(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "h%d h%d 1us\n", i, i+1)
	}
	return text.String()
}

// The graph of node-link JSON, as networkx writes it.
func TestReadNodeLink(t *testing.T) {
	for _, text := range []string{
		`{"directed": true, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}], "edges": [{"source": "s", "target": "a"}, {"source": "s", "target": "b"}]}`,
		`{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}], "links": [{"source": "a", "target": "s"}, {"source": "s", "target": "b"}]}`,
		`{"nodes": [{"id": 1, "type": "host"}, {"id": 2, "type": "host"}, {"id": 9, "type": "switch"}], "edges": [{"source": 1, "target": 9, "latency_s": 1e-6}, {"source": 2, "target": 9}]}`,
	} {
		if !IsNodeLink([]byte(text)) {
			t.Errorf("%s is not known as node-link JSON", text)
		}
		g, _, err := ReadNodeLink(strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if g.Hosts() != 2 || g.Vertices() != 3 || g.NumArcs() != 4 {
			t.Errorf("%s: %d hosts, %d vertices, %d arcs, want 2, 3, 4", text, g.Hosts(), g.Vertices(), g.NumArcs())
		}
	}
	g, _, err := ReadNodeLink(strings.NewReader(`{"nodes": [{"id": 0, "label": "n1"}, {"id": 1, "label": "n2"}], "links": [{"source": 1, "target": 0, "bandwidth_Bps": 1, "estimated": true}]}`), nil)
	if err != nil || g.Name(0) != "n1" || g.Name(1) != "n2" || !g.Arcs()[0].Estimated {
		t.Errorf("labels and a truth value: %v, %v", g, err)
	}
	for _, text := range []string{`{"nodes": [], "links": []}`, `{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}`, `{"nodes": [{}], "links": []}`} {
		if g, _, err := ReadNodeLink(strings.NewReader(text), nil); err == nil {
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
		{"two sites with a round latency", ",a,b,c,d\na,0,1,1000,1000\nb,1,0,1000,1000\nc,1000,1000,0,1\nd,1000,1000,1,0\n", "[a b c d]"},
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

// One cell that stands for "no answer" is left out if the way over a third host is far shorter. Other numbers stay.
func TestOneCellWithoutAnswer(t *testing.T) {
	for cell, isAbsent := range map[string]bool{
		"1000000": true, "1e9": true, "99999": true, "65535": true, "2147483647": true,
		"999":  false, // below a hundred times the next
		"5678": false, "1.5": false,
	} {
		text := ",a,b,c\na,0,1.5," + cell + "\nb,1.5,0,12.5\nc,12.5,12.5,0\n"
		l, err := ReadMatrix(strings.NewReader(text), Microsecond)
		if err != nil {
			t.Errorf("%s: %v", cell, err)
		} else if got := math.IsNaN(l.Matrix.At(0, 2)); got != isAbsent {
			t.Errorf("%s: absent %v, warnings %q, want absent %v", cell, got, l.Warnings, isAbsent)
		}
	}
}

// Tables between the cores of a machine have the numbers of CPUs above and beside, with any diagonal, from two CPUs on. Latencies are in
// ns, 20 within a pair and 80 between.
func TestNumbersOfCPUsAreNames(t *testing.T) {
	for _, diagonal := range []string{"", "0", "-", "x"} {
		for _, corner := range []string{"", "CPU"} {
			for _, first := range []int{0, 1, 8} {
				for n := 2; n <= 8; n++ {
					for _, step := range []int{1, 2} {
						var text strings.Builder
						text.WriteString(corner)
						for i := range n {
							fmt.Fprintf(&text, ",%d", first+i*step)
						}
						for i := range n {
							fmt.Fprintf(&text, "\n%d", first+i*step)
							for k := range n {
								switch {
								case i == k:
									text.WriteString("," + diagonal)
								case i/2 == k/2:
									text.WriteString(",20.5")
								default:
									text.WriteString(",80.5")
								}
							}
						}
						l, err := ReadMatrix(strings.NewReader(text.String()), Nanosecond)
						if err != nil {
							t.Fatalf("%s: %v", text.String(), err)
						}
						if got, _ := l.Matrix.Dims(); got != n || math.Abs(l.Matrix.At(0, 1)-20.5e-9) > 1e-15 {
							t.Errorf("%s\nread as %d cores, want %d (%s)", text.String(), got, n, l.Warnings)
						}
					}
				}
			}
		}
	}
}

// Repetitions in a list are said to be there.
func TestPairsSeveralTimesWarn(t *testing.T) {
	l, err := ReadMatrix(strings.NewReader("a b 1\na b 2\na c 3\n"), Microsecond)
	if err != nil || len(l.Warnings) != 1 || l.Warnings[0] != "pairs are given up to 2 times: the median of each counts" {
		t.Errorf("ReadMatrix: %v, %v", l, err)
	}
}
