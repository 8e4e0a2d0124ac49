package encode

import (
	"fmt"
	"strings"
	"testing"
)

// The files of issue 38 stand for classes. These are others of the same classes. Each is read as the hosts of the given names, with the
// number from the first to the second one in the unit.
func TestVariantsOfTables(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unit       Unit
		names      string
		first      float64 // in the unit
	}{
		{"numbers of CPUs, descending", ",7,5,3,1\n7,,20,80,81\n5,21,,82,83\n3,80,81,,22\n1,82,83,23,\n", Nanosecond, "[7 5 3 1]", 20},
		{"numbers of CPUs in the order of cores", ",0,4,1,5\n0,,20,80,81\n4,21,,82,83\n1,80,81,,22\n5,82,83,23,\n", Nanosecond, "[0 4 1 5]", 20},
		{"numbers of CPUs in the order of cores, above alone", "0,4,1,5\n0,20,80,81\n21,0,82,83\n80,81,0,22\n82,83,23,0\n", Nanosecond, "[0 4 1 5]", 20},
		{"numbers of CPUs in the order of cores, beside alone", "0,0,20,80,81\n4,21,0,82,83\n1,80,81,0,22\n5,82,83,23,0\n", Nanosecond, "[0 4 1 5]", 20},
		{"numbers of CPUs between blanks", "    0   2   4   6\n0   0  20  80  81\n2  21   0  82  83\n4  80  81   0  22\n6  82  83  23   0\n", Nanosecond, "[0 2 4 6]", 20},
		{"numbers of CPUs between semicolons", ";16;32;48;64\n16;0;20;80;81\n32;21;0;82;83\n48;80;81;0;22\n64;82;83;23;0\n", Nanosecond, "[16 32 48 64]", 20},
		{"numbers of CPUs in quotes, as R writes them", "\"8\" \"9\" \"24\"\n\"8\" 0 20 80\n\"9\" 21 0 82\n\"24\" 80 81 0\n", Nanosecond, "[8 9 24]", 20},
		{"numbers of CPUs around a lower triangle", ",8,9,24,25\n8,\n9,21,\n24,80,81,\n25,82,83,23,\n", Nanosecond, "[8 9 24 25]", 21},
		{"a frame of pandas", "     0    1    2\n0  0.0  1.5  4.0\n1  1.5  0.0  4.0\n2  4.0  4.0  0.0\n", Microsecond, "[]", 1.5},
		{
			"core-to-core with its first and last lines", "CPU: AMD\nNum cores: 4\n\n1) CAS latency\n\n      0    1    2    3\n  0\n  1  20±0\n" +
				"  2  80±1  81±0\n  3  82±0  83±0  23±0\n\n  Min  latency: 20.0ns ±0.1 cores: (1,0)\n", Nanosecond, "[]", 20,
		},
		{"a unit of ISO 80000", "time/us,a,b,c\na,,11,42\nb,11,,41\nc,42,41,\n", 0, "[a b c]", 11},
		{"micro-seconds", "# in micro-seconds\n0 11 42\n11 0 41\n42 41 0\n", 0, "[]", 11},
		{"microsec", "latency (microsec)\na b c\n0 11 42\n11 0 41\n42 41 0\n", 0, "[a b c]", 11},
		{"a table of psql", " src | a   | b   | c\n-----+-----+-----+-----\n a   |     | 1.5 | 4\n b   | 1.5 |     | 4\n c   | 4   | 4   |\n(3 rows)\n", Microsecond, "[a b c]", 1.5},
		{"Markdown above a sentence with numbers", "| from \\ to | a | b | c |\n|---|---|---|---|\n| a | 0 | 1.5 | 4 |\n| b | 1.5 | 0 | 4 |\n| c | 4 | 4 | 0 |\n\nTotal: 9 pairs, 3 hosts.\n", Microsecond, "[a b c]", 1.5},
		{"no answer is DOWN", ",a,b,c\na,0,1.5,DOWN\nb,1.5,0,DOWN\nc,DOWN,DOWN,0\n", Microsecond, "[a b]", 1.5},
		{"no answer is ERR or N.A.", ",a,b,c\na,0,1.5,ERR\nb,1.5,0,N.A.\nc,ERR,ERR,0\n", Microsecond, "[a b]", 1.5},
		{"one answer is lost", ",a,b,c\na,0,1.5,lost\nb,1.5,0,4\nc,4,4,0\n", Microsecond, "[a b c]", 1.5},
		{"no answer is a point", "a b c\n. 1.5 4\n1.5 . 4\n4 4 .\n", Microsecond, "[a b c]", 1.5},
		{"no answer is infinite, by its sign", "a;b;c\n–;1.5;∞\n1.5;–;4\n∞;4;–\n", Microsecond, "[a b c]", 1.5},
		{"a division by zero", "a,b,c\n0,1.5,#DIV/0!\n1.5,0,4\n4,4,0\n", Microsecond, "[a b c]", 1.5},
		{"no answer is -1.0", "a b c\n0 1.5 -1.0\n1.5 0 4\n-1.0 4 0\n", Microsecond, "[a b c]", 1.5},
		{"no answer is the largest float64", ",a,b,c\na,0,1.5,1e308\nb,1.5,0,1e308\nc,1e308,1e308,0\n", Microsecond, "[a b]", 1.5},
		{"local on the diagonal", ",a,b,c\na,local,1.5,4\nb,1.5,local,4\nc,4,4,local\n", Microsecond, "[a b c]", 1.5},
		{"spreads in parentheses", "a b c\n0 1.5(2) 4.0(1)\n1.5(2) 0 4.0(1)\n4.0(1) 4.0(1) 0\n", Microsecond, "[a b c]", 1.5},
		{"a matrix as R prints it", "     [,1] [,2] [,3]\n[1,]  0.0  1.5  4.0\n[2,]  1.5  0.0  4.1\n[3,]  4.0  4.1  0.0\n", Microsecond, "[1 2 3]", 1.5},
		{"three pairs of numbers with arrows", "0 -> 1 : 1.5 us\n0 -> 2 : 4 us\n1 -> 2 : 4 us\n", 0, "[0 1 2]", 1.5},
		{"three pairs of numbers as tuples", "(0, 1) 1.5\n(0, 2) 4\n(1, 2) 4\n", Microsecond, "[0 1 2]", 1.5},
		{"ranks of two words with arrows", "rank 0 <-> rank 1: 1.5 us\nrank 0 <-> rank 2: 4 us\nrank 1 <-> rank 2: 4 us\n", 0, "[rank0 rank1 rank2]", 1.5},
		{"pairs as tuples", "(a, b): 1.5\n(a, c): 4\n(b, c): 4\n", Microsecond, "[a b c]", 1.5},
		{"pairs as tuples before commas", "(a,b),1.5\n(a,c),4\n(b,c),4\n", Microsecond, "[a b c]", 1.5},
		{"three pairs of numbers below names", "rank1,rank2,lat\n0,1,1.5\n0,2,4\n1,2,4\n", Microsecond, "[0 1 2]", 1.5},
		{"two pairs of numbers below names", "src dst us\n7 9 1.5\n9 8 4\n", 0, "[7 8 9]", 4},
		{"JSON of pairs whose keys change places", `[{"src": "a", "dst": "b", "us": 1.5}, {"dst": "c", "us": 4, "src": "a"}, {"src": "b", "dst": "c"}]`, 0, "[a b c]", 1.5},
		{"JSON with semicolons and pipes in names", `{"hosts": ["a|1", "b;2"], "latency_us": [[0, 1.5], [1.5, 0]]}`, 0, "[a|1 b;2]", 1.5},
	} {
		l, err := ReadMatrix(strings.NewReader(c.text), c.unit)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		from, to := 0, 1
		if c.name == "two pairs of numbers below names" {
			from, to = 2, 1
		}
		got := l.Matrix.At(from, to) / float64(l.Unit)
		if names := fmt.Sprint(l.Names); names != c.names || fmt.Sprintf("%.6g", got) != fmt.Sprint(c.first) {
			t.Errorf("%s: hosts %s, first number %g (%s, %q), want hosts %s, %g", c.name, names, got, l.Understood, l.Warnings, c.names, c.first)
		}
	}
}

// What is no table of times, or a wrong one, is refused with the reason and the line of the file, whatever the unit that is given.
func TestVariantsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"points between thousands, and decimal commas", "us;a;b;c\na;;1.500,5;4.000,1\nb;1.500,5;;4.000,0\nc;4.000,1;4.000,0;\n", "is not a number (cells are separated by semicolons)"},
		{"rates in cells", ",a,b\na,,92Mbps\nb,92Mbps,\n", "bandwidths are no latencies"},
		{"GiB/sec", "# GiB/sec\n0 92\n92 0\n", "bandwidths are no latencies"},
		{"pairs of iperf", "from to Gbits/sec\na b 9.4\nb c 9.4\n", "bandwidths are no latencies"},
		{"bw", "# bw\n0 92\n92 0\n", "bandwidths are no latencies"},
		{"gigabytes per second", "GB per second\na b\n0 92\n92 0\n", "bandwidths are no latencies"},
		{"rates of messages", "# message rate (msg/s)\n0 92\n92 0\n", "which is no time"},
		{"losses", "# loss (%)\n0 92\n92 0\n", "which is no time"},
		{"hops", "# hops\n0 2 4\n2 0 4\n4 4 0\n", "which is no time"},
		{"a host without a line", ",a,b,c\na,0,1,4\nb,1,0,4\n", "the file ends after 2 lines of 4 columns"},
		{"a word in JSON", "{\n  \"unit\": \"us\",\n  \"latency\": [\n    [0, 1, 2],\n    [1, 0, \"bad\"],\n    [2, 3, 0]\n  ]\n}\n", "line 5, column 3: \"bad\" is not a number"},
		{"a negative number in JSON", "{\n  \"latency\":\n  [[0, 1, 2],\n\n   [1, 0,\n    -7],\n   [2, 3, 0]]}\n", "line 5, column 3: latency -7"},
		{"a negative number in JSON of pairs", "[{\"a\": \"p\", \"b\": \"q\",\n \"us\": 1},\n\n {\"a\": \"p\", \"b\": \"r\",\n \"us\": -4}]\n", "line 4, column 3: latency -4"},
		{"a negative number in NumPy", "x =\n\n[[0 1 2]\n [1 0\n  -7]\n [1 2 0]]\n", "line 4, column 3: latency -7"},
		{"a negative number in MATLAB", "% x\r\nL = [0 1\r\n -2 0];\r\n", "line 3, column 1: latency -2"},
		{"JSON in three dimensions", "[[[0, 1], [1, 0]], [[0, 2], [2, 0]]]", "JSON without a table of numbers"},
	} {
		l, err := ReadMatrix(strings.NewReader(c.text), Microsecond)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v, want an error with %q", c.name, l, err, c.want)
		}
	}
}

// Three columns that are called as two hosts and a number are pairs of counts, too, however few there are.
func TestCountsOfTwoPairs(t *testing.T) {
	m, err := ReadCounts(strings.NewReader("src,dst,bytes\n0,1,5\n1,2,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := m.Dims(); n != 3 || m.At(0, 1) != 5 || m.At(1, 2) != 1 || m.At(2, 1) != 0 {
		t.Errorf("ReadCounts of two pairs = %v, want 5 from 0 to 1 and 1 from 1 to 2", m.RawMatrix().Data)
	}
}
