package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/topotest"
	"gonum.org/v1/gonum/mat"
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
	r := measured.NewSymmetric(n, func(i, j int) float32 { return float32(d[i*n+j]) })
	tree, _, capRow := propose(r.At, nnchain.NewSquare(n))
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
	if !refine(tree, r, false, capRow) {
		t.Error("refine() = false, want host 9 moved")
	}
	if got := groups(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("groups %v, want %v", got, want)
	}
	if refine(tree, r, false, capRow) {
		t.Errorf("refine() = true, want all hosts at rest in %v", groups())
	}
}

// A host that was proposed beside the group to which it is nearer than to all else is slow, and goes there. Blocks are of three hosts
// at 10 us, 20 us between them, and hosts beside them are as told.
func TestRefineMovesSlowHosts(t *testing.T) {
	const share = 0.5
	for _, tt := range []struct {
		name   string
		text   string
		lonely func(host, other int) float64 // measurement of a host that is beside the blocks; 0: as others
		into   map[int][]int32               // by host: the others of the group that it goes to; others stay
	}{
		{"a slow host of a block", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 {
			if other <= 2 {
				return 15
			}
			return 25
		}, map[int][]int32{6: {0, 1, 2}}},
		{"a slow host of the last block", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 {
			if other <= 2 {
				return 25
			}
			return 15
		}, map[int][]int32{6: {3, 4, 5}}},
		{"a very slow one", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 {
			if other <= 2 {
				return 110
			}
			return 120
		}, map[int][]int32{6: {0, 1, 2}}},
		{"a host on a switch of its own", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 { return 20 }, nil},
		{"nearer, but by less than the share", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 {
			if other <= 2 {
				return 20 - 10*(share-0.1)
			}
			return 20
		}, nil},
		{"nearer by more than the share", "((0 1 2) (3 4 5) 6)", func(host, other int) float64 {
			if other <= 2 {
				return 20 - 10*(share+0.1)
			}
			return 20
		}, map[int][]int32{6: {0, 1, 2}}},
		{"two slow hosts of two blocks", "((0 1 2) (3 4 5) (6 7 8) 9 10)", func(host, other int) float64 {
			if (host == 9) == (other <= 2) && (other <= 2 || other <= 5) {
				return 15
			}
			return 25
		}, map[int][]int32{9: {0, 1, 2}, 10: {3, 4, 5}}},
		{"nothing else to compare with", "((0 1 2) 3)", func(host, other int) float64 { return 11 }, nil},
		{"a host in a group with a block alone", "(((0 1 2) 6) (3 4 5))", func(host, other int) float64 {
			if other <= 2 {
				return 15
			}
			return 20
		}, nil},
		// Around the blocks are two groups at 20 us, 40 us between those.
		{"a slow host of a block in a group", "(((0 1 2) (3 4 5)) ((6 7 8) (9 10 11)) 12)", func(host, other int) float64 {
			switch {
			case other <= 2:
				return 15
			case other <= 5:
				return 25
			}
			return 45
		}, map[int][]int32{12: {0, 1, 2}}},
		{"a slow host of a group, not of a block", "(((0 1 2) (3 4 5)) ((6 7 8) (9 10 11)) 12)", func(host, other int) float64 {
			if other <= 5 {
				return 25
			}
			return 45
		}, map[int][]int32{12: {0, 1, 2, 3, 4, 5}}},
		{"a slow host inside a group", "(((0 1 2) (3 4 5) 12) ((6 7 8) (9 10 11)) 13)", func(host, other int) float64 {
			switch {
			case host == 13 || other == 13:
				return 40
			case other >= 6:
				return 45
			case other >= 3:
				return 25
			}
			return 15
		}, map[int][]int32{12: {0, 1, 2}}},
	} {
		nested := len(tt.text) > 31
		g := judgeOf(tt.text, func(i, j int) float64 {
			blocks := 6
			switch {
			case nested:
				blocks = 12
			case tt.name == "two slow hosts of two blocks":
				blocks = 9
			case tt.name == "nothing else to compare with":
				blocks = 3
			}
			switch {
			case j >= blocks:
				return tt.lonely(j, i)
			case i/3 == j/3:
				return 10
			case nested && i/6 != j/6:
				return 40
			}
			return 20
		})
		remeasure(g.t, g.r.At)
		before := slices.Clone(g.t.Parent)
		_, _, capRow := propose(g.r.At, nnchain.NewSquare(g.t.N))
		refine(g.t, g.r, false, capRow)
		for host := range g.t.N {
			others, moves := tt.into[host]
			switch group := slices.Clone(g.t.Leaves(g.t.Parent[host])); {
			case moves:
				slices.Sort(group)
				if want := append(slices.Clone(others), int32(host)); !slices.Equal(group, want) {
					t.Errorf("%s: host %d is in %v, want %v", tt.name, host, group, want)
				}
			case g.t.Parent[host] != before[host]:
				t.Errorf("%s: host %d moved to %v, want it where it was", tt.name, host, group)
			}
		}
	}
}

// Blocks of three at 10 us and 20 us between them stay what they are, whatever a host beside them is near to.
func TestBlocksBesideOddHosts(t *testing.T) {
	for name, beside := range map[string]func(other int) float64{
		"one lucky measurement": func(other int) float64 {
			if other == 0 {
				return 1
			}
			return 20
		},
		"two hosts near each other": func(other int) float64 {
			switch {
			case other >= 6:
				return 11
			case other <= 2:
				return 15
			}
			return 25
		},
		"not measured to the other block": func(other int) float64 {
			if other >= 3 && other <= 5 {
				return math.NaN()
			}
			return 15
		},
	} {
		hosts := 7
		if name == "two hosts near each other" {
			hosts = 8
		}
		m := mat.NewDense(hosts, hosts, nil)
		for i := range hosts {
			for j := range i {
				x := 20.0
				switch {
				case i >= 6:
					x = beside(j)
				case i/3 == j/3:
					x = 10
				}
				m.Set(i, j, 1e-6*x)
				m.Set(j, i, 1e-6*x)
			}
		}
		r, err := Reconstruct(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range [][]int{{0, 1, 2}, {3, 4, 5}} {
			found := false
			for _, g := range r.Hierarchy.Groups()[1:] {
				found = found || slices.Equal(g.Hosts, block)
				in := 0
				for _, h := range g.Hosts {
					if slices.Contains(block, h) {
						in++
					}
				}
				if g.Confident() && in > 0 && in < len(block) {
					t.Errorf("%s: confident group %v holds a part of %v", name, g.Hosts, block)
				}
			}
			if lucky := name == "one lucky measurement" && block[0] == 0; !found && !lucky { // it is that of an uncertain pair
				t.Errorf("%s: groups %v, want %v among them", name, r.Hierarchy.Groups()[1:], block)
			}
		}
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
