package encode

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

func TestTGFRoundTrip(t *testing.T) {
	graphs := smallGraphs(t)
	names := []string{"node1", "node1", `a "b" <c> & ü`, "sw 1", "sw#2"}
	odd, err := topology.NewGraph(3, 2, names, graphs["odd"].Arcs())
	if err != nil {
		t.Fatal(err)
	}
	graphs["odd"] = odd
	for name, g := range graphs {
		var b bytes.Buffer
		if err := WriteTGF(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if again, _, err := ReadTGF(&b, nil); err != nil || !sameGraph(again, g) {
			t.Errorf("%s: read back %v, %v of\n%s", name, again, err, text)
		}
	}
}

func TestReadTGF(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"as in Bufe 2.6", "1 v1\n2 v2\n#\n1 2 l: 3 t: 10\n2 1 l: 3 t: 10\n", "v1 v2 ; v1-v2 3 0.08"},
		{"each edge once", "a\nb\ns\n#\na s\r\ns b l:2.5e1\n", "a b |s ; a-s  ; b-s 25 "},
		{"unlike ways", "1 x (host)\n2 y (switch)\n\n#\n1 2 l: 1\n2 1 l: 2\n", "x |y ; x>y 1 ; y>x 2 "},
		{"a label for people", "1 x\n2 y\n#\n1 2 blue cable t: 1\n", "x y ; x-y  "},
		{"one way", "1 x\n2 y\n#\n1 2 t: 125 one-way\n", "x y ; x>y  1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _, err := ReadTGF(strings.NewReader(c.file), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadTGFRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		file io.Reader
		want string
	}{
		{"an empty file", strings.NewReader(""), "no line with # alone"},
		{"another #", strings.NewReader("1\n#\n#\n"), "line 3: a second #"},
		{"a vertex twice", strings.NewReader("1 a\n1 b\n#\n"), `line 2: vertex "1" is there twice`},
		{"a vertex that is not listed", strings.NewReader("1\n#\n1 2\n"), `line 3: there is no vertex "2"`},
		{"half an edge", strings.NewReader("1\n#\n1\n"), `line 3: "1": want two vertices`},
		{"a latency that is no number", strings.NewReader("1\n2\n#\n1 2 l: fast\n"), `line 4: latency_us "fast": want a number`},
		{"no latency", strings.NewReader("1\n2\n#\n1 2 l:\n"), `line 4: l: nothing behind it: want a number`},
		{"a huge throughput", strings.NewReader("1\n2\n#\n1 2 t: 1e307\n"), `bandwidth_MBps "1e307": want a number`},
		{"a latency below 0", strings.NewReader("1\n2\n#\n1 2 l: -1\n"), `latency_us "-1": want a number`},
		{"an endless line", endless{}, "line 1: longer than 4194304 bytes"},
		{"a reader that fails", io.MultiReader(strings.NewReader("1\n"), broken{}), "line 2: broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadTGF(c.file, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ReadTGF = %v, want one line with %q", err, c.want)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestWriteTGFRefuses(t *testing.T) {
	for _, name := range []string{"two\nlines", " blank", "x (switch)"} {
		g, err := topology.NewGraph(1, 0, []string{name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteTGF(io.Discard, g); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}

func FuzzReadTGF(f *testing.F) {
	f.Add("1 v1\n2 v2\n#\n1 2 l: 3 t: 10\n2 1 l: 3 t: 10\n")
	f.Add("a x (host)\nb y\n#\na b l:1e-3 p: .5 estimated one-way t: 2\n")
	f.Fuzz(func(t *testing.T, file string) {
		g, _, err := ReadTGF(strings.NewReader(file), nil)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteTGF(&b, g); err != nil {
			return // a name
		}
		text := b.String()
		if again, _, err := ReadTGF(&b, nil); err != nil || !sameGraph(again, g) {
			t.Errorf("read back %v of\n%s", err, text)
		}
	})
}
