package linkage_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/topotest"
	"gonum.org/v1/gonum/mat"
)

// A dataSet is one published matrix with what is known of the machine.
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

// knownLevels are the levels of a machine in the repository.
func knownLevels(m published.Machine) []knownLevel {
	var levels []knownLevel
	for _, l := range m.Levels {
		levels = append(levels, knownLevel{l.Name, l.Groups, l.Asked})
	}
	return levels
}

// dataSets are all matrices of the given kinds ("cores", ...), those of the repository
// first and by name: in a plain clone, only these. Sets with partial matrices
// are left out.
func dataSets(t testing.TB, kinds ...string) []dataSet {
	data, more := published.Beside()
	var sets []dataSet
	for _, kind := range kinds {
		for _, m := range published.Machines(kind) {
			if m.Name != "papers/bufe_t3_9_blizzard_row0" {
				sets = append(sets, dataSet{m.Name, m.Measurements[0], knownLevels(m)})
			}
		}
		if !more {
			continue
		}
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
				if !slices.ContainsFunc(sets, func(s dataSet) bool { return s.name == name }) {
					sets = append(sets, dataSet{name, topotest.ReadMatrix(t, file), levels})
				}
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
