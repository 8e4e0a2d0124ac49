package linkage

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// Children come in the order of their hosts' mean measurements, and every group still holds its hosts.
func TestArrange(t *testing.T) {
	// Host j is at 10 (j+1) from all with a smaller number. Six times the means of the hosts from 0 on are
	// 270, 270, 280, 300, 330, 370 and 420. Those of the groups are 303 for (2 3 4) and 320 for (0 5).
	g := judgeOf("((4 2 3) (5 0) 6 1)", func(i, j int) float64 { return float64(10 * (j + 1)) })
	g.t.Arrange(g.r.Means())
	if want := []int32{1, 2, 3, 4, 0, 5, 6}; !slices.Equal(g.t.Order, want) {
		t.Errorf("order %v, want %v", g.t.Order, want)
	}
	for seed := range 20 {
		text, f := randomJudge(rand.New(rand.NewPCG(uint64(seed), 9)))
		g := judgeOf(text, f)
		before := map[int32][]int32{}
		for _, v := range g.t.Groups() {
			before[v] = slices.Sorted(slices.Values(g.t.Leaves(v)))
		}
		g.t.Arrange(g.r.Means())
		mean := g.r.Means()
		of := func(v int32) float64 {
			sum := 0.0
			for _, h := range g.t.Leaves(v) {
				sum += mean[h]
			}
			return sum / float64(g.t.Size(v))
		}
		for _, v := range g.t.Groups() {
			if after := slices.Sorted(slices.Values(g.t.Leaves(v))); !slices.Equal(after, before[v]) {
				t.Fatalf("seed %d: group %d holds %v, want %v", seed, v, after, before[v])
			}
			at := g.t.Lo[v]
			for k, c := range g.t.Kids(v) {
				if g.t.Lo[c] != at || g.t.Size(c) == 0 {
					t.Fatalf("seed %d: children of %d are not side by side", seed, v)
				}
				at = g.t.Hi[c]
				if k > 0 && of(g.t.Kids(v)[k-1]) > of(c)*(1+1e-9) {
					t.Errorf("seed %d: children of %d have means %g, %g, want them in order", seed, v, of(g.t.Kids(v)[k-1]), of(c))
				}
			}
			if at != g.t.Hi[v] {
				t.Fatalf("seed %d: children of %d do not fill it", seed, v)
			}
		}
	}
}

// Blocks of four at 10, 20 between them. Unions of blocks, halves and what else is proposed go, one after the
// other; the blocks are confident once that is gone, or so weak that it hardly stays.
func TestEliminate(t *testing.T) {
	for _, text := range []string{
		"((0 1 2 3) (4 5 6 7) (8 9 10 11))",
		"(((0 1 2 3) (4 5 6 7)) (8 9 10 11))",
		"(((0 1) 2 3) (4 5 6 7) (8 9 10 11))",
		"((((0 1) (2 3)) ((4 5 6) 7)) (8 9 10 11))",
		"(((((0 1) 2) 3) (4 5 6 7)) ((8 9) (10 11)))",
	} {
		g := judgeOf(text, func(i, j int) float64 {
			if i/4 == j/4 {
				return 10
			}
			return 20
		})
		g.judgeAll()
		g.eliminate()
		var left [][]int32
		for _, v := range g.t.Groups()[1:] {
			s := g.confidence[int(v)-g.t.N]
			if s < keepAbove {
				t.Errorf("%s: %v stays with confidence %g", text, g.t.Leaves(v), s)
			}
			if s >= reported {
				left = append(left, slices.Sorted(slices.Values(g.t.Leaves(v))))
				if s < topology.ConfidentFrom {
					t.Errorf("%s: confidence %g of %v, want it confident", text, s, g.t.Leaves(v))
				}
			}
		}
		slices.SortFunc(left, slices.Compare)
		if want := [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}; !slices.EqualFunc(left, want, slices.Equal) {
			t.Errorf("%s: groups %v, want %v", text, left, want)
		}
	}
}
