package linkage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/topotest"
)

// A host put into the wrong group goes back, and one that is far from its group, but no nearer to
// another, stays.
func TestRefineMovesHostsToWhereTheyFit(t *testing.T) {
	n, d := topotest.Nested([]int{8, 4}, []float64{2, 3})
	d = topotest.Noisy(rand.New(rand.NewPCG(1, 5)), n, d, 0.02, 0)
	for j := range 8 {
		if j != 3 {
			d[3*n+j], d[j*n+3] = 2.7, 2.7
		}
	}
	r := readings.NewSymmetric(n, func(i, j int) float32 { return float32(d[i*n+j]) })
	tree, _ := propose(readings.Correct(r), nnchain.NewSquare(n))
	groups := func() [][]int32 {
		var list [][]int32
		for _, v := range tree.Groups()[1:] {
			hosts := slices.Clone(tree.Leaves(v))
			slices.Sort(hosts)
			list = append(list, hosts)
		}
		slices.SortFunc(list, slices.Compare)
		return list
	}
	want := groups()
	from, into := tree.Parent[9], tree.Parent[17]
	if from == into || len(want) < 4 {
		t.Fatalf("groups %v, want four with hosts 9 and 17 apart", want)
	}
	tree.Parent[9] = into
	tree.Rebuild()
	if slices.EqualFunc(groups(), want, slices.Equal) {
		t.Fatal("host 9 was not moved away")
	}
	if !refine(tree, r) {
		t.Error("refine() = false, want host 9 moved")
	}
	if got := groups(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if refine(tree, r) {
		t.Errorf("refine() = true, want all hosts at rest in %v", groups())
	}
}

// Of a chain of groups with one child each only the ends stay: here 5 holds 0, 1 and 2 through 6 and 7, of
// which each has lost its other children to the root.
func TestRebuildTakesOutChains(t *testing.T) {
	tr := &nested.Tree{
		N: 5, Root: 8,
		Parent:   []int32{5, 5, 5, 8, 8, 6, 7, 8, -1},
		Children: make([][]int32, 4), Level: make([]float64, 4), Weight: make([]float64, 4),
		Order: make([]int32, 5), Lo: make([]int32, 9), Hi: make([]int32, 9),
	}
	tr.Rebuild()
	if got, want := fmt.Sprint(tr.Parent, tr.Order), "[5 5 5 8 8 8 -1 -1 -1] [3 4 0 1 2]"; got != want {
		t.Errorf("rebuild: parents and order %s, want %s", got, want)
	}
}
