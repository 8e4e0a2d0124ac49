package servet

import (
	"context"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// A spread communicator says that each of its ranks, or two of them, have a host of their own, for all run on one.
type spread struct {
	*mpi.Comm
	perHost int
}

func (s spread) Place() mpi.Place {
	p := s.Comm.Place()
	p.Host, p.Core = fmt.Sprint("host", s.Rank()/s.perHost), s.Rank()%s.perHost
	return p
}

func (s spread) Split(color, key int) (mpi.Communicator, error) {
	c, err := s.Comm.Split(color, key)
	if c == nil || err != nil {
		return nil, err
	}
	return spread{c.(*mpi.Comm), s.perHost}, nil
}

func TestMPIDistanceAndAccess(t *testing.T) {
	c := mpitest.MPIWorld(t)
	for _, perHost := range []int{1, 2} {
		for i, of := range []measurement{Distance, Access} {
			r, err := of(context.Background(), spread{c, perHost}, &Settings{Bytes: 1 << 20, Repetitions: 3})
			if err != nil {
				t.Fatal(err)
			}
			if (r != nil) != (c.Rank() == 0) {
				t.Errorf("rank %d: result is %v", c.Rank(), r)
			}
			if r == nil {
				continue
			}
			hosts := (c.Size() + perHost - 1) / perHost
			steps := hosts / 2
			if i == 1 {
				steps = 0
				for k := 1; k <= perHost && hosts >= 2 && 2*k <= c.Size(); k++ {
					steps++
				}
			}
			if len(r.Hosts) != hosts || len(r.Steps) != steps {
				t.Errorf("%s: %d steps on %d hosts, want %d on %d", r.What, len(r.Steps), len(r.Hosts), steps, hosts)
			}
			for _, s := range r.Steps {
				if !(s.Bandwidth() > 0) || len(s.Bandwidths) != 3 {
					t.Errorf("%s at %d: %v B/s", r.What, s.At, s.Bandwidths)
				}
			}
			if t.Logf("%s: B/s %.3g, warnings %q", r.What, r.bandwidths(), r.Warnings); len(observations(r)) != steps {
				t.Errorf("%s: %d observations", r.What, len(observations(r)))
			}
		}
	}
}

func TestMPIInsideHosts(t *testing.T) {
	c := mpitest.MPIWorld(t)
	s := &InsideSettings{Bytes: 256 << 10, Repetitions: 1}
	m, err := Memory(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Caches(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	told, warnings, err := FromSystem(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if (m != nil) != (c.Rank() == 0) || (k != nil) != (c.Rank() == 0) || (told != nil) != (c.Rank() == 0) {
		t.Errorf("rank %d: results %v, %v, %v", c.Rank(), m, k, told)
	}
	if m == nil {
		return
	}
	t.Log(m, m.Resources, k.Resources, told, warnings)
	n := c.Size()
	if len(m.Alone) != n || pairsMeasured(m) != n*(n-1)/2 || len(k.Access) != 1 {
		t.Errorf("%d ranks and %d pairs of memory, %d curves of caches", len(m.Alone), pairsMeasured(m), len(k.Access))
	}
	for rank, b := range m.Alone {
		if !(b > 0 && m.Together[rank] > 0) {
			t.Errorf("rank %d: %g B/s alone, %g together", rank, b, m.Together[rank])
		}
	}
}
