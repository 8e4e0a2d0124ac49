package encode

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

var nan = math.NaN()

func twoSockets(t testing.TB) *topology.Result {
	h, err := topology.NewHierarchy(6,
		[]topology.Level{{Name: "pair", Latency: 1e-7, Confidence: nan}, {Name: "socket", Kind: topology.KindSocket, Latency: 2.5e-7, Confidence: 0.9}},
		[]topology.Group{
			{Hosts: []int{0, 1}, Level: 0, Latency: 1e-7, Confidence: nan},
			{Hosts: []int{0, 1, 2}, Level: 1, Latency: 2e-7, Confidence: 1},
			{Hosts: []int{3, 5, 4}, Level: 1, Latency: 3e-7, Confidence: 0.8},
		}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{
		Hierarchy: h,
		Fit: topology.Fit{
			Family: topology.FamilyTree, R2: 0.99, Residual: 0.01, TreeLikeness: nan, Noise: nan,
			Levels: []float64{0.03},
		},
		Warnings: []string{"a < b"},
	}
}

func TestWriteHierarchyLayout(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHierarchy(&b, twoSockets(t)); err != nil {
		t.Fatal(err)
	}
	// The layout that scripts rely on; written by hand from the description of the format.
	want := `{"format":"topocast/hierarchy","version":1,"n":6,"levels":[` +
		`{"name":"pair","latency_s":1e-7,"groups":[[0,1]],"group_latency_s":[1e-7]},` +
		`{"name":"socket","kind":"socket","latency_s":2.5e-7,"support":0.9,"groups":[[0,1,2],[3,4,5]],"group_latency_s":[2e-7,3e-7],"group_support":[1,0.8]}],` +
		`"root_latency_s":0.000001,"fit":{"family":"tree","r2":0.99,"residual":0.01,"levels":[{"residual":0.03}]},"warnings":["a \u003c b"]}` + "\n"
	if got := b.String(); got != want {
		t.Errorf("WriteHierarchy wrote\n%swant\n%s", got, want)
	}
}

func TestHierarchyRoundTrip(t *testing.T) {
	var first bytes.Buffer
	r := twoSockets(t)
	if err := WriteHierarchy(&first, r); err != nil {
		t.Fatal(err)
	}
	text := first.String()
	back, err := ReadHierarchy(&first)
	if err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := WriteHierarchy(&second, back); err != nil {
		t.Fatal(err)
	}
	if second.String() != text {
		t.Errorf("after measurement, WriteHierarchy wrote\n%swant\n%s", second.String(), text)
	}
	for i := range 6 {
		for j := range 6 {
			if got, want := back.Hierarchy.Latency(i, j), r.Hierarchy.Latency(i, j); got != want {
				t.Errorf("Latency(%d, %d) = %g, want %g", i, j, got, want)
			}
		}
	}
	if !reflect.DeepEqual(back.Warnings, r.Warnings) {
		t.Errorf("Warnings = %q, want %q", back.Warnings, r.Warnings)
	}
}

func TestReadHierarchyRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", ``, "no content"},
		{"a cut file", `{"format":"topocast/hierarchy","ver`, "unexpected EOF"},
		{"another format", `{"format":"topocast/graph","version":1}`, `format is "topocast/graph"`},
		{"a later version", `{"format":"topocast/hierarchy","version":3}`, "version is 3"},
		{"text after the end", `{"format":"topocast/hierarchy","version":1,"n":2} x`, "after the end"},
		{"a huge n", `{"format":"topocast/hierarchy","version":1,"n":2000000000}`, "n is 2000000000"},
		{"a host outside", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"name":"","groups":[[1,7]]}]}`, "host outside"},
		{"an unknown key", `{"format":"topocast/hierarchy","version":1,"n":3,"levls":[]}`, `unknown field "levls"`},
		{"a confidence of 7", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"groups":[[1,2]],"group_support":[7]}]}`, "confidence 7: want in [0, 1]"},
		{"a level's confidence of 7", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"support":7,"groups":[[1,2]]}]}`, "level 0: confidence 7"},
		{"a confidence of -1", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"groups":[[1,2]],"group_support":[-1]}]}`, "confidence -1: want in [0, 1]"},
		{"a level's latency of -3", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"latency_s":-3,"groups":[[1,2]],"group_latency_s":[1]}]}`, "level 0: latency -3 s"},
		{"short lists of latencies", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"groups":[[1,2]],"group_latency_s":[1,-3]}]}`, "2 values of group_latency_s for 1 group"},
		{"a latency of -3", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"groups":[[1,2]],"group_latency_s":[-3]}]}`, "latency -3 s: want at least 0"},
		{"a root's latency of -3", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[],"root_latency_s":-3}`, "all hosts: latency -3 s"},
		{"short lists", `{"format":"topocast/hierarchy","version":1,"n":3,"levels":[{"groups":[[1,2]],"group_support":[1,1]}]}`, "2 values of group_support for 1 group"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadHierarchy(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ReadHierarchy(%s) = %v, want an error with %q", c.file, err, c.want)
			}
		})
	}
}

func FuzzReadHierarchy(f *testing.F) {
	var b bytes.Buffer
	if err := WriteHierarchy(&b, twoSockets(f)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"format":"topocast/hierarchy","version":1,"n":4,"levels":[{"groups":[[0,1],[2,3]]}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := ReadHierarchy(bytes.NewReader(file))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := WriteHierarchy(&first, r); err != nil {
			t.Fatal(err)
		}
		again, err := ReadHierarchy(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("our own file is refused: %v", err)
		}
		if err := WriteHierarchy(&second, again); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("written again: %s, want %s", second.String(), first.String())
		}
	})
}

// A single repetition can leave a spread of +Inf, which JSON does not have.
func TestWriteHierarchyOfInfiniteFit(t *testing.T) {
	r := twoSockets(t)
	r.Fit.Noise, r.Fit.R2 = math.Inf(1), math.Inf(-1)
	var b bytes.Buffer
	if err := WriteHierarchy(&b, r); err != nil {
		t.Fatal(err)
	}
	back, err := ReadHierarchy(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(back.Fit.Noise) || !math.IsNaN(back.Fit.R2) {
		t.Errorf("read back as noise %g, R2 %g, want NaN: not known", back.Fit.Noise, back.Fit.R2)
	}
}
