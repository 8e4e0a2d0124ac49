package topology

import (
	"fmt"
	"math"
	"testing"
)

func TestFirmSupportIsTheThreshold(t *testing.T) {
	groups := []Group{
		{Hosts: []int{0, 1, 2, 3}, Level: 2, Latency: 3e-6, Support: 0.95},
		{Hosts: []int{4, 5, 6, 7}, Level: 2, Latency: 3e-6, Support: FirmSupport},
		{Hosts: []int{0, 1, 2}, Level: 1, Latency: 2e-6, Support: 0.89},
		{Hosts: []int{0, 1}, Level: 0, Latency: 1e-6, Support: math.NaN()},
		{Hosts: []int{4, 5}, Level: 0, Latency: 1e-6, Support: 0.5},
	}
	h, err := NewHierarchy(8, []Level{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "empty"}}, groups, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	firm := h.Firm(FirmSupport)
	got := ""
	for _, g := range firm.Groups() {
		if !g.Firm() {
			t.Errorf("group %v of confidence %g stayed", g.Hosts, g.Support)
		}
		got += fmt.Sprint(g.Hosts, g.Level, g.Parent, " ")
	}
	// By hand: support 0.89 and 0.5 go, level b with them; 0.9 is firm, and so
	// is a group whose support was not computed. A level that has no groups loses none.
	if want := "[0 1 2 3 4 5 6 7] 3 -1 [0 1 2 3] 1 0 [4 5 6 7] 1 0 [0 1] 0 1 "; got != want {
		t.Errorf("Firm has groups %s, want %s", got, want)
	}
	if names := firm.Levels(); len(names) != 3 || names[0].Name != "a" || names[1].Name != "c" || names[2].Name != "empty" {
		t.Errorf("Firm has levels %v, want a, c and the empty one", names)
	}
	if firm.Firm(FirmSupport) != firm {
		t.Error("Firm of a hierarchy of confident groups is not the hierarchy itself")
	}
}

func TestHierarchyRefusesFigures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		latency, support float64
		ok               bool
	}{
		{0, 0, true},
		{1e-6, 1, true},
		{nan, nan, true},
		{-1e-9, 1, false},
		{inf, 1, false},
		{-inf, 1, false},
		{1e-6, -0.01, false},
		{1e-6, 1.01, false},
	} {
		sound := Level{Latency: 1, Support: 1}
		_, group := NewHierarchy(3, []Level{sound}, []Group{{Hosts: []int{0, 1}, Latency: c.latency, Support: c.support}}, 1)
		_, level := NewHierarchy(3, []Level{sound, {Latency: c.latency, Support: c.support}}, nil, 1)
		if (group == nil) != c.ok || (level == nil) != c.ok {
			t.Errorf("latency %g s and confidence %g of a group: error %v, of a level: %v, want them taken: %v", c.latency, c.support, group, level, c.ok)
		}
		if _, err := NewHierarchy(3, nil, nil, c.latency); c.support == 1 && (err == nil) != c.ok {
			t.Errorf("latency %g s of all hosts: error %v, want it taken: %v", c.latency, err, c.ok)
		}
	}
}
