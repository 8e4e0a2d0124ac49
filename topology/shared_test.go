package topology_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/topology/encode"
	"gonum.org/v1/gonum/mat"
)

// A dataSet is one matrix beside the clone with what is known of the machine.
type dataSet struct {
	name   string
	d      *mat.Dense
	levels []knownLevel
}

type knownLevel struct {
	name    string
	groups  [][]int
	visible bool // the matrix shows the level clearly
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

// readMatrix reads a matrix, gunzipping by name. The unit does not matter to
// groups; all are read as microseconds.
func readMatrix(t testing.TB, file string) *mat.Dense {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	l, err := encode.ReadMatrix(r, encode.Microsecond)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return l.Matrix
}

// sharedSets reads all matrices of the given kinds ("cores", ...), ordered by
// name. Sets with partial matrices are left out.
func sharedSets(t testing.TB, kinds ...string) []dataSet {
	data := sharedData(t)
	var sets []dataSet
	for _, kind := range kinds {
		pattern := filepath.Join(data, kind, "*.truth.json")
		if kind == "simgrid" {
			pattern = filepath.Join(data, kind, "*", "truth.json")
		}
		truths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, truth := range truths {
			text, err := os.ReadFile(truth)
			if err != nil {
				t.Fatal(err)
			}
			var known struct {
				Partial      bool
				Identifiable string
				Levels       []struct {
					Name     string
					Groups   [][]int
					Evidence *struct{ Visible string }
				}
			}
			if err := json.Unmarshal(text, &known); err != nil {
				t.Fatalf("%s: %v", truth, err)
			}
			if known.Partial {
				continue
			}
			var levels []knownLevel
			for _, l := range known.Levels {
				// The worked examples and simulated platforms carry no evidence: their
				// levels are all to be found.
				levels = append(levels, knownLevel{l.Name, l.Groups, l.Evidence == nil || l.Evidence.Visible == "clear"})
			}
			base := strings.TrimSuffix(truth, ".truth.json")
			pattern := base + "*.csv"
			if kind == "simgrid" {
				base = filepath.Dir(truth)
				pattern = filepath.Join(base, "*_us*.csv.gz")
			}
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: no matrices: %v", pattern, err)
			}
			for _, file := range files {
				name := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".csv")
				if strings.HasSuffix(name, ".hops") {
					continue
				}
				name, err := filepath.Rel(data, name)
				if err != nil {
					t.Fatal(err)
				}
				sets = append(sets, dataSet{name, readMatrix(t, file), levels})
			}
		}
	}
	return sets
}

// take returns the set with the hosts chosen only: host k of the result is
// host chosen[k]. Groups of fewer than two hosts, and of all, disappear.
func (s dataSet) take(chosen []int) dataSet {
	n := len(chosen)
	d := mat.NewDense(n, n, nil)
	at := map[int]int{}
	for i, x := range chosen {
		at[x] = i
		for j, y := range chosen {
			d.Set(i, j, s.d.At(x, y))
		}
	}
	out := dataSet{name: s.name, d: d}
	for _, l := range s.levels {
		kept := knownLevel{l.name, nil, l.visible}
		for _, g := range l.groups {
			var hosts []int
			for _, x := range g {
				if i, ok := at[x]; ok {
					hosts = append(hosts, i)
				}
			}
			if len(hosts) >= 2 && len(hosts) < n {
				slices.Sort(hosts)
				kept.groups = append(kept.groups, hosts)
			}
		}
		out.levels = append(out.levels, kept)
	}
	return out
}

// permuted returns the set with its hosts relabelled at random.
func (s dataSet) permuted(rng *rand.Rand) dataSet {
	n, _ := s.d.Dims()
	return s.take(rng.Perm(n))
}
