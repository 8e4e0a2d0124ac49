package measure

import (
	"context"
	"maps"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// TestTellingPairsCrossEveryUplink: above every group at least two pairs cross,
// one where it has a single sibling; every level has its pairs; and a budget that
// ends after the rings has them all.
func TestTellingPairsCrossEveryUplink(t *testing.T) {
	for _, spec := range []string{"tree:2x3x4", "tree:8x16x8", "tree:2x2", "star:6", "tree:4x4x4x2", "star:300"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		h := c.Hierarchy
		all := telling(h, 1)
		groups := h.Groups()
		crossed := make([]int, len(groups))
		perLevel := make([]int, len(h.Levels())+1)
		rings := 0
		for i, g := range groups {
			if len(g.Children) > 1 {
				rings += len(harness.Parts(h, i))
			}
		}
		if half := len(harness.Parts(h, 0)) / 2; len(groups) > 1 && half > 1 {
			crossing := make(map[int]bool) // children of the group of all
			for _, p := range all[:half] {
				for _, rank := range p {
					g := h.Smallest(rank)
					for g > 0 && groups[g].Parent != 0 {
						g = groups[g].Parent
					}
					if crossing[g] {
						t.Errorf("%s: two of the first %d pairs cross the link above group %d", spec, half, g)
					}
					crossing[g] = true
				}
			}
		}
		own := make([]int, h.Hosts())
		seen := make(map[[2]int]bool)
		for i, p := range all {
			key := [2]int{min(p[0], p[1]), max(p[0], p[1])}
			if seen[key] || p[0] == p[1] {
				t.Errorf("%s: pair %v is there twice", spec, p)
			}
			seen[key] = true
			own[p[0]]++
			own[p[1]]++
			join := h.Common(p[0], p[1])
			perLevel[groups[join].Level]++
			for _, rank := range p {
				for g := h.Smallest(rank); g != join; g = groups[g].Parent {
					if crossed[g]++; i >= rings && crossed[g] == 1 {
						t.Errorf("%s: group %d is first crossed by pair %d, want among the first %d", spec, g, i, rings)
					}
				}
			}
		}
		for g := 1; g < len(groups); g++ {
			if want := min(2, len(harness.Parts(h, groups[g].Parent))-1); crossed[g] < want {
				t.Errorf("%s: %d pairs cross the link above group %d, want %d", spec, crossed[g], g, want)
			}
		}
		for level, n := range perLevel {
			possible := 0
			for _, g := range groups {
				if g.Level == level {
					possible += len(g.Hosts) * (len(g.Hosts) - 1) / 2
				}
			}
			if n < min(possible/4, pairsPerLevel-2) { // some come up again
				t.Errorf("%s: %d pairs of level %d", spec, n, level)
			}
		}
		if h.Hosts() <= singleRanks {
			for rank, n := range own {
				if n == 0 {
					t.Errorf("%s: the link of rank %d is not measured", spec, rank)
				}
			}
		} else if len(all) > len(groups)+4*pairsPerLevel {
			t.Errorf("%s: %d pairs, want about as many as groups (%d)", spec, len(all), len(groups))
		}
	}
	if all := telling(flat(t, 1), 1); len(all) != 0 {
		t.Errorf("pairs of one rank: %v", all)
	}
}

func flat(t *testing.T, n int) *topology.Hierarchy {
	t.Helper()
	h, err := topology.NewHierarchy(n, nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// confidentOf is a linkage.Robust whose groups all get one confidence.
type confidentOf float64

func (s confidentOf) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	r, err := (&linkage.Robust{}).Reconstruct(repetitions...)
	if err != nil {
		return nil, err
	}
	h := r.Hierarchy
	groups := h.Groups()[1:]
	for i := range groups {
		groups[i].Confidence = float64(s)
	}
	r.Hierarchy, err = topology.NewHierarchy(h.Hosts(), h.Levels(), groups, h.Groups()[0].Latency)
	return r, err
}

// TestConfidentGroupsChooseThePairs: uncertain groups have no say in which pairs
// Discover measures with long messages; at ConfidentFrom they have.
func TestConfidentGroupsChooseThePairs(t *testing.T) {
	c, err := gen.Parse("tree:3x8 latency=10us,2us")
	if err != nil {
		t.Fatal(err)
	}
	set := func(h *topology.Hierarchy) map[[2]int]bool {
		chosen := make(map[[2]int]bool)
		for _, p := range telling(h, 1) {
			chosen[[2]int{min(p[0], p[1]), max(p[0], p[1])}] = true
		}
		return chosen
	}
	for _, tt := range []struct {
		confidence float64
		want       map[[2]int]bool
	}{
		{topology.ConfidentFrom, set(c.Hierarchy)},
		{topology.ConfidentFrom - 0.01, set(flat(t, 24))},
	} {
		measured := make(map[[2]int]bool)
		err = simnet.Run(c.Graph, nil, &simnet.Settings{HollowAbove: longSize - 1}, func(comm mpi.Communicator) error {
			d, err := Discover(context.Background(), comm, &DiscoverSettings{
				Sampling:      Sampling{Repetitions: 1, Samples: 3, Seed: 1},
				Reconstructor: confidentOf(tt.confidence),
				Patterns:      -1,
			})
			if d != nil {
				for _, x := range d.Bandwidths.Measurements() {
					measured[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(measured, tt.want) {
			t.Errorf("confidence %g: pairs %v, want %v", tt.confidence, measured, tt.want)
		}
	}
}
