package simnet_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/smpi"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// By hand: eight ranks on a switch, routes of 10 us, and 1000 B take 0.8 us of a link. Short messages
// leave at once, so what a rank sends shares its link: three messages of rank 0 arrive
// after 10 us + 3 x 0.8 us, the two of rank 4 as much later as 10 us + 2 x 0.8 us, and so on.
func TestBinomialBroadcastByHand(t *testing.T) {
	buf := make([]byte, 1000)
	got := finish(t, graphOf(t, "star:8"), nil, &simnet.Settings{}, func(c mpi.Communicator) error { return binomial(c, buf) })
	one, two, three := 10.8e-6, 11.6e-6, 12.4e-6
	wantTimes(t, got[1:], three, three, three+one, three, three+two, three+two, three+two+one)
}

// The recorded times of SMPI's binomial broadcast over 256 ranks, four on each
// host, on four platforms, in rank order and shuffled, from 8 B to 8 MiB: the
// largest difference is 2.3 %.
func TestBinomialBroadcastTakesSMPIsTime(t *testing.T) {
	cells, dir, err := smpi.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) == 0 {
		t.Skip("SMPI's times may not enter the repository, and are not beside it; TestBinomialBroadcastByHand does without")
	}
	graphs := map[string]*topology.Graph{}
	buf := make([]byte, 8<<20)
	worst := 0.0
	for _, cell := range cells {
		want, ok := cell.All["binomial_tree"]
		if !ok {
			continue
		}
		if graphs[cell.Platform] == nil {
			if graphs[cell.Platform], err = smpi.Platform(cell.PlatformFile(dir)); err != nil {
				t.Fatal(err)
			}
		}
		placement, err := smpi.Hosts(cell.HostFile(dir))
		if err != nil {
			t.Fatal(err)
		}
		report, err := simnet.Simulate(graphs[cell.Platform], placement, smpi.Settings(), func(c mpi.Communicator) error { return binomial(c, buf[:cell.Bytes]) })
		if err != nil {
			t.Fatal(err)
		}
		got := report.Seconds * 1e6
		worst = max(worst, math.Abs(got/want-1))
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s, %s, %d bytes: %.1f us, SMPI has %.1f", cell.Platform, cell.Placement, cell.Bytes, got, want)
		}
	}
	t.Logf("worst relative difference %.4f", worst)
}
