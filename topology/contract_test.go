package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// members lists the groups of a hierarchy but the root, by level name and hosts.
func members(h *Hierarchy) string {
	var b strings.Builder
	for _, g := range h.Groups()[1:] {
		fmt.Fprintf(&b, "%s%v ", h.Levels()[g.Level].Name, g.Hosts)
	}
	return strings.TrimSpace(b.String())
}

// Two ranks on each of six hosts, worked out by hand.
func TestContract(t *testing.T) {
	nan := math.NaN()
	levels := []Level{{Name: "socket", Latency: nan, Confidence: nan}, {Name: "host", Latency: nan, Confidence: nan}, {Name: "rack", Latency: nan, Confidence: nan}, {Name: "cell", Latency: nan, Confidence: nan}}
	group := func(level int, hosts ...int) Group {
		return Group{Hosts: hosts, Level: level, Latency: nan, Confidence: nan}
	}
	hosts := []int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}
	for _, c := range []struct {
		name   string
		groups []Group
		node   []int
		nodes  int
		want   string
	}{
		{"insides of hosts go", []Group{group(1, 0, 1), group(1, 2, 3)}, hosts, 6, ""},
		{"racks stay", []Group{group(1, 0, 1), group(2, 0, 1, 2, 3), group(2, 4, 5, 6, 7)}, hosts, 6, "rack[0 1] rack[2 3]"},
		{"half of a host is not in", []Group{group(2, 0, 1, 2, 3, 4)}, hosts, 6, "rack[0 1]"},
		{"one of a cell and its rack", []Group{group(2, 0, 1, 2, 3), group(3, 0, 1, 2, 3, 4)}, hosts, 6, "cell[0 1]"},
		{"of hosts left out", []Group{group(2, 0, 1, 2, 3), group(3, 0, 1, 2, 3, 4, 5)}, []int{0, 0, -1, -1, 1, 1, 2, 2, 2, 2, 2, 2}, 3, "cell[0 1]"},
		{"all that are left", []Group{group(2, 0, 1, 2, 3)}, []int{0, 0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1}, 2, ""},
	} {
		h, err := NewHierarchy(12, levels, c.groups, nan)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Contract(c.node, c.nodes)
		if err != nil {
			t.Fatal(err)
		}
		if m := members(got); got.Hosts() != c.nodes || m != c.want {
			t.Errorf("%s: %d hosts, %s; want %d, %s", c.name, got.Hosts(), m, c.nodes, c.want)
		}
	}
	h, err := NewHierarchy(2, nil, nil, nan)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]int{{0}, {0, 2}} {
		if _, err := h.Contract(bad, 2); err == nil {
			t.Errorf("Contract(%v) of two hosts: no error", bad)
		}
	}
}

// Whatever the nodes are, groups still nest.
func TestContractNests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 2 + rng.IntN(30)
		var groups []Group
		var split func(hosts []int, level int)
		split = func(hosts []int, level int) {
			if level < 0 || len(hosts) < 2 {
				return
			}
			if len(hosts) < n {
				groups = append(groups, Group{Hosts: hosts, Level: level, Latency: math.NaN(), Confidence: math.NaN()})
			}
			cut := 1 + rng.IntN(len(hosts)-1)
			split(hosts[:cut], level-1)
			split(hosts[cut:], level-1)
		}
		split(rng.Perm(n), 3)
		levels := make([]Level, 4)
		h, err := NewHierarchy(n, levels, groups, math.NaN())
		if err != nil {
			t.Fatal(err)
		}
		nodes := 1 + rng.IntN(n)
		node := make([]int, n)
		for i := range node {
			node[i] = rng.IntN(nodes+1) - 1
		}
		if _, err := h.Contract(node, nodes); err != nil {
			t.Fatalf("%s of %v: %v", members(h), node, err)
		}
	}
}
