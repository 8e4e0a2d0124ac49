package servet

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/topology/linkage"
)

// discovered is the network of a machine that was found by its latencies, with what was
// measured inside its hosts, from its file.
func discovered(t *testing.T, spec string, resources []model.Resource) *model.Network {
	t.Helper()
	cluster, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	latencies, err := cluster.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	found, err := (&linkage.Robust{}).Reconstruct(latencies)
	if err != nil {
		t.Fatal(err)
	}
	s := model.Settings{Resources: resources, Measured: model.Metadata{Bytes: 8}}
	for rank, host := range cluster.Node {
		s.Locations = append(s.Locations, model.Location{Host: fmt.Sprint("host", host), Core: rank})
	}
	n, err := model.New(found, &s)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	if n, err = model.Read(&file); err != nil {
		t.Fatal(err)
	}
	return n
}

func firstPlaces(t *testing.T, n *model.Network, ranks int) string {
	t.Helper()
	place, err := placement.Servet{MemoryBound: true}.Place(n, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(place)
}
