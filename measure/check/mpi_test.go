package check

import (
	"context"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// The ranks share one host, and maybe one core: that the check ends, and with measurements of all, is
// what can be tested. Of too few ranks it is an error on all.
func TestMPIMeasure(t *testing.T) {
	comm := mpitest.MPIWorld(t)
	n := comm.Size()
	s := &Settings{Bytes: 16 << 10}
	if n > 1 {
		c, err := gen.Parse("star:" + string(rune('0'+min(n, 9))))
		if err != nil {
			t.Fatal(err)
		}
		s.Graph = c.Graph
	}
	r, err := Measure(context.Background(), comm, s)
	switch {
	case n < fewestHosts:
		if err == nil || !strings.Contains(err.Error(), "want at least") {
			t.Errorf("%d ranks: %v", n, err)
		}
	case err != nil:
		t.Fatal(err)
	case comm.Rank() == 0 && (!r.Complete || r.Pairs < screenings*(n/2)):
		t.Errorf("%d ranks: complete %t after %d pairs", n, r.Complete, r.Pairs)
	}
	if n < fewestHosts {
		return
	}
	run, err := Sample(context.Background(), comm, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if comm.Rank() == 0 && len(run.Points) < 3*n {
		t.Errorf("%d ranks: a sample of %d points", n, len(run.Points))
	}
	s.Load, s.Bytes = true, 1<<20
	if r, err = Measure(context.Background(), comm, s); err != nil {
		t.Fatal(err)
	}
	if comm.Rank() == 0 && (!r.Complete || r.Rounds != loadScreenings+loadNarrowings) {
		t.Errorf("%d ranks: complete %t after %d rounds under load", n, r.Complete, r.Rounds)
	}
}
