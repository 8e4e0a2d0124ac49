package bcast_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A wiring says how the hosts of a machine are spread over its leaf switches, of which cells are groups.
type wiring [][]int // per cell, hosts per leaf

// leonardo is the wiring of that machine, nil where it does not lie beside the module.
func leonardo(t testing.TB) wiring {
	t.Helper()
	data, ok := published.Beside()
	if !ok {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(data, "wirings", "leonardo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cells wiring }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cells
}

// A seat is where a host is.
type seat struct{ cell, leaf, onLeaf int } // leaf of the machine; hosts on it

// job draws hosts as a scheduler would give them: the machine is full of jobs of 1 to 256 hosts in the order of the
// switches, of which three in ten have ended, and the job gets the free hosts after a random one.
func (w wiring) job(rng *rand.Rand, hosts int) []seat {
	const ended, largest = 0.3, 8 // largest: as a power of two
	var all []seat
	leaf := 0
	for c, sizes := range w {
		for _, n := range sizes {
			for range n {
				all = append(all, seat{c, leaf, n})
			}
			leaf++
		}
	}
	free := make([]bool, len(all))
	for at := 0; at < len(all); {
		size, isFree := 1<<rng.IntN(largest+1), rng.Float64() < ended
		for ; size > 0 && at < len(all); size, at = size-1, at+1 {
			free[at] = isFree
		}
	}
	var got []seat
	for i, first := 0, rng.IntN(len(all)); i < len(all) && len(got) < hosts; i++ {
		if at := (first + i) % len(all); free[at] {
			got = append(got, all[at])
		}
	}
	return got
}

// Rates of Leonardo, 23 cells of up to 18 leaf and 18 spine switches with ports of 200 Gbit/s (Turisini, Amati, Cestari
// 2023, LEONARDO: a pan-European pre-exascale supercomputer; CINECA's page of its hardware): a host with GPUs, ten on a
// leaf, has 400 Gbit/s, one without, up to forty on a leaf, 100; a leaf has one link to each spine of its cell, and
// each spine one to each other cell. Latencies are not published: these make 1.1 us within a leaf, 1.6 within a cell and
// 2.2 between cells, with the overhead of both sides.
const (
	gpuHost, host   = 400e9 / 8, 100e9 / 8 // B/s
	trunk           = 18 * 200e9 / 8       // B/s, of leaves, and between two cells
	fewHosts        = 16                   // on a leaf: they have GPUs
	toLeaf, toSpine = 0.3e-6, 0.25e-6      // s
	toCell          = 0.6e-6               // s
	overhead        = 0.25e-6              // s, of either side
)

// machine is the part of the wiring that the seats need: a spine stands for all of a cell.
func machine(t testing.TB, seats []seat) *simulated {
	t.Helper()
	hosts := len(seats)
	var cells, leaves []int // vertices
	vertex := map[[2]int]int{}
	var arcs []topology.Arc
	next := hosts
	for h, p := range seats {
		cell, leaf := [2]int{p.cell, -1}, [2]int{p.cell, p.leaf}
		if _, known := vertex[cell]; !known {
			vertex[cell] = next
			for _, other := range cells {
				arcs = topology.AppendLink(arcs, next, other, toCell, trunk)
			}
			cells = append(cells, next)
			next++
		}
		if _, known := vertex[leaf]; !known {
			vertex[leaf] = next
			arcs = topology.AppendLink(arcs, next, vertex[cell], toSpine, trunk)
			leaves = append(leaves, next)
			next++
		}
		rate := float64(host)
		if p.onLeaf <= fewHosts {
			rate = gpuHost
		}
		arcs = topology.AppendLink(arcs, h, vertex[leaf], toLeaf, rate)
	}
	g, err := topology.NewGraph(hosts, len(cells)+len(leaves), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	s := &simnet.Settings{Send: simnet.Overhead{Seconds: overhead}, Recv: simnet.Overhead{Seconds: overhead}, HollowAbove: 1}
	return &simulated{graph: g, settings: s, network: discover(t, g, nil, s)}
}

// named are broadcasts of others, over ranks of which they know nothing, for so many bytes.
func named(bytes int) map[string]schedule.Algorithm {
	return map[string]schedule.Algorithm{
		"binomial": schedule.Binomial{}, "bine": classic.Bine{}, "scatter-ring": classic.ScatterRing{},
		"scatter-doubling": classic.ScatterDoubling{}, "Open MPI": openMPI(bytes),
	}
}

// openMPI is what Open MPI 4.1 takes by default for 256 to 1,023 ranks, always with whole messages: see
// ompi_coll_tuned_bcast_intra_dec_fixed in its ompi/mca/coll/tuned/coll_tuned_decision_fixed.c. Its k-nomial tree has
// radix 4 (coll_tuned_bcast_algorithm_knomial_radix).
func openMPI(bytes int) schedule.Algorithm {
	for _, row := range []struct {
		below     int // bytes
		algorithm schedule.Algorithm
	}{
		{16384, schedule.KNomial{Radix: 4}},
		{32768, schedule.SplitBinary{}},
		{math.MaxInt, schedule.KNomial{Radix: 4}},
	} {
		if bytes < row.below {
			return row.algorithm
		}
	}
	return nil
}

// unaware is the time in s of an algorithm that knows nothing of the machine, in the better way to carry it out.
func (m *simulated) unaware(t testing.TB, a schedule.Algorithm, bytes int) float64 {
	t.Helper()
	best := math.Inf(1)
	for _, blocking := range []bool{false, true} {
		plan := predict.Plan{Algorithm: a, Blocking: blocking}
		m.timeIn(t, &plan, schedule.Problem{Ranks: m.network.Ranks(), Bytes: bytes})
		best = min(best, plan.Measured)
	}
	return best
}

// row compares ours with the named ones: how many times as long the best of these takes as our plan
// by prediction, and as our plan after timing.
func (m *simulated) row(t testing.TB, bytes, least int) (text string, predicted, tuned float64) {
	t.Helper()
	plans := m.contenders(bytes)
	first := plans[0]
	m.time(t, &first, bytes)
	plan := m.tuned(t, plans, bytes, least)
	var b strings.Builder
	fmt.Fprintf(&b, "%9s: predicted best %9.2f us, tuned %9.2f;", quantity.Bytes(bytes), 1e6*first.Measured, 1e6*plan.Measured)
	best := math.Inf(1)
	all := named(bytes)
	for _, name := range []string{"binomial", "bine", "scatter-ring", "scatter-doubling", "Open MPI"} {
		seconds := m.unaware(t, all[name], bytes)
		fmt.Fprintf(&b, " %s %.2f", name, 1e6*seconds)
		best = min(best, seconds)
	}
	fmt.Fprintf(&b, "; %s, tuned %s", first.How(), plan.How())
	return b.String(), best / first.Measured, best / plan.Measured
}

// 256 hosts of Leonardo as jobs get them, ranks in the order of the hosts: 32 B to 512 MiB, ours on the network that was discovered there
// against broadcasts that others use. Messages are hollow, and the longest are cut in at most 256 segments.
func BenchmarkLeonardo(b *testing.B) {
	w := leonardo(b)
	if w == nil {
		b.Skip("Leonardo's wiring may not enter the repository, and is not beside it")
	}
	const ranks, few = 256, 256
	for seed := range uint64(2) {
		b.Run(fmt.Sprintf("job=%d", seed), func(b *testing.B) {
			for b.Loop() {
				m := machine(b, w.job(rand.New(rand.NewPCG(seed, 0)), ranks))
				least := math.Inf(1)
				leastPredicted, gain, n := math.Inf(1), 0.0, 0
				for bytes := 32; bytes <= 512<<20; bytes *= 8 {
					start := time.Now()
					m.message = make([]byte, bytes)
					text, predicted, tuned := m.row(b, bytes, max(usual, bytes/few))
					least, leastPredicted = min(least, tuned), min(leastPredicted, predicted)
					gain += math.Log(tuned)
					n++
					b.Logf("%s (%v)", text, time.Since(start).Round(time.Second))
				}
				b.ReportMetric(least, "least-gain")
				b.ReportMetric(leastPredicted, "least-gain-predicted")
				b.ReportMetric(math.Exp(gain/float64(n)), "gain-gm")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// On 40 hosts of a made-up machine nothing named is faster.
func TestNamedBroadcastsAreNotFaster(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundreds of broadcasts")
	}
	w := wiring{{10, 10, 10, 10}, {10, 10, 10}, {40, 40}}
	m := machine(t, w.job(rand.New(rand.NewPCG(3, 0)), 40))
	sizes := []int{32, 16 << 10}
	if tooltest.Long() {
		sizes = append(sizes, 256<<10)
	}
	for _, bytes := range sizes {
		m.message = make([]byte, bytes)
		text, _, tuned := m.row(t, bytes, usual)
		if tuned < 1 {
			t.Errorf("%s", text)
		}
	}
}
