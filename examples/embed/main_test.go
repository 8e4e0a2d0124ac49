package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/topology"
)

// file is that of a network of so many ranks on a host, each bound to a core.
func file(t *testing.T, host string, ranks int) string {
	t.Helper()
	h, err := topology.NewHierarchy(ranks, nil, nil, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	g, err := topology.NewGraph(ranks, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := make([]model.Location, ranks)
	for i := range at {
		at[i] = model.Location{Host: host, Core: i}
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyFlat, R2: math.NaN()}}, &model.Settings{Locations: at})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network.json")
	if err := n.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEmbedOnOtherRanks: the file need not be of as many ranks, nor of this
// host; that of a machine with one core has one rank.
func TestEmbedOnOtherRanks(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	files := []string{"", file(t, "another", 4)}
	for _, ranks := range []int{1, 2, 8} {
		files = append(files, file(t, host, ranks))
	}
	for i, f := range files {
		for _, ranks := range []int{1, 2, 3} {
			if i > 0 && ranks != 1+i%3 && !tooltest.Long() {
				continue
			}
			mode := local.Buffered
			if ranks == 2 && (i == 0 || tooltest.Long()) { // more would wait for each other on the cores
				mode = local.Pinned
			}
			err := local.Run(ranks, &local.Settings{Mode: mode}, func(comm mpi.Communicator) error { return work(comm, f) })
			if err != nil {
				t.Error(fmt.Errorf("file %d, %d ranks: %w", i, ranks, err))
			}
		}
	}
}
