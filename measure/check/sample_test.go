package check

import (
	"context"
	"reflect"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// pairsRead are the pairs that a run has, each once.
func pairsRead(r *Run) map[[2]string]bool {
	all := map[[2]string]bool{}
	for _, p := range r.Points {
		if !p.Long {
			all[[2]string{min(p.From, p.To), max(p.From, p.To)}] = true
		}
	}
	return all
}

// Each run reads the same pairs; without a host the others, and with a new one some more.
func TestSampleReadsTheSamePairs(t *testing.T) {
	for _, graph := range []bool{true, false} {
		m := newMachine(t, "tree:4x8x4", 1)
		s := m.settings(1)
		if !graph {
			s.Graph = nil
		}
		n := m.cluster.Graph.Hosts()
		first, err := takeSample(context.Background(), &job{hosts: n, names: m.cluster.Graph.Names()[:n], measure: m.read}, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		pairs := pairsRead(first)
		of := map[string]int{}
		for p := range pairs {
			of[p[0]]++
			of[p[1]]++
		}
		for h, k := range of {
			if k < fewPartners {
				t.Errorf("host %s is in %d pairs", h, k)
			}
		}
		if len(of) != n || len(pairs) > 4*n {
			t.Errorf("%d pairs of %d of %d hosts", len(pairs), len(of), n)
		}
		s.Seed = 99
		second, err := takeSample(context.Background(), &job{hosts: n, names: m.cluster.Graph.Names()[:n], measure: m.read}, s, []Run{*first})
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for p := range pairsRead(second) {
			if !pairs[p] {
				missing++
			}
		}
		if missing > 0 || len(pairsRead(second)) < len(pairs) {
			t.Errorf("graph %t: second run has %d pairs, %d new, of %d", graph, len(pairsRead(second)), missing, len(pairs))
		}
		var known []Point
		for _, p := range first.Points {
			if p.From != "h5" && p.To != "h5" {
				known = append(known, p)
			}
		}
		third, err := takeSample(context.Background(), &job{hosts: n, names: m.cluster.Graph.Names()[:n], measure: m.read}, s, []Run{{Points: known}})
		if err != nil {
			t.Fatal(err)
		}
		newcomer := 0
		for p := range pairsRead(third) {
			if p[0] == "h5" || p[1] == "h5" {
				newcomer++
			}
		}
		if newcomer < fewPartners {
			t.Errorf("graph %t: the new host is in %d pairs", graph, newcomer)
		}
	}
}

// Of matrices of latencies, which have all pairs, a run takes few, and the next one takes the same.
func TestSampleTakesFewPairsOfMatrices(t *testing.T) {
	m := newMachine(t, "tree:4x8", 1)
	names := m.cluster.Graph.Names()[:32]
	matrix := Run{}
	for i, a := range names {
		for _, b := range names[:i] {
			if (i+len(b))%3 > 0 { // not of all pairs
				matrix.Points = append(matrix.Points, Point{From: a, To: b, Seconds: 1})
			}
		}
	}
	runs, known := []Run{matrix}, pairsRead(&matrix)
	for range 2 {
		run, err := takeSample(context.Background(), &job{hosts: 32, measure: m.read}, m.settings(1), runs)
		if err != nil {
			t.Fatal(err)
		}
		pairs := pairsRead(run)
		for p := range pairs {
			if !known[p] {
				t.Errorf("pair %v is of no run before", p)
			}
		}
		if len(pairs) > fewPartners*32 {
			t.Errorf("%d pairs of 32 hosts, want at most %d", len(pairs), fewPartners*32)
		}
		runs, known = append(runs, *run), pairs
	}
}

// A run of which nothing was read is none.
func TestSampleOfNothing(t *testing.T) {
	nothing := func(context.Context, [][2]int) ([]measurement, error) { return nil, nil }
	if run, err := takeSample(context.Background(), &job{hosts: 8, names: make([]string, 8), measure: nothing}, nil, nil); err == nil {
		t.Errorf("run %+v, want an error", run)
	}
}

func TestSampleOnLocal(t *testing.T) {
	m := newMachine(t, "star:5", 1)
	err := local.Run(5, nil, func(comm mpi.Communicator) error {
		s := &Settings{Graph: m.cluster.Graph, Bytes: 4096}
		first, err := Sample(context.Background(), comm, s, nil)
		if err != nil || comm.Rank() != 0 {
			if first != nil && comm.Rank() != 0 {
				t.Errorf("rank %d has a run", comm.Rank())
			}
			if err == nil {
				_, err = Sample(context.Background(), comm, s, nil)
			}
			return err
		}
		second, err := Sample(context.Background(), comm, s, []Run{*first})
		if err == nil && !reflect.DeepEqual(pairsRead(first), pairsRead(second)) {
			t.Errorf("pairs %v, then %v", pairsRead(first), pairsRead(second))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A rank that stands still spoils one sample of a measurement: no change is told of a site on which nothing changes.
func TestWatchWhileRanksStandStill(t *testing.T) {
	c, err := simnet.ParseCluster("tree:2x4 latency=10us,5us")
	if err != nil {
		t.Fatal(err)
	}
	var runs []Run
	for day := range 16 {
		settings := noisy(t, c, standingStill)
		settings.Seed = uint64(day)
		err := simnet.Run(c.Graph, nil, settings, func(comm mpi.Communicator) error {
			run, err := Sample(context.Background(), comm, &Settings{Bytes: 256 << 10, Seed: 1, Graph: c.Graph, Routing: c.Routing}, runs)
			if run != nil {
				runs = append(runs, *run)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Watch(runs, &WatchSettings{Graph: c.Graph, Routing: c.Routing})
	if err != nil || len(r.Changes) > 0 || r.Samples < 300 {
		t.Errorf("of %d samples: changes %+v, %v", r.Samples, r.Changes, err)
	}
}
