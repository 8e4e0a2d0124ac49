package encode

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/published"
)

func TestReadMatrix(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		unit  Unit
		cells []float64
		names []string
	}{
		{"full matrix with an empty diagonal", ",1,2\n1,,3\n2,3,\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"units are converted", ",1\n1,\n", Microsecond, []float64{nan, 1e-6, 1e-6, nan}, nil},
		{"lower triangle is mirrored", ",,\n1,,\n2,3,\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"upper triangle is mirrored", ",1,2\n,,3\n,,\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"one direction of one pair missing stays missing", ",1,2\n,,3\n2,3,\n", Second, []float64{nan, 1, 2, nan, nan, 3, 2, 3, nan}, nil},
		{"names", "a,\"b,c\"\n,1\n1,\n", Second, []float64{nan, 1, 1, nan}, []string{"a", "b,c"}},
		{"a number on the diagonal is not read", "7,1\n1,0\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"NaN in letters, zeros, spaces and CRLF", ", 0,NaN\r\n0,,2\r\nnan,2,\r\n\r\n", Second, []float64{nan, 0, nan, 0, nan, 2, nan, 2, nan}, nil},
		{"byte order mark", "\ufeff,1\n1,\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"one host", "0\n", Second, []float64{nan}, nil},
		{"a separator at the end of every line", ",1,\n1,,\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"semicolons and decimal commas", ";1,5\n1,5;\n", Second, []float64{nan, 1.5, 1.5, nan}, nil},
		{"semicolons and decimal points", "0;1.5\n1.5;0\n", Second, []float64{nan, 1.5, 1.5, nan}, nil},
		{"tabs", "\t1\t2\n1\t\t3\n2\t3\t\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"an upper triangle of zeros", "# ns\n0,0,0\n1,0,0\n2,,0\n", Nanosecond, []float64{nan, 1e-9, 2e-9, 1e-9, nan, nan, 2e-9, nan, nan}, nil},
		{"a lower triangle of zeros", "0 1 2\n0 0 3\n0 0 0\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"zeros alone", "0 0 0\n0 0 0\n0 0 0\n", Second, []float64{nan, 0, 0, 0, nan, 0, 0, 0, nan}, nil},
		{"tabs, lower triangle", "\t\t\n1\t\t\n2\t3\t\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"blanks", "  0 1.5  2\n1.5 0   3\n2   3   0\n", Second, []float64{nan, 1.5, 2, 1.5, nan, 3, 2, 3, nan}, nil},
		{"what a spreadsheet says of its separator", "sep=|\n0|1\n1|0\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"carriage returns alone", "0,1\r1,0\r", Second, []float64{nan, 1, 1, nan}, nil},
		{"comments and quotes", "# made by hand\n\"0\",\"1\"\n # inside\n\"1\",\"0\"\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"words for what is missing", "#N/A,2,1\nn/a,0,-\n1,null,None\n", Second, []float64{nan, 2, 1, nan, nan, nan, 1, nan, nan}, nil},
		{"blank lines before", "\n \n0,1\n1,0\n", Second, []float64{nan, 1, 1, nan}, nil},
		{"names above and beside", ",a,b\na,0,1\nb,1,0\n", Second, []float64{nan, 1, 1, nan}, []string{"a", "b"}},
		{"names above and beside, as R writes them", "\"a\" \"b\"\n\"a\" 0 1\n\"b\" 1 0\n", Second, []float64{nan, 1, 1, nan}, []string{"a", "b"}},
		{"three hosts whose latencies count from 0", ",0,1\n0,,1\n1,1,\n", Second, []float64{nan, 0, 1, 0, nan, 1, 1, 1, nan}, nil},
		{"names beside", "a,0,1\nb,1,0\n", Second, []float64{nan, 1, 1, nan}, []string{"a", "b"}},
		{"names in the corner, numbers beside", "from\\to,a,b\n0,,1\n1,1,\n", Second, []float64{nan, 1, 1, nan}, []string{"a", "b"}},
		{"pandas with numbers above and beside", ",0,1,2\n0,0.0,5.5,6.5\n1,5.5,0.0,7.5\n2,6.5,7.5,0.0\n", Second, []float64{nan, 5.5, 6.5, 5.5, nan, 7.5, 6.5, 7.5, nan}, nil},
		{"pandas with a name for its index", "host,0,1\nn1,0,5\nn2,5,0\n", Second, []float64{nan, 5, 5, nan}, []string{"n1", "n2"}},
		{"pandas without its index", "0,1\n0,5\n5,0\n", Second, []float64{nan, 5, 5, nan}, nil},
		{"R with numbers that count from 1", "\"\",\"1\",\"2\"\n\"1\",0,5\n\"2\",5,0\n", Second, []float64{nan, 5, 5, nan}, []string{"1", "2"}},
		{"numbers beside that count from 1", "1,0,5\n2,5,0\n", Second, []float64{nan, 5, 5, nan}, []string{"1", "2"}},
		{"a triangle of short lines", "0\n1,0\n2,3,0\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"an upper triangle of short lines", "0,1,2\n0,3\n0\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"a triangle below a blank line", "\n1\n2,3\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, nil},
		{"a triangle without diagonal below names", "a,b,c\n\n1\n2,3\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, []string{"a", "b", "c"}},
		{"an upper triangle without diagonal below names", "a,b,c\n1,2\n3\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, []string{"a", "b", "c"}},
		{"a triangle as PHYLIP writes it", "a\nb 1\nc 2 3\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, []string{"a", "b", "c"}},
		{"an upper triangle with names", "a 1 2\nb 3\nc\n", Second, []float64{nan, 1, 2, 1, nan, 3, 2, 3, nan}, []string{"a", "b", "c"}},
		{"exponents are moved, not rounded", ",22.07\n2.207e1,\n", Microsecond, []float64{nan, 22.07e-6, 22.07e-6, nan}, nil},
		{"hexadecimal names", ",0x12,0xA\n0x12,,1\n0xA,1,\n", Microsecond, []float64{nan, 1e-6, 1e-6, nan}, []string{"0x12", "0xA"}},
		{"hexadecimal numbers", ",0x1p2\n0X1P2,\n", Microsecond, []float64{nan, 4e-6, 4e-6, nan}, nil},
		{"the file names its unit", "# latencies, unit: us\n,1\n1,\n", 0, []float64{nan, 1e-6, 1e-6, nan}, nil},
		{"the file names the unit that is given", "# Unit = us\n,1\n1,\n", Microsecond, []float64{nan, 1e-6, 1e-6, nan}, nil},
		{"a unit that nobody knows, and one that is given", "# unit: cycles\n,1\n1,\n", Microsecond, []float64{nan, 1e-6, 1e-6, nan}, nil},
		{"no answer is -1, +Inf or x", ",1,+Inf\n-1,,3\nx,3,\n", Second, []float64{nan, 1, nan, nan, nan, 3, nan, 3, nan}, nil},
		{"the unit stands at the end, and counts before that of a title", "Latency (ms)\n,1\n1,\n# unit: us\n", 0, []float64{nan, 1e-6, 1e-6, nan}, nil},
		{"no unit at all, and numbers that must be seconds", ",5e-6\n5e-6,\n", 0, []float64{nan, 5e-6, 5e-6, nan}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// Byte by byte: a line end may come in two pieces.
			l, err := ReadMatrix(iotest.OneByteReader(strings.NewReader(tt.text)), tt.unit)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(l.Matrix.RawMatrix().Data, tt.cells, same) {
				t.Errorf("ReadMatrix(%q) = %v, want %v", tt.text, l.Matrix.RawMatrix().Data, tt.cells)
			}
			if !slices.Equal(l.Names, tt.names) {
				t.Errorf("ReadMatrix(%q) names = %q, want %q", tt.text, l.Names, tt.names)
			}
			if slices.ContainsFunc(l.Warnings, func(w string) bool { return strings.Contains(w, "count") }) {
				t.Errorf("ReadMatrix(%q) warns %q", tt.text, l.Warnings)
			}
		})
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestReadMatrixRefusesBadFiles(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"empty", "", "line 1: the file is empty"},
		{"word", ",1\nw,\n", `line 2, column 1: "w" is not a number`},
		{"word alone", "w\n", `line 1, column 1: "w" is not a number`},
		{"no answer alone", "x\n", "line 1: one line of numbers and text around it"},
		{"word far below", "0,1,1\n1,0,1\n1,w,0\n", `line 3, column 2: "w" is not a number`},
		{"word between rows", "0,1,1\n1,0,w\n1,1,0\n", `line 2, column 3: "w" is not a number`},
		{"word on the diagonal", "0,1\n1,y\n", `line 2, column 2: "y" is not a number`},
		{"word among numbers in the first line", ",1,y\n1,,1\n1,1,\n", `line 1, column 3: "y" is not a number`},
		{"negative", ",1\n-2,\n", "line 2, column 1: latency -2 is negative"},
		{"number too large", ",1e999\n1,\n", `line 1, column 2: "1e999" is not a number`},
		{"hexadecimal without an exponent", ",0x12\n1,\n", `line 1, column 2: "0x12" is not a number`},
		{"ragged", ",1,2\n1,\n2,3,\n", "line 2: 2 columns, separated by commas, where line 1 has 3"},
		{"too few lines", ",1,2\n1,,3\n", "line 3: the file ends after 2 lines of 3 columns"},
		{"too many lines", ",1\n1,\n1,\n", "line 3: more lines than the 2 columns"},
		{"names and nothing else", "a,b\n", `line 1, column 1: "a" is not a number`},
		{"hole between the lines", ",1\n\n1,\n", "line 2: empty line inside the matrix"},
		{"blank", " \n\n", "line 1: the file is empty"},
		{"comments only", "# nothing\n", "line 1: the file is empty"},
		{"blank line far inside", "0,1,1\n1,0,1\n\n1,1,0\n", "line 3: empty line inside the matrix"},
		{"blank line after the first", "0,1\n\n1,0\n", "line 2: empty line inside the matrix"},
		{"ragged, semicolons", "0;1\n1;0;2\n", "line 2: 3 columns, separated by semicolons, where line 1 has 2"},
		{"ragged, tabs", "0\t1\t2\n1\t0\n", "line 2: 2 columns, separated by tabs, where line 1 has 3"},
		{"word, semicolons", "0;1\n1;x y\n", `line 2, column 2: "x y" is not a number (cells are separated by semicolons)`},
		{"word in the first column", "0,1\ny,0\n", `line 2, column 1: "y" is not a number (cells are separated by commas)`},
		{"decimal comma in quotes between commas", "0,\"1,5\"\n\"1,5\",0\n", `line 1, column 2: "1,5": a decimal comma or one between thousands?`},
		{"decimal comma far inside", "0,1,1\n1,0,\"1,5\"\n1,1,0\n", `line 2, column 3: "1,5": a decimal comma or one between thousands?`},
		{"both decimal marks", "0;1,5\n1.5;0\n", `line 2, column 1: "1.5" has the decimal mark '.', cells before it ','`},
		{"both decimal marks, the other way", "0;1.5;1\n1,0;1,5;0\n1;1;1\n", `line 2, column 1: "1,0" has the decimal mark ',', cells before it '.'`},
		{"thousands", "0;1.234,5\n1.234,5;0\n", `"1.234,5" is not a number`},
		{"names that differ", ",a,b\na,0,1\nc,1,0\n", `line 3, column 1: the row of "c", where column 3 is that of "b"`},
		{"too many names", "a,b,c\n0,1\n1,0\n", "line 1: 3 names for 2 columns"},
		{"text after a quote", "0,\"1\"x\n1,0\n", "line 1: a quote is not closed on its line, or text stands behind it"},
		{"open quote", "0,\"1\n1,0\n", "line 1: a quote is not closed on its line"},
		{"a triangle that may have a diagonal", "5\n1,5\n2,3,5\n", "line 1: a triangle of 3 lines: with its diagonal or without?"},
		{"another unit than the one given", "# unit: us\n0,1\n1,0\n", "line 1: the file is in us, not in s"},
		{"two units", "# unit: s\n# unit: us\n0,1\n1,0\n", "line 2: the file is in us, not in s"},
		{"unit below the numbers", "0,1\n# nothing\n1,0\n0,0\n# unit: us\n0,1\n", "line 5: the file is in us, not in s"},
		{"UTF-16", "\xff\xfe0\x00,\x00", "line 1: the file is in UTF-16"},
		{"endless short lines", strings.Repeat("1\n", 50), "line 2: more lines than the 1 column,"},
		{"too wide", strings.Repeat(",", maxColumns) + "\n", "line 1: 32769 columns: want at most 32768"},
		{"line too long", strings.Repeat(" ", maxLine+1), "line 1: longer than 4194304 bytes"},
		{"bad quotes in the names", "\"a,b\n,1\n1,\n", "line 1: a quote is not closed on its line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadMatrix(strings.NewReader(tt.text), Second)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadMatrix error = %v, want one with %q", err, tt.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "encode: read matrix: line ") {
				t.Errorf("ReadMatrix error = %q, want it to begin with package, attempt and line", err)
			}
		})
	}
}

// A first line that promises 32768 hosts must not cost the memory of a full
// matrix (8 GiB) before the lines are there, and an endless line must end.
func TestReadMatrixIsBoundedByItsInput(t *testing.T) {
	wide := strings.Repeat("1,", maxColumns-1) + "1\n"
	if _, err := ReadMatrix(strings.NewReader(wide+wide), Second); err == nil {
		t.Error("ReadMatrix of two wide lines: no error")
	}
	if _, err := ReadMatrix(endless{}, Second); err == nil {
		t.Error("ReadMatrix of an endless line: no error")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}

func TestParseUnit(t *testing.T) {
	for name, want := range map[string]Unit{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9} {
		if got, err := ParseUnit(name); err != nil || got != want {
			t.Errorf("ParseUnit(%q) = %g, %v, want %g", name, got, err, want)
		}
	}
	if _, err := ParseUnit("min"); err == nil {
		t.Error(`ParseUnit("min"): no error`)
	}
}

func TestWriteMatrixReadsBack(t *testing.T) {
	m := mat.NewDense(3, 3, []float64{nan, 22.07e-6, nan, 22.07e-6, nan, 3e-6, 1e-6, 0, nan})
	names := []string{"node,1", "node 2", "c"}
	var b bytes.Buffer
	if err := WriteMatrix(&b, m, names, Microsecond); err != nil {
		t.Fatal(err)
	}
	if want := "# topocast latencies, unit: us\n\"node,1\",\"node 2\",c\n,22.07,\n22.07,,3\n1,0,\n"; b.String() != want {
		t.Errorf("WriteMatrix wrote %q, want %q", b.String(), want)
	}
	readBack(t, &b, m, names, Microsecond)
}

// readBack reads what WriteMatrix wrote: every bit is as it was.
func readBack(t *testing.T, text *bytes.Buffer, m *mat.Dense, names []string, unit Unit) {
	t.Helper()
	written := text.String()
	back, err := ReadMatrix(text, 0)
	if err != nil {
		t.Fatalf("what was written is refused: %v\n%s", err, written)
	}
	if !slices.EqualFunc(back.Matrix.RawMatrix().Data, m.RawMatrix().Data, same) || !slices.Equal(names, back.Names) || back.Unit != unit || !back.UnitStated {
		t.Fatalf("%q was read back as %v %q in %s, want %v %q in %s", written, back.Matrix.RawMatrix().Data, back.Names, back.Unit, m.RawMatrix().Data, names, unit)
	}
}

// TestWriteMatrixAlwaysReadsBack, whatever the numbers, the gaps and the names.
func TestWriteMatrixAlwaysReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	units := []Unit{Second, Millisecond, Microsecond, Nanosecond}
	odd := []string{"", " ", "5", "0", "1", "nan", "NA", "-", "#x", "a,b", "a;b", "a\tb", "\"", "a\"b", "1,5", "inf", "0x1p2", "ä", "\ufeff", "sep=;", "10.0.0.1", "plain"}
	for trial := range 3000 {
		n := 1 + r.IntN(5)
		gaps, mode := r.IntN(4), r.IntN(5)
		m := mat.NewDense(n, n, nil)
		m.Apply(func(i, j int, _ float64) float64 {
			switch {
			case i == j, r.IntN(4) < gaps, mode == 1 && i > j, mode == 2 && i < j:
				return nan // gaps, and triangles of one direction only
			case mode == 3:
				return math.Abs(math.Float64frombits(r.Uint64() &^ (1 << 62))) // down to the least numbers
			case mode == 4:
				return float64(max(i, j) - 1) // like numbers of hosts
			}
			return math.Ldexp(r.Float64(), -20)
		}, m)
		var names []string
		if trial%2 == 0 {
			for range n {
				names = append(names, odd[r.IntN(len(odd))])
			}
		}
		unit := units[r.IntN(len(units))]
		var b bytes.Buffer
		if err := WriteMatrix(&b, m, names, unit); err != nil {
			t.Fatal(err)
		}
		readBack(t, &b, m, names, unit)
	}
}

// TestReadMatrixUnits: one unit counts, whoever names it.
func TestReadMatrixUnits(t *testing.T) {
	const numbers = "0,1\n1,0\n"
	for _, c := range []struct{ text, want string }{
		{"# unit: us\n# unit: us\n" + numbers, ""},
		{"# unit: s\n# unit: us\n" + numbers, "line 2: the unit is us, and was s before"},
		{"# unit: fortnights\n" + numbers, `line 1: unit "fortnights"`},
		{numbers + "# unit: s\n", ""},
		{strings.Repeat("0,1,1,1,1\n", 5) + "# unit: us\n", ""},
		{"Latency (ms)\n# unit: us\n" + numbers, ""},
	} {
		_, err := ReadMatrix(strings.NewReader(c.text), 0)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("ReadMatrix(%q): error %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ReadMatrix(strings.NewReader(numbers), -1); err == nil {
		t.Error("a unit of -1 s: no error")
	}
}

// TestReadMatrixDoubts: numbers that can be and hardly are make a warning,
// with the unit and who has said it.
func TestReadMatrixDoubts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unit       Unit
		want       string
	}{
		{"5 s as given", "0,5\n5,0\n", Second, "read in s, as given"},
		{"5 s by the file", "# unit: s\n0,5\n5,0\n", 0, `read in s, from "unit: s"`},
		{"below float32", "0,1e-40\n1e-40,0\n", Second, "the longest latency is 1e-40 s"},
		{"all zero", "0,0\n0,0\n", Second, "all latencies are 0"},
		{"nothing", ",\n,\n", Second, "no latency is given"},
		{"a triangle of zeros", "0,0,0\n1,0,0\n2,3,0\n", Microsecond, "zeros above the diagonal are taken for a triangle that was left out"},
		{"a slow direction", "0,1e-3,1\n2e-6,0,1e-6\n1e-6,1e-6,0\n", Second, "1 latencies are more than 1000 times those of the other direction, from 0 to 2 1e+06 times"},
	} {
		l, err := ReadMatrix(strings.NewReader(c.text), c.unit)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], c.want) {
			t.Errorf("%s: warnings %q, want one with %q", c.name, l.Warnings, c.want)
		}
	}
}

func TestWriteMatrixRefuses(t *testing.T) {
	if err := WriteMatrix(io.Discard, mat.NewDense(2, 3, nil), nil, Second); err == nil {
		t.Error("WriteMatrix of 2 x 3: no error")
	}
	if err := WriteMatrix(io.Discard, mat.NewDense(2, 2, nil), []string{"a"}, Second); err == nil {
		t.Error("WriteMatrix with one name for two hosts: no error")
	}
	two := func(v float64) *mat.Dense { return mat.NewDense(2, 2, []float64{0, v, 1, 0}) }
	for _, v := range []float64{-1, math.Inf(1)} {
		if err := WriteMatrix(io.Discard, two(v), nil, Second); err == nil || !strings.Contains(err.Error(), "(0,1)") {
			t.Errorf("WriteMatrix of %g: error %v, want one with (0,1)", v, err)
		}
	}
	if err := WriteMatrix(io.Discard, two(1), []string{"a", "b\n"}, Second); err == nil {
		t.Error("WriteMatrix with a line break in a name: no error")
	}
	if err := WriteMatrix(io.Discard, two(1), nil, 60); err == nil {
		t.Error("WriteMatrix in minutes: no error")
	}
	if err := WriteMatrix(io.Discard, two(1), []string{strings.Repeat("x", maxLine), "b"}, Second); err == nil {
		t.Error("WriteMatrix with a name that is too long: no error")
	}
}

// Every published matrix is read as it was published: package published has a reader of its own.
func TestReadMatrixReadsPublishedMatrices(t *testing.T) {
	for _, name := range published.Names() {
		l, err := ReadMatrix(strings.NewReader(published.Text(name)), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := published.Read(name).Measurements[0]
		n, _ := want.Dims()
		if rows, columns := l.Matrix.Dims(); rows != n || columns != n || !l.UnitStated || l.Names != nil {
			t.Errorf("%s: %d x %d hosts, unit stated %v, names %q, want %d hosts, a unit and no names", name, rows, columns, l.UnitStated, l.Names, n)
			continue
		}
		for i := range n {
			for j := range n {
				if got := l.Matrix.At(i, j); got != want.At(i, j) && !(math.IsNaN(got) && math.IsNaN(want.At(i, j))) {
					t.Errorf("%s: cell (%d,%d) = %g, want %g", name, i, j, got, want.At(i, j))
				}
			}
		}
	}
}

// So is every matrix beside the repository that may not be in it.
func TestReadMatrixReadsMatricesBeside(t *testing.T) {
	data, ok := published.Beside()
	if !ok {
		t.Skip("these data may not enter the repository, and are not beside it; TestReadMatrixReadsPublishedMatrices does without")
	}
	var files []string
	for _, kind := range []string{"cores", "machines", "fabrics", "wan"} {
		found, err := filepath.Glob(filepath.Join(data, kind, "*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no matrices in %s", data)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ReadMatrix(f, Nanosecond)
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		if n, _ := l.Matrix.Dims(); n < 4 || l.Names != nil {
			t.Errorf("%s: %d hosts, names %q, want at least 4 and no names", filepath.Base(file), n, l.Names)
		}
	}
}

func FuzzReadMatrix(f *testing.F) {
	f.Add(",1\n1,\n")
	f.Add("a,b\n,1\n1,\n")
	f.Add(",,\n1,,\n2,3,\n")
	f.Add(",1e-3,NaN\n2,,\n1,1,\n\n")
	f.Add("\ufeff\"a\",b\r\n,0\r\n0,\r\n")
	f.Add("-1")
	f.Add("sep=;\n;a;b\na;;1,5\nb;1,5;\n")
	f.Add("# unit: us\n\t0\t1\n0\t\t2\n1\t2\t\n")
	f.Add("\n1\n2 3\n")
	f.Add("a b c\n1 2\n3\n")
	f.Add("a\nb 1\nc 2 -\n")
	f.Add("a -> b: 1500 ns\na -> c: 4 us\na -> c: 5 us\n")
	f.Add("from,to,latency_us,GB/s\na,b,1,9\na,c,2,9\n")
	f.Add("%%MatrixMarket matrix coordinate real symmetric\n% us\n2 2 1\n2 1 5\n")
	f.Add("%%MatrixMarket matrix array real general\n% \xb5s\n2 2\n0\n5\n5\n0\n")
	f.Add("h0-h1: 12.5 us\nh0-h2: 13 us\n")
	f.Add("0 1 800\n1 2 800\n2 0 5\n0 2 5\n")
	f.Add("# us\nL = [0 1.5; 1.5 0];\nplot(L)\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ReadCounts(strings.NewReader(text)); err == nil && !(mat.Min(m) >= 0) {
			t.Errorf("counts %v: want none below 0", m)
		}
		l, err := ReadMatrix(strings.NewReader(text), 0)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "encode: read matrix: line ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q: want one line that names the line", err)
			}
			return
		}
		m, names := l.Matrix, l.Names
		n, columns := m.Dims()
		if n != columns || names != nil && len(names) != n {
			t.Fatalf("%d x %d with %d names", n, columns, len(names))
		}
		for i := range n {
			for j := range n {
				if v := m.At(i, j); v < 0 || math.IsInf(v, 0) || i == j && !math.IsNaN(v) {
					t.Fatalf("cell (%d, %d) = %g", i, j, v)
				}
			}
		}
		var b bytes.Buffer
		if err := WriteMatrix(&b, m, names, Nanosecond); err != nil {
			t.Fatal(err)
		}
		readBack(t, &b, m, names, Nanosecond)
	})
}

func BenchmarkReadMatrix(b *testing.B) {
	const n = 512
	var text bytes.Buffer
	for i := range n {
		for j := range n {
			if j > 0 {
				text.WriteByte(',')
			}
			if i != j {
				fmt.Fprintf(&text, "%.2f", 20+float64((i*7+j*7)%13))
			}
		}
		text.WriteByte('\n')
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadMatrix(bytes.NewReader(text.Bytes()), Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n), "ns/cell")
}
