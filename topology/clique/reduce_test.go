package clique_test

import (
	"errors"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
)

func TestReduceSaysThatItWasCutShort(t *testing.T) {
	var arcs []topology.Arc
	for u := range 5 {
		for v := range u {
			arcs = topology.AppendLink(arcs, v, u, 2e-6, 1e9)
		}
	}
	g, err := topology.NewGraph(5, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	if reduced, work, err := clique.Reduce(g, 0.05, 1e6); err != nil || reduced.Vertices() != 6 || work <= 1 {
		t.Errorf("Reduce = %v, %d, %v, want one switch", reduced, work, err)
	}
	if reduced, _, err := clique.Reduce(g, 0.05, 1); reduced != nil || !errors.Is(err, clique.ErrUnfinished) {
		t.Errorf("Reduce within one cell = %v, %v, want ErrUnfinished", reduced, err)
	}
}
