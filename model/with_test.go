package model

import (
	"bytes"
	"testing"

	"github.com/topocast/topocast/topology"
)

// A network that gets what it had is the same file; one that gets other values has these, and is the same otherwise.
func TestNetworksGetWhatWasMeasuredLater(t *testing.T) {
	file := func(n *Network, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := n.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	full := twoRacks(t, 4, fullSettings())
	want := file(full, nil)
	if got := file(full.With(func(s *Settings) { s.Degradation = full.Settings().Degradation })); got != want {
		t.Errorf("with its own degradation it is\n%s\nwant\n%s", got, want)
	}
	if got := file(full.With(func(s *Settings) { s.Resources = full.Settings().Resources })); got != want {
		t.Errorf("with its own resources it is\n%s\nwant\n%s", got, want)
	}
	s := fullSettings()
	s.Degradation, s.Resources = nil, nil
	without := twoRacks(t, 4, s)
	later, err := without.With(func(s *Settings) { s.Degradation = full.Settings().Degradation })
	if err != nil {
		t.Fatal(err)
	}
	if got := file(later.With(func(s *Settings) { s.Resources = full.Settings().Resources })); got != want {
		t.Errorf("with both it is\n%s\nwant\n%s", got, want)
	}
	if without.Settings().Degradation != nil || without.Settings().Resources != nil {
		t.Error("the network itself has changed")
	}
	if _, err := full.With(func(s *Settings) { s.Resources = []Resource{{Kind: topology.KindCache, Groups: [][]int{{7, 8}}}} }); err == nil {
		t.Error("a resource of a rank that the network has not is accepted")
	}
	if _, err := full.With(func(s *Settings) { s.Degradation = &Degradation{Hosts: -1} }); err == nil {
		t.Error("degradation in a ring of -1 hosts is accepted")
	}
	// What ranks share tells the kind of a level that is there.
	n := nameless(t, "core:2 host:2", nil)
	inside := nameless(t, "core:2 socket:2 host:2", nil)
	if inside, err = inside.With(func(s *Settings) {
		s.Resources = []Resource{{Kind: topology.KindNUMA, Groups: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}}}
	}); err != nil || inside.Hierarchy().Levels()[0].Kind != topology.KindNUMA {
		t.Errorf("level of pairs that share memory is of kind %q (%v), want numa", inside.Hierarchy().Levels()[0].Kind, err)
	}
	if n, err = n.With(func(s *Settings) {
		s.Resources = []Resource{{Kind: topology.KindCache, Groups: [][]int{{0, 1}, {2, 3}}}}
	}); err != nil || n.Hierarchy().Levels()[0].Kind != topology.KindHost {
		t.Errorf("level of hosts is of kind %q (%v) with caches of all their cores, want host", n.Hierarchy().Levels()[0].Kind, err)
	}
}
