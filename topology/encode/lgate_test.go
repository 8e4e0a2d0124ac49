package encode

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
)

// figure34 is the file of Reinfjell 2023, figure 3.4 (a), set as it is meant.
const figure34 = `cluster {
 cluster {
  cluster { group { 0-7 } }
  cluster { group {8-15} }
 }
 cluster {
  cluster { group { 16-23 } }
  cluster { group { 24-31 } }
 }
}
`

// listGroups lists the groups of a hierarchy but the root: level and hosts.
func listGroups(h *topology.Hierarchy) string {
	var b strings.Builder
	for _, g := range h.Groups()[1:] {
		fmt.Fprintf(&b, "%d:%s ", g.Level, strings.ReplaceAll(hostlist.Numbers(g.Hosts), ",", ", "))
	}
	return strings.TrimSpace(b.String())
}

func TestReadLGate(t *testing.T) {
	for _, c := range []struct {
		name, file string
		hosts      int
		groups     string // read off by hand
	}{
		{"figure 3.4", figure34, 32, "1:0-15 1:16-31 0:0-7 0:8-15 0:16-23 0:24-31"},
		{"one group", "cluster { group { 0-3 } }", 4, ""},
		{"one rank", "cluster{group{0}}", 1, ""},
		{"ranks of two digits", "cluster { group { 00-07 } group { 08, 09-11 } }", 12, "0:0-7 0:8-11"},
		{"ranges, lists and single ranks", "cluster { cluster { group { 4, 0-1,3 } } group { 2 } cluster { group { 6-7 } } cluster { group { 5 } } }", 8, "0:0-1, 3-4 0:6-7"},
		{"clusters around one group", "cluster { cluster { cluster { group { 0-1 } } } group { 2-4 } }", 5, "0:0-1 0:2-4"},
		{"uneven depth", "cluster { group { 0-1 } cluster { group { 2-3 } group { 4-5 } } }", 6, "1:2-5 0:0-1 0:2-3 0:4-5"},
		{"groups of one rank in a cluster", "cluster { cluster { group { 0 } group { 1 } } group { 2 } }", 3, "0:0-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ReadLGate(strings.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := listGroups(h); h.Hosts() != c.hosts || got != c.groups {
				t.Errorf("%d hosts, groups %s; want %d, %s", h.Hosts(), got, c.hosts, c.groups)
			}
		})
	}
}

func TestReadLGateRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", "", `line 1: the file ends: want "cluster"`},
		{"a cut file", "cluster {\n group { 0-", `line 2: group of ranks: "0-": want numbers`},
		{"an empty cluster", "cluster { }", `"}": want "cluster" or "group"`},
		{"an empty group", "cluster { group { } }", `"": want numbers`},
		{"text after the end", "cluster { group { 0 } } x", `"x": want the end`},
		{"an unknown word", "cluster { rack { 0 } }", `"rack": want "cluster"`},
		{"a rank missing", "cluster { group { 0-2 } group { 4 } }", "rank 3 is in no group, but rank 4 is"},
		{"a rank twice", "cluster { group { 0-2 } group { 2-4 } }", "rank 2 is in two groups"},
		{"a range that goes down", "cluster { group { 3-1 } }", `"3-1": want ascending`},
		{"a huge rank", "cluster { group { 0-4000000000 } }", "more than 1048576 names"},
		{"a rank missing before one of two digits", "cluster { group { 07 } }", "rank 0 is in no group, but rank 07 is"},
		{"a word for a rank", "cluster { group { all } }", `"all": want numbers`},
		{"a comma at the end", "cluster { group { 0, } }", `"": want numbers`},
		{"clusters without end", strings.Repeat("cluster {", 200), "more than 30 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadLGate(strings.NewReader(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ReadLGate(%q) = %v, want an error with %q", c.file, err, c.want)
			}
		})
	}
}

// Groups that nobody is sure of are not written.
func TestWriteLGate(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLGate(&b, twoSockets(t).Hierarchy); err != nil {
		t.Fatal(err)
	}
	want := "cluster {\n  cluster {\n    cluster { group { 0-1 } }\n    cluster { group { 2 } }\n  }\n" +
		"  cluster { group { 3 } }\n  cluster { group { 4 } }\n  cluster { group { 5 } }\n}\n"
	if got := b.String(); got != want {
		t.Errorf("WriteLGate wrote\n%swant\n%s", got, want)
	}
}

func FuzzReadLGate(f *testing.F) {
	f.Add(figure34)
	f.Add("cluster { cluster { group { 4, 0-1,3 } } group { 2 } }")
	f.Fuzz(func(t *testing.T, file string) {
		h, err := ReadLGate(strings.NewReader(file))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteLGate(&b, h); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLGate(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := listGroups(again), listGroups(h); again.Hosts() != h.Hosts() || got != want {
			t.Errorf("after writing, %d hosts, groups %s; want %d, %s", again.Hosts(), got, h.Hosts(), want)
		}
	})
}
