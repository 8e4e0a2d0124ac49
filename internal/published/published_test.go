package published

import (
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestEveryFileIsWhole(t *testing.T) {
	for _, name := range Names() {
		m := Read(name)
		n, _ := m.Measurements[0].Dims()
		if n < 4 {
			t.Errorf("%s: %d hosts", name, n)
		}
		for _, d := range m.Measurements {
			if rows, columns := d.Dims(); rows != n || columns != n {
				t.Errorf("%s: repetitions of %d and %d hosts", name, rows, n)
			}
			for i := range n {
				for j := range n {
					if v := d.At(i, j); v < 0 || math.IsInf(v, 0) || i == j && !math.IsNaN(v) {
						t.Errorf("%s: cell (%d,%d) = %g", name, i, j, v)
					}
				}
			}
		}
	}
}

// Groups are of two hosts or more, but not of all, hold no host twice, and nest.
func TestGroupsNest(t *testing.T) {
	for _, m := range Machines("papers", "cores", "apple", "clusters", "fabrics", "wan") {
		n, _ := m.Measurements[0].Dims()
		for k, l := range m.Levels {
			seen := make([]bool, n)
			for _, g := range l.Groups {
				if len(g) < 2 || len(g) == n || !slices.IsSorted(g) || g[0] < 0 || g[len(g)-1] >= n {
					t.Fatalf("%s: %s %v of %d hosts", m.Name, l.Name, g, n)
				}
				for _, h := range g {
					if seen[h] {
						t.Errorf("%s: host %d is in two groups of level %s", m.Name, h, l.Name)
					}
					seen[h] = true
				}
				if k == 0 {
					continue
				}
				for _, f := range m.Levels[k-1].Groups {
					inside := 0
					for _, h := range f {
						if slices.Contains(g, h) {
							inside++
						}
					}
					if inside > 0 && inside < len(f) {
						t.Errorf("%s: %s %v crosses %s %v", m.Name, l.Name, g, m.Levels[k-1].Name, f)
					}
				}
			}
		}
	}
}

// What was measured carries its source and a licence that allows it here.
func TestEverySourceIsNamed(t *testing.T) {
	for _, name := range Names() {
		dir, text := path.Dir(name), Text(name)
		if dir == "papers" {
			if !strings.HasPrefix(text, "# A. Bufe, ") || !strings.Contains(text, "table ") {
				t.Errorf("%s does not name its table", name)
			}
			continue
		}
		if !strings.Contains(name, ".rep") && !strings.Contains(text, "\n# Source: ") {
			t.Errorf("%s does not name its source", name)
		}
		licence, err := fs.ReadFile(files, dir+"/LICENSE")
		if err != nil {
			t.Fatal(err)
		}
		mit := strings.Contains(string(licence), "Permission is hereby granted, free of charge")
		bsd := strings.Contains(string(licence), "Redistribution and use in source and binary forms")
		if mit == bsd || !strings.Contains(string(licence), "github.com/") || !strings.Contains(string(licence), "Copyright") {
			t.Errorf("%s/LICENSE: MIT %v, BSD %v, or no repository", dir, mit, bsd)
		}
	}
}

// Reference: Bufe 2014, as printed.
func TestCellsOfTables(t *testing.T) {
	for _, c := range []struct {
		table string
		i, j  int
		want  float64
	}{
		{"2.1", 1, 3, 6e-6},
		{"2.2", 0, 3, 4e-6},
		{"2.3", 2, 3, 5e-6},
		{"3.5", 5, 8, 54.614e-6},
		{"3.6", 0, 7, 0.827e-6},
		{"3.7", 2, 0, 1.232e-6},
		{"3.8", 0, 1, 1.1145e-6},
		{"3.9", 14, 0, 2.1e-6},
	} {
		if got := Table(c.table).At(c.i, c.j); got != c.want {
			t.Errorf("table %s, cell (%d,%d) = %g, want %g", c.table, c.i, c.j, got, c.want)
		}
	}
	if m := Read("apple/apple_m1pro_first5"); len(m.Measurements) != 5 || m.Measurements[4].At(0, 1) != 37.26e-9 {
		t.Errorf("%d repetitions, want 5", len(m.Measurements))
	}
	if m := Read("cores/core2quad_q9550"); m.Measurements[0].At(0, 1) != 0 || m.Measurements[0].At(2, 3) != 26.67e-9 && m.Measurements[0].At(2, 3) != 0 {
		t.Error("the clock of core2quad_q9550 does not read 0 once")
	}
}

func TestNoTableIsMadeUp(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Table(3.4): no panic")
		}
	}()
	Table("3.4")
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no unit":           ",1\n1,\n",
		"an unknown unit":   "# unit: h\n,1\n1,\n",
		"a short row":       "# unit: us\n,1\n1\n",
		"a word":            "# unit: us\n,one\n1,\n",
		"a group of words":  "# unit: us\n# asked core: a-b\n,1\n1,\n",
		"a range of a word": "# unit: us\n# asked core: 0-b\n,1\n1,\n",
	} {
		if _, _, err := parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
