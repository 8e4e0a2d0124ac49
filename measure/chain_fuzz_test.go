package measure_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
)

// randomCluster is a small machine of any kind, by a seed.
func randomCluster(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	k := func(least, most int) int { return least + r.IntN(most-least+1) }
	var spec string
	switch r.IntN(8) {
	case 0:
		spec = fmt.Sprintf("star:%d", k(1, 12))
	case 1:
		spec = fmt.Sprintf("tree:%dx%d", k(1, 4), k(1, 4))
	case 2:
		spec = fmt.Sprintf("tree:%dx%dx%d", k(1, 3), k(1, 3), k(1, 3))
	case 3:
		spec = fmt.Sprintf("tree:[%d,%d,%d]x%d", k(1, 4), k(1, 3), k(1, 3), k(1, 2))
	case 4:
		spec = fmt.Sprintf("ring:%d hosts=%d", k(3, 6), k(0, 3))
	case 5:
		spec = fmt.Sprintf("torus:%dx%d hosts=%d", k(2, 4), k(2, 3), k(0, 2))
	case 6:
		spec = fmt.Sprintf("fattree:%d,%d", k(2, 4), k(2, 4))
	default:
		spec = fmt.Sprintf("dragonfly:%d,2,1", k(1, 3))
	}
	return fmt.Sprintf("%s latency=%dus spread=%d%% rate-spread=%d%% seed=%d shuffle", spec, k(1, 30), k(0, 60), k(0, 60), k(0, 99))
}

// FuzzChain goes the whole way on a random machine: measured, with gaps where
// rounds are few, written, read, and then predicted, placed, compared and
// broadcast on. Whatever the times, the file is one that all can work with.
func FuzzChain(f *testing.F) {
	if testing.Short() {
		f.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
	const withBudget = 15
	seeds := uint64(8)
	if tooltest.Long() {
		seeds = 16
	}
	for seed := range seeds {
		f.Add(seed, uint8(seed%4/3*withBudget)) // every fourth with a budget
	}
	began, ended := uint64(0), uint64(0) // of these, with a budget
	f.Cleanup(func() {
		if began == seeds/4 && ended < began {
			f.Errorf("%d of %d machines measured within a budget were used, want all", ended, began)
		}
	})
	f.Fuzz(func(t *testing.T, seed uint64, missing uint8) {
		counts := seed < seeds && missing == withBudget
		if counts {
			began++
		}
		spec := randomCluster(seed)
		cluster, err := gen.Parse(spec)
		if err != nil {
			t.Skip(err) // such as a torus of one row
		}
		var n *model.Network
		err = simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: hollowAbove}, func(c mpi.Communicator) error {
			d, err := measure.Discover(context.Background(), c, &measure.DiscoverSettings{
				Sampling: measure.Sampling{Repetitions: 1 + int(missing>>4)%2, Samples: 1, Seed: seed},
				Patterns: int(seed%3)*6 - 1,
				Control:  harness.Control{Budget: time.Duration(missing&15) * chainBudget},
			})
			if d != nil {
				n = d.Network
			}
			return err
		})
		tooEarly := err != nil && (errors.Is(err, topology.ErrDisconnected) || strings.Contains(err.Error(), "ended before the first of"))
		if tooEarly && missing&15 > 0 {
			t.Skip(err) // the budget ended before there was anything
		}
		if err != nil {
			t.Fatalf("%s: discover: %v", spec, err)
		}
		var file bytes.Buffer
		if err := n.Write(&file); err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		first := file.String()
		if n, err = model.Read(&file); err != nil {
			t.Fatalf("%s: our own file is refused: %v", spec, err)
		}
		var again bytes.Buffer
		if err := n.Write(&again); err != nil || again.String() != first {
			t.Fatalf("%s: written again, the file is another: %v", spec, err)
		}
		for _, a := range n.Graph().Arcs() {
			if math.IsNaN(a.Bandwidth) && missing&15 > 0 {
				t.Skip("the budget ended before the first long message")
			}
		}
		checkUses(t, spec, n, cluster)

		// A job on some of the places, in another order.
		r := rand.New(rand.NewPCG(seed, 2))
		var at []model.Location
		for _, rank := range r.Perm(n.Ranks())[:1+r.IntN(n.Ranks())] {
			at = append(at, n.Location(rank))
		}
		view, err := n.View(at)
		if err != nil {
			t.Fatalf("%s: view: %v", spec, err)
		}
		checkPredictions(t, spec, view)
		if counts {
			ended++
		}
	})
}

// chainBudget is what the budgets of FuzzChain are multiples of.
const chainBudget = 14 * time.Millisecond

func checkPredictions(t *testing.T, spec string, n *model.Network) {
	t.Helper()
	var all []model.Transfer
	for src := range n.Ranks() {
		for dst := range n.Ranks() {
			if src == dst {
				continue
			}
			before := 0.0
			for _, bytes := range []int64{0, 8, 64 << 10, 1 << 20, 1 << 30} {
				if now := n.Time(src, dst, bytes); !(now >= before) || math.IsInf(now, 0) {
					t.Fatalf("%s: Time(%d, %d, %d) = %g, %g for fewer bytes", spec, src, dst, bytes, now, before)
				} else {
					before = now
				}
			}
			all = append(all, model.Transfer{Src: src, Dst: dst, Bytes: int64(1 + src*1000*dst)})
		}
	}
	times, err := n.Predict(nil, all)
	if err != nil {
		t.Fatalf("%s: predict: %v", spec, err)
	}
	for i, x := range times {
		if !(x > 0) || math.IsInf(x, 0) {
			t.Fatalf("%s: %v is predicted to take %g s", spec, all[i], x)
		}
	}
}

func checkUses(t *testing.T, spec string, n *model.Network, cluster *gen.Cluster) {
	t.Helper()
	checkPredictions(t, spec, n)
	ranks := n.Ranks()
	if _, err := (placement.Servet{}).Place(n, (ranks+1)/2); err != nil {
		t.Fatalf("%s: place: %v", spec, err)
	}
	if _, err := compare.Groups(n.Hierarchy(), cluster.Hierarchy); err != nil {
		t.Fatalf("%s: compare: %v", spec, err)
	}
	if _, err := predict.Plans(n, nil, 64<<10, ranks-1); err != nil {
		t.Fatalf("%s: plans: %v", spec, err)
	}
	err := simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: hollowAbove}, func(c mpi.Communicator) error {
		b, err := bcast.New(c, &bcast.Settings{Network: n, ModelOnly: true})
		if err != nil {
			return err
		}
		buf := make([]byte, 10000)
		if c.Rank() == ranks-1 {
			buf[9999] = 42
		}
		if err := b.Bcast(buf, ranks-1); err != nil {
			return err
		}
		if buf[9999] != 42 {
			return fmt.Errorf("rank %d has not got the last byte", c.Rank())
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: broadcast: %v", spec, err)
	}
}
