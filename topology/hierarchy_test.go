package topology

import (
	"fmt"
	"math"
	"testing"
)

func TestConfidentFromIsTheThreshold(t *testing.T) {
	groups := []Group{
		{Hosts: []int{0, 1, 2, 3}, Level: 2, Latency: 3e-6, Confidence: 0.95},
		{Hosts: []int{4, 5, 6, 7}, Level: 2, Latency: 3e-6, Confidence: ConfidentFrom},
		{Hosts: []int{0, 1, 2}, Level: 1, Latency: 2e-6, Confidence: 0.89},
		{Hosts: []int{0, 1}, Level: 0, Latency: 1e-6, Confidence: math.NaN()},
		{Hosts: []int{4, 5}, Level: 0, Latency: 1e-6, Confidence: 0.5},
	}
	h, err := NewHierarchy(8, []Level{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "empty"}}, groups, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	confident := h.Confident(ConfidentFrom)
	got := ""
	for _, g := range confident.Groups() {
		if !g.Confident() {
			t.Errorf("group %v of confidence %g stayed", g.Hosts, g.Confidence)
		}
		got += fmt.Sprint(g.Hosts, g.Level, g.Parent, " ")
	}
	// By hand: confidence 0.89 and 0.5 go, level b with them; 0.9 is confident, and so
	// is a group whose confidence was not computed. A level that has no groups loses none.
	if want := "[0 1 2 3 4 5 6 7] 3 -1 [0 1 2 3] 1 0 [4 5 6 7] 1 0 [0 1] 0 1 "; got != want {
		t.Errorf("Confident has groups %s, want %s", got, want)
	}
	if names := confident.Levels(); len(names) != 3 || names[0].Name != "a" || names[1].Name != "c" || names[2].Name != "empty" {
		t.Errorf("Confident has levels %v, want a, c and the empty one", names)
	}
	if confident.Confident(ConfidentFrom) != confident {
		t.Error("Confident of a hierarchy of confident groups is not the hierarchy itself")
	}
}

func TestHierarchyRefusesFigures(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		latency, confidence float64
		ok                  bool
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
		sound := Level{Latency: 1, Confidence: 1}
		_, group := NewHierarchy(3, []Level{sound}, []Group{{Hosts: []int{0, 1}, Latency: c.latency, Confidence: c.confidence}}, 1)
		_, level := NewHierarchy(3, []Level{sound, {Latency: c.latency, Confidence: c.confidence}}, nil, 1)
		if (group == nil) != c.ok || (level == nil) != c.ok {
			t.Errorf("latency %g s and confidence %g of a group: error %v, of a level: %v, want them taken: %v", c.latency, c.confidence, group, level, c.ok)
		}
		if _, err := NewHierarchy(3, nil, nil, c.latency); c.confidence == 1 && (err == nil) != c.ok {
			t.Errorf("latency %g s of all hosts: error %v, want it taken: %v", c.latency, err, c.ok)
		}
	}
}
