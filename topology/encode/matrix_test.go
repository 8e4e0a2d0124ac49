package encode

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
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
		{"one host", "\n", Second, []float64{nan}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, names, err := ReadMatrix(strings.NewReader(tt.text), tt.unit)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(m.RawMatrix().Data, tt.cells, same) {
				t.Errorf("ReadMatrix(%q) = %v, want %v", tt.text, m.RawMatrix().Data, tt.cells)
			}
			if !slices.Equal(names, tt.names) {
				t.Errorf("ReadMatrix(%q) names = %q, want %q", tt.text, names, tt.names)
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
		{"word", ",1\nx,\n", `line 2, column 1: "x" is not a number`},
		{"word among numbers in the first line", ",1,x\n1,,1\n1,1,\n", `line 1, column 3: "x" is not a number`},
		{"negative", ",1\n-1,\n", "line 2, column 1: latency -1 is negative"},
		{"infinite", ",+Inf\n1,\n", "line 1, column 2: +Inf is not finite"},
		{"number too large", ",1e999\n1,\n", `line 1, column 2: "1e999" is not a number`},
		{"ragged", ",1,2\n1,\n2,3,\n", "line 2: 2 columns where the first line has 3"},
		{"too few lines", ",1,2\n1,,3\n", "line 3: the file ends after 2 lines of 3 columns"},
		{"too many lines", ",1\n1,\n1,\n", "line 3: more lines than the 2 columns"},
		{"names and nothing else", "a,b\n", "line 2: the file ends after 0 lines of 2 columns"},
		{"hole between the lines", ",1\n\n1,\n", "line 2: empty line inside the matrix"},
		{"asymmetric below a header", "a,b\n,1\n2000,\n", "line 3, column 1: 2e+03 times the other direction, line 2, column 2"},
		{"too wide", strings.Repeat(",", maxColumns) + "\n", "line 1: 32769 columns: want at most 32768"},
		{"line too long", strings.Repeat(" ", maxLine+1), "line 1: longer than 4194304 bytes"},
		{"bad quotes in the names", "\"a,b\n,1\n1,\n", "line 1: names:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ReadMatrix(strings.NewReader(tt.text), Second)
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
	if _, _, err := ReadMatrix(strings.NewReader(wide+wide), Second); err == nil {
		t.Error("ReadMatrix of two wide lines: no error")
	}
	if _, _, err := ReadMatrix(endless{}, Second); err == nil {
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
	if want := "\"node,1\",node 2,c\n,22.07,\n22.07,,3\n1,0,\n"; b.String() != want {
		t.Errorf("WriteMatrix wrote %q, want %q", b.String(), want)
	}
	back, backNames, err := ReadMatrix(&b, Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(back.RawMatrix().Data, m.RawMatrix().Data, func(a, b float64) bool {
		return same(a, b) || math.Abs(a-b) < 1e-12*a
	}) || !slices.Equal(names, backNames) {
		t.Errorf("read back %v %q, want %v %q", back.RawMatrix().Data, backNames, m.RawMatrix().Data, names)
	}
}

func TestWriteMatrixRefuses(t *testing.T) {
	if err := WriteMatrix(io.Discard, mat.NewDense(2, 3, nil), nil, Second); err == nil {
		t.Error("WriteMatrix of 2 x 3: no error")
	}
	if err := WriteMatrix(io.Discard, mat.NewDense(2, 2, nil), []string{"a"}, Second); err == nil {
		t.Error("WriteMatrix with one name for two hosts: no error")
	}
}

// Every published matrix beside the clone is readable.
func TestReadMatrixReadsTheSharedData(t *testing.T) {
	data := sharedData(t)
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
		m, names, err := ReadMatrix(f, Nanosecond)
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		if n, _ := m.Dims(); n < 4 || names != nil {
			t.Errorf("%s: %d hosts, names %q, want at least 4 and no names", filepath.Base(file), n, names)
		}
	}
}

// sharedData finds the published data beside the module, or skips the test.
func sharedData(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("no shared data beside the module")
	}
	return data
}

func FuzzReadMatrix(f *testing.F) {
	f.Add(",1\n1,\n")
	f.Add("a,b\n,1\n1,\n")
	f.Add(",,\n1,,\n2,3,\n")
	f.Add(",1e-3,NaN\n2,,\n1,1,\n\n")
	f.Add("\ufeff\"a\",b\r\n,0\r\n0,\r\n")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, text string) {
		m, names, err := ReadMatrix(strings.NewReader(text), Nanosecond)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "encode: read matrix: line ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q: want one line that names the line", err)
			}
			return
		}
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
		again, _, err := ReadMatrix(&b, Nanosecond)
		if err != nil {
			if names != nil {
				return // names that look like numbers, or with line breaks, do not come back
			}
			t.Fatalf("what was written is refused: %v", err)
		}
		if r, _ := again.Dims(); r != n {
			t.Fatalf("%d hosts written, %d read", n, r)
		}
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
		if _, _, err := ReadMatrix(bytes.NewReader(text.Bytes()), Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n), "ns/cell")
}
