package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

func TestPlacement(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("h3\n\n1 # by number\n  h0 \nnonsense, not read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cluster, how string
		ranks        int
		want         []int
	}{
		{"tree:2x2", "block", 4, []int{0, 1, 2, 3}},
		{"tree:2x2", "block", 3, []int{0, 1, 2}},
		{"tree:2x2", "block", 8, []int{0, 0, 1, 1, 2, 2, 3, 3}},
		{"tree:2x2", "block", 6, []int{0, 0, 1, 1, 2, 2}},
		{"tree:2x2", "cyclic", 4, []int{0, 2, 1, 3}},
		{"tree:[1,3]", "cyclic", 6, []int{0, 1, 2, 3, 0, 1}},
		{"star:3", "cyclic", 3, []int{0, 1, 2}},
		{"host:2 socket:2 core:2", "cyclic", 4, []int{0, 4, 1, 5}},
		{"host:2 core:3", "block", 6, []int{0, 1, 2, 3, 4, 5}},
		{"host:2 core:3", "cyclic", 6, []int{0, 3, 1, 4, 2, 5}},
		{"tree:2x2", file, 3, []int{3, 1, 0}},
	} {
		cl, err := gen.Parse(c.cluster)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Placement(c.how, c.ranks, cl.Graph, cl.Hierarchy, cl.Node)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Placement(%q, %d) on %s = %v, %v, want %v", c.how, c.ranks, c.cluster, got, err, c.want)
		}
	}

	g := graphOf(t, "tree:4x8")
	shuffled, err := Placement("shuffled", 64, g, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Placement("shuffled:0", 64, g, nil, nil)
	other, _ := Placement("shuffled:1", 64, g, nil, nil)
	if !slices.Equal(shuffled, again) || slices.Equal(shuffled, other) {
		t.Error("the seed does not decide how ranks are shuffled")
	}
	block, _ := Placement("block", 64, g, nil, nil)
	if slices.Sort(shuffled); !slices.Equal(shuffled, block) {
		t.Errorf("shuffled ranks are on %v, want two on each host", shuffled)
	}

	for how, want := range map[string]string{
		"shuffled:x": "seed", "nowhere/to/be/found": "want block, cyclic, shuffled or a file", file: `line 5: "nonsense, not read"`,
	} {
		if _, err := Placement(how, 8, g, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Placement(%q) = %v, want an error with %q", how, err, want)
		}
	}
	if _, err := Placement("block", 0, g, nil, nil); err == nil {
		t.Error("no ranks: no error")
	}
}

// TestSlots: files name the ranks of a host as those of Open MPI and of MPICH do.
func TestSlots(t *testing.T) {
	g := graphOf(t, "star:3")
	for text, want := range map[string][]int{
		"h2 slots=2\nh0:1\nh1:2":       {2, 2, 0, 1, 1},
		"h1 max_slots=9 slots=1\nh0:9": {1, 0, 0, 0, 0},
		"h0 max-slots=9\n2:5":          {0, 2, 2, 2, 2},
	} {
		if got, err := readPlacement(strings.NewReader(text), 5, g); err != nil || !slices.Equal(got, want) {
			t.Errorf("readPlacement(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"h0 slots=0", "h0:0", "h0:x", "h0 slots=-1", "h0 ranks=5"} {
		if got, err := readPlacement(strings.NewReader(text), 5, g); err == nil || !strings.Contains(err.Error(), "line 1: \""+text+"\": want a host and its slots") {
			t.Errorf("readPlacement(%q) = %v, %v, want an error", text, got, err)
		}
	}
	if _, err := readPlacement(strings.NewReader("h0:2\nh1:2"), 5, g); err == nil || !strings.Contains(err.Error(), "4 places for 5 ranks") {
		t.Errorf("four places for five ranks: %v", err)
	}
}

func FuzzReadPlacement(f *testing.F) {
	for _, s := range []string{"h0\nh1\n", "0\n1", "# none\n", "h9\n", "-1\n0\n", "s0\n"} {
		f.Add(s)
	}
	g := graphOf(f, "star:3")
	f.Fuzz(func(t *testing.T, text string) {
		placement, err := readPlacement(strings.NewReader(text), 2, g)
		if err == nil && (len(placement) != 2 || slices.Min(placement) < 0 || slices.Max(placement) > 2) {
			t.Errorf("readPlacement(%q) = %v", text, placement)
		}
	})
}

// graphOf is the graph of a cluster of one line.
func graphOf(t testing.TB, spec string) *topology.Graph {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph
}
