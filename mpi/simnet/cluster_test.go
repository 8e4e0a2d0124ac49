package simnet_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Two racks of two hosts: 5 us per link, so four links across take 20 us and
// two within 10 us.
func ExampleParseCluster() {
	cluster, err := simnet.ParseCluster("tree:2x2 latency=5us")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error {
		switch c.Rank() {
		case 0:
			if err := c.Send(nil, 1, 0); err != nil {
				return err
			}
			return c.Send(nil, 3, 0)
		case 1, 3:
			if err := c.Recv(nil, 0, 0); err != nil {
				return err
			}
			fmt.Printf("rank %d on %s: %.0f us\n", c.Rank(), c.(mpi.Placed).Place().Host, c.(mpi.Clock).Now()*1e6)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// rank 1 on h1: 10 us
	// rank 3 on h3: 20 us
}

func TestParseCluster(t *testing.T) {
	cores, err := simnet.ParseCluster("host:2 socket:2 core:2 routing=ecmp")
	if err != nil {
		t.Fatal(err)
	}
	s := cores.Settings()
	if want := []int{0, 0, 0, 0, 1, 1, 1, 1}; !slices.Equal(s.Node, want) || s.Routing != cores.Routing || s.Routing == 0 {
		t.Errorf("settings have Node %d and Routing %v, want %d and that of the cluster", s.Node, s.Routing, want)
	}
	err = simnet.Run(cores.Graph, []int{5}, s, func(c mpi.Communicator) error {
		if at := c.(mpi.Placed).Place(); at.Host != "n1" || at.Core != 1 {
			return fmt.Errorf("rank on core %d of %s, want 1 of n1", at.Core, at.Host)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	hosts, err := simnet.ParseCluster("star:3")
	if err != nil || hosts.Node != nil || hosts.Hierarchy == nil {
		t.Errorf("a cluster of hosts = %+v, %v, want no Node and a Hierarchy", hosts, err)
	}
	if _, err := simnet.ParseCluster("tree:2xa"); err == nil || !strings.Contains(err.Error(), "column 8") {
		t.Errorf("ParseCluster of nonsense = %v, want the column", err)
	}
}

// Users read here what package gen, which they cannot import, says.
func TestParseClusterTellsTheWholeGrammar(t *testing.T) {
	inside, err := os.ReadFile("../../internal/gen/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, grammar, _ := strings.Cut(string(inside), "use the same strings:\n//\n")
	grammar, _, found := strings.Cut(grammar, "//\n// # Design")
	if !found || len(grammar) < 2000 {
		t.Fatalf("no grammar in the text of package gen: %q", grammar)
	}
	here, err := os.ReadFile("cluster.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(here), strings.TrimSpace(grammar)) {
		t.Error("the text of ParseCluster is not that of package gen")
	}
}
