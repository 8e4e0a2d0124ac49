package cli

import (
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestOverheadsOf: the overheads are those of the finest level that has both.
func TestOverheadsOf(t *testing.T) {
	c, err := simnet.ParseCluster("tree:2x2")
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.FromGraph(c.Graph, c.Routing)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, known := overheadsOf(n); known {
		t.Error("a graph alone has overheads")
	}
	n, err = n.With(func(s *model.Settings) {
		for i := range s.Levels {
			s.Levels[i].Send, s.Levels[i].Recv = []float64{float64(1+i) * 1e-6}, []float64{float64(3+i) * 1e-6}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if send, recv, known := overheadsOf(n); !known || send != 1e-6 || recv != 3e-6 {
		t.Errorf("overheadsOf = %g, %g, %v, want 1e-6, 3e-6", send, recv, known)
	}
}
