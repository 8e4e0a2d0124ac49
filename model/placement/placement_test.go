package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// network is that of a specification, hosts located on the machines that the
// generator says.
func network(t testing.TB, spec string, s model.Settings) *model.Network {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	cores := map[int]int{}
	for _, node := range c.Node {
		s.Locations = append(s.Locations, model.Location{Host: fmt.Sprintf("n%d", node), Core: cores[node]})
		cores[node]++
	}
	for i := range len(c.Hierarchy.Levels()) + 1 {
		s.LevelBandwidth = append(s.LevelBandwidth, 10e9/math.Pow(4, float64(i)))
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}}, &s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// slowNetwork has two hosts of two sockets of four cores, and Servet's ratios
// as measured on HECToR in kind (Servet 3.0, section 5): two processes per host, one
// per processor, do not disturb each other, four do.
func slowNetwork(t testing.TB) *model.Network {
	return network(t, "core:4 socket:2 host:2", model.Settings{
		Degradation: &model.Degradation{Access: []float64{math.NaN(), 1, 1.02, math.NaN(), 1.9, 3.5}},
	})
}

// Reference: Servet 3.0, section 6.2: with the rule of network access the
// mapping allocates one process per processor first.
func TestServetSpreadsOverProcessors(t *testing.T) {
	n := slowNetwork(t)
	for _, memoryBound := range []bool{false, true} {
		place, err := Servet{MemoryBound: memoryBound}.Place(n, 4)
		if err != nil {
			t.Fatal(err)
		}
		var sockets []int
		for _, p := range place {
			sockets = append(sockets, p/4)
		}
		slices.Sort(sockets)
		if fmt.Sprint(sockets) != "[0 1 2 3]" {
			t.Errorf("memory bound %v: places %v: processors %v, want one each", memoryBound, place, sockets)
		}
	}
}

// Two hosts of two processors, each one way to the network: two ranks per host, one per processor. Where four slow each
// other down as four on one way do, it is one; where nothing does, all eight. With a bound no host gets more.
func TestRanksPerHost(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		access []float64
		want   int
	}{{[]float64{nan, 1, 1.02, nan, 1.9, 3.5}, 2}, {[]float64{nan, 1, 2, nan, 4}, 1}, {[]float64{nan, 1, 1.1, nan, 1.3, nan, nan, nan, 1.4}, 8}, {[]float64{nan, 1}, 0}, {nil, 0}} {
		s := model.Settings{}
		if c.access != nil {
			s.Degradation = &model.Degradation{Access: c.access}
		}
		got, err := RanksPerHost(network(t, "core:4 socket:2 host:2", s))
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("ratios %v: %d, %v, want %d", c.access, got, err, c.want)
		}
	}
	n := network(t, "core:4 socket:2 host:2", model.Settings{})
	for _, ranks := range []int{3, 6} {
		place, err := Servet{PerHost: 3}.Place(n, ranks)
		if err != nil {
			t.Fatal(err)
		}
		onHost := [2]int{}
		for _, p := range place {
			onHost[p/8]++
		}
		if onHost[0] > 3 || onHost[1] > 3 {
			t.Errorf("%d ranks: places %v, want at most 3 per host", ranks, place)
		}
	}
	if _, err := (Servet{PerHost: 3}).Place(n, 7); err == nil {
		t.Error("7 ranks on two hosts of at most 3 are placed")
	}
	if _, err := (Servet{PerHost: -1}).Place(n, 1); err == nil {
		t.Error("at most -1 ranks per host are taken")
	}
}

// By hand: 100 ns within a socket, 300 ns within a host, 2.3 us between hosts.
// After core 0 of a communication-intensive code its socket has 1 -
// 10 (1 - 0.1/2.3) = -8.57, the other one -10 (1 - 0.3/2.3) = -8.70, the
// other host 0: the other socket is next. Where sockets share nothing the first one is filled.
// Of a memory-bound code the socket has 10 - 0.96, the other one -0.87.
func TestServetWeighsByCode(t *testing.T) {
	const spec = "core:4 socket:2 host:2 latency=1us,100ns,50ns"
	nothingShared := model.Settings{Resources: []model.Resource{{Kind: topology.KindNUMA, Bandwidth: math.NaN()}}}
	for _, c := range []struct {
		name     string
		s        Servet
		settings model.Settings
		want     string
	}{
		{"communication-intensive", Servet{}, model.Settings{}, "[0 4]"},
		{"communication-intensive, nothing shared", Servet{}, nothingShared, "[0 1 2 3]"},
		{"memory-bound", Servet{MemoryBound: true}, model.Settings{}, "[0 4]"},
	} {
		n := network(t, spec, c.settings)
		got, err := c.s.take(n, strings.Count(c.want, " ")+1)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: places %v, want %s", c.name, got, c.want)
		}
	}
}

// By hand: 100 ns within a socket, 500 ns within a host, 2.5 us between hosts. What a core shares with its socket is
// worth 1 of a communication-intensive code, and 1 - 10 (1 - 0.1/2.5) = -8.6 is below -10 (1 - 0.5/2.5) = -8, and so on
// until the socket is full. Of a memory-bound code 10 - 0.96 is above -0.8.
func TestServetFillsASocketThatIsNearEnough(t *testing.T) {
	n := network(t, "core:4 socket:2 host:2 latency=1us,200ns,50ns", model.Settings{})
	for memoryBound, want := range map[bool]string{false: "[0 1 2 3 4]", true: "[0 4]"} {
		got, err := Servet{MemoryBound: memoryBound}.take(n, strings.Count(want, " ")+1)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("memory bound %v: places %v, %v, want %s", memoryBound, got, err, want)
		}
	}
	if got, err := (Servet{}).Place(n, 1); err != nil || fmt.Sprint(got) != "[0]" {
		t.Errorf("one rank: %v, %v, want place 0", got, err)
	}
}

// The rank that talks most stands first, and then who talks most to those that stand, where it costs least: 2 with
// 1.5 MB, 1 with 1 MB to it, 3 with 0.5 MB to it, and 0 beside 3. By bytes alone 0 and 3 would go before 1.
func TestGreedyByHand(t *testing.T) {
	n := network(t, "core:2 socket:2", model.Settings{})
	m := mat.NewDense(4, 4, nil)
	m.Set(2, 1, 1e6)
	m.Set(3, 2, 0.5e6)
	m.Set(3, 0, 0.9e6)
	peers, err := peersOf(n, m)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(greedy(n, peers)); got != "[3 1 0 2]" {
		t.Errorf("places %s, want [3 1 0 2]", got)
	}
}

// Where it ends no exchange of two ranks, and no move of one to a free place, costs less by Cost.
func TestByTrafficEndsWhereNoExchangeGains(t *testing.T) {
	n := network(t, "core:3 socket:2 host:3", model.Settings{})
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 4))
		ranks := 8 + r.IntN(n.Ranks()-7)
		m := mat.NewDense(ranks, ranks, nil)
		for i := range ranks { // some only send and some only receive
			for range 2 {
				m.Set(i, r.IntN(ranks), math.Exp(14*r.Float64()))
			}
		}
		place, err := ByTraffic{}.Place(n, m)
		if err != nil {
			t.Fatal(err)
		}
		of := func(place []int) float64 {
			c, err := Cost(n, m, place)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		least := of(place)
		for a := range ranks {
			for to := range n.Ranks() {
				other := slices.Clone(place)
				if b := slices.Index(place, to); b >= 0 {
					other[b] = place[a]
				}
				other[a] = to
				if c := of(other); c < least*(1-1e-8) {
					t.Fatalf("seed %d: places %v cost %g, and %v only %g", seed, place, least, other, c)
				}
			}
		}
	}
}

// Ranks that are well off in their order stay in it; nobody is placed nowhere.
func TestByTrafficKeepsTheOrderThatIsAsGood(t *testing.T) {
	n := network(t, "core:2 socket:2", model.Settings{})
	m := mat.NewDense(4, 4, nil)
	m.Set(0, 1, 1e5)
	m.Set(2, 3, 1e6)
	for _, c := range []struct {
		traffic mat.Matrix
		want    string
	}{{m, "[0 1 2 3]"}, {mat.NewDense(3, 3, nil), "[0 1 2]"}, {&mat.Dense{}, "[]"}} {
		if got, err := (ByTraffic{}).Place(n, c.traffic); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("places %v, %v, want %s", got, err, c.want)
		}
	}
}

// pairs is traffic of 1 MB between ranks i and i + n/2.
func pairs(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n / 2 {
		m.Set(i, i+n/2, 1e6)
		m.Set(i+n/2, i, 1e6)
	}
	return m
}

func TestByTrafficPutsPartnersTogether(t *testing.T) {
	n := network(t, "core:4 socket:2 host:4", model.Settings{})
	traffic := pairs(n.Ranks())
	place, err := ByTraffic{}.Place(n, traffic)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n.Ranks() / 2 {
		if a, b := place[i], place[i+n.Ranks()/2]; a/4 != b/4 {
			t.Errorf("partners %d and %d on cores %d and %d of different sockets", i, i+n.Ranks()/2, a, b)
		}
	}
}

// No mapping of the small case is better: all 8! are tried.
func TestByTrafficIsBestOnSmallCases(t *testing.T) {
	n := network(t, "core:2 socket:2 host:2", model.Settings{})
	r := rand.New(rand.NewPCG(1, 1))
	found := 0
	const trials = 10
	for range trials {
		m := mat.NewDense(8, 8, nil)
		for range 12 {
			m.Set(r.IntN(8), r.IntN(8), float64(1000*(1+r.IntN(1000))))
		}
		place, err := ByTraffic{}.Place(n, m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Cost(n, m, place)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		order := make([]int, 8)
		var try func(k int, used int)
		peers, err := peersOf(n, m)
		if err != nil {
			t.Fatal(err)
		}
		try = func(k, used int) {
			if k == 8 {
				least = math.Min(least, cost(n, peers, order))
				return
			}
			for p := range 8 {
				if used&(1<<p) == 0 {
					order[k] = p
					try(k+1, used|1<<p)
				}
			}
		}
		try(0, 0)
		if got < least*(1-1e-9) {
			t.Fatalf("cost %g below the least of all mappings, %g", got, least)
		}
		if got <= least*1.1 {
			found++
		}
	}
	// A local search may stop short of the best; it should be within 10 % nearly always.
	if found < trials-1 {
		t.Errorf("within 10 %% of the best in %d of %d cases", found, trials)
	}
}

// The mapping by traffic costs no more than Servet's and than ranks in order.
func TestByTrafficBeatsServet(t *testing.T) {
	n := network(t, "core:4 socket:2 host:4", model.Settings{})
	r := rand.New(rand.NewPCG(2, 1))
	for trial := range 5 {
		ranks := 16 + 4*trial
		m := mat.NewDense(ranks, ranks, nil)
		for i := range ranks {
			for range 3 {
				m.Set(i, r.IntN(ranks), float64(1+r.IntN(1e6)))
			}
		}
		place, err := ByTraffic{}.Place(n, m)
		if err != nil {
			t.Fatal(err)
		}
		servet, err := Servet{}.Place(n, ranks)
		if err != nil {
			t.Fatal(err)
		}
		inOrder := make([]int, ranks)
		for i := range inOrder {
			inOrder[i] = i
		}
		ours, err := Cost(n, m, place)
		if err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string][]int{"Servet's": servet, "in order": inOrder} {
			theirs, err := Cost(n, m, other)
			if err != nil {
				t.Fatal(err)
			}
			if ours > theirs {
				t.Errorf("%d ranks: cost %g, %s %g", ranks, ours, name, theirs)
			}
		}
	}
}

func TestPlaceRefuses(t *testing.T) {
	n := network(t, "core:2 socket:2", model.Settings{})
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"more ranks than places", func() error { _, err := Servet{}.Place(n, 5); return err }},
		{"no ranks", func() error { _, err := Servet{}.Place(n, 0); return err }},
		{"traffic that is not square", func() error { _, err := ByTraffic{}.Place(n, mat.NewDense(2, 3, nil)); return err }},
		{"negative traffic", func() error { _, err := ByTraffic{}.Place(n, mat.NewDense(2, 2, []float64{0, -1, 0, 0})); return err }},
		{"a place given twice", func() error { _, err := Cost(n, mat.NewDense(2, 2, nil), []int{1, 1}); return err }},
		{"a grid that is too large", func() error { _, err := Orient(n, Grid{Rows: 2, Cols: 3}); return err }},
		{"an unknown format", func() error { return Write(&strings.Builder{}, "toml", n, []int{0}) }},
		{"an unknown place in a rankfile", func() error { return Write(&strings.Builder{}, "rankfile", n, []int{9}) }},
	} {
		if err := c.do(); err == nil || !strings.HasPrefix(err.Error(), "placement: ") {
			t.Errorf("%s: %v, want an error of placement", c.name, err)
		}
	}
}

func TestOutput(t *testing.T) {
	n := network(t, "core:2 host:2", model.Settings{})
	var list, file strings.Builder
	if err := Write(&list, "text", n, []int{3, 0}); err != nil {
		t.Fatal(err)
	}
	if err := Write(&file, "rankfile", n, []int{3, 0}); err != nil {
		t.Fatal(err)
	}
	if got, want := list.String(), "0 n1:1\n1 n0:0\n"; got != want {
		t.Errorf("Write of text wrote %q, want %q", got, want)
	}
	if got, want := file.String(), "# mpirun --mca rmaps_rank_file_physical 1 --rankfile FILE\nrank 0=n1 slot=1\nrank 1=n0 slot=0\n"; got != want {
		t.Errorf("Write of rankfile wrote %q, want %q", got, want)
	}
}

// Reference: Servet 3.0, section 6.1 and figure 5: with most bytes along rows
// a row-ordered grid is better, for it keeps rows on few hosts; and the reverse.
func TestOrient(t *testing.T) {
	n := network(t, "core:4 host:4", model.Settings{})
	for _, c := range []struct {
		row, col int64
		byRows   bool
	}{{1e7, 1e5, true}, {1e5, 1e7, false}, {1e6, 1e6, true}} {
		o, err := Orient(n, Grid{Rows: 4, Cols: 4, RowBytes: c.row, ColBytes: c.col})
		if err != nil {
			t.Fatal(err)
		}
		if o.ByRows != c.byRows {
			t.Errorf("Orient(%d along rows, %d along columns) = %+v, want by rows: %v", c.row, c.col, o, c.byRows)
		}
	}
	// By hand, one transfer at a time: the first of three sends to the second and the third. The first of five sends to the
	// second, to the third while the second sends to the fourth, and to the fifth, on another host.
	alone, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: 1, Bytes: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	far, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: 4, Bytes: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	within, between := alone[0], far[0]
	for length, want := range map[int]float64{1: 0, 2: within, 3: 2 * within, 4: 2 * within, 5: 2*within + between} {
		for _, g := range []Grid{{Rows: 1, Cols: length, RowBytes: 1e6}, {Rows: length, Cols: 1, ColBytes: 1e6}} {
			o, err := Orient(n, g)
			if err != nil || math.Abs(o.TimeByRows-want) > 1e-9*want || o.TimeByCols != o.TimeByRows || !o.ByRows {
				t.Errorf("Orient(%+v) = %+v, %v, want %g s either way", g, o, err, want)
			}
		}
	}
	for _, g := range []Grid{{Rows: 2, Cols: 2, RowBytes: -1}, {Rows: 2, Cols: 2, ColBytes: -1}, {Rows: 0, Cols: 2}, {Rows: -1, Cols: -1}} {
		if _, err := Orient(n, g); err == nil {
			t.Errorf("Orient(%+v) gives no error", g)
		}
	}
	g := Grid{Rows: 2, Cols: 3}
	if got := (Orientation{ByRows: true}).Rank(g, 1, 2); got != 5 {
		t.Errorf("row-ordered Rank(1, 2) = %d, want 5", got)
	}
	if got := (Orientation{}).Rank(g, 0, 2); got != 4 {
		t.Errorf("column-ordered Rank(0, 2) = %d, want 4", got)
	}
}

func BenchmarkByTraffic(b *testing.B) {
	n := network(b, "core:8 socket:2 host:16", model.Settings{})
	m := mat.NewDense(256, 256, nil)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 256 {
		for range 6 {
			m.Set(i, r.IntN(256), 1e5)
		}
	}
	for b.Loop() {
		place, err := ByTraffic{}.Place(n, m)
		if err != nil {
			b.Fatal(err)
		}
		c, err := Cost(n, m, place)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(c*1e3, "cost-ms")
	}
}

// Ranks that form a ring in an order which nobody knows: where levels differ in bandwidth, exchanges alone do not find the
// order again; they need a start that was built from the traffic.
func TestByTrafficFindsARing(t *testing.T) {
	n := network(t, "core:4 host:4 rack:2", model.Settings{})
	ranks := n.Ranks()
	for seed := range uint64(3) {
		order := rand.New(rand.NewPCG(seed, 9)).Perm(ranks)
		traffic, inOrder := mat.NewDense(ranks, ranks, nil), make([]int, ranks)
		for i, r := range order {
			traffic.Set(r, order[(i+1)%ranks], 1e6)
			inOrder[r] = i
		}
		place, err := ByTraffic{}.Place(n, traffic)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Cost(n, traffic, place)
		if err != nil {
			t.Fatal(err)
		}
		best, err := Cost(n, traffic, inOrder)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %.3f times the cost of the ring in order", seed, got/best)
		if got > 1.15*best {
			t.Errorf("seed %d: %.3f times the cost of the ring in order, want 1.15 at most", seed, got/best)
		}
	}
}
