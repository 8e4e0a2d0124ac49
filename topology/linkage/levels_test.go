package linkage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
)

// Groups of one kind get one level, and groups of different kinds different
// ones: on random trees the levels are those of the generator.
func TestLinkageClassesLevels(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 51))
		c, reps := measured(t, rng, randomTree(rng, 100, 1.25), 0, gen.Noise{Sigma: 0.03, Outliers: 0.02}, 2)
		got := reconstruct(t, reps...).Hierarchy
		if !sameGroups(got, c.Hierarchy) {
			continue // counted elsewhere
		}
		level := map[string]int{}
		for _, g := range c.Hierarchy.Groups()[1:] {
			level[key(g.Hosts)] = g.Level
		}
		for _, g := range got.Groups()[1:] {
			if want := level[key(g.Hosts)]; g.Level != want {
				t.Errorf("seed %d: group %v is of level %d, want %d", seed, g.Hosts, g.Level, want)
			}
		}
	}
}

// Racks of unlike sizes, whose links differ by up to 30 %, are one level.
func TestUnlikeRacksAreOneLevel(t *testing.T) {
	for _, sizes := range []string{"[3,7,6,12]", "[4,9,5,11,8]", "[2,3,5,8,6,4]"} {
		for _, latency := range []string{"12us,5us", "9us,2us"} {
			for _, spread := range []int{15, 20, 30} {
				for seed := 11; seed < 16; seed++ {
					spec := fmt.Sprintf("tree:%s latency=%s spread=%d%% seed=%d", sizes, latency, spread, seed)
					_, d := topotest.Generate(t, spec)
					if levels := len(reconstruct(t, d).Hierarchy.Levels()); levels != 1 {
						t.Errorf("%s: %d levels, want 1", spec, levels)
					}
				}
			}
		}
	}
}

// On measured machines the clear groups of one documented level share a
// level, and those of two never do. Not so: the two caches of the Core 2
// Quad, of which one cell reads 0 ns; one L3 cache of the EPYC 74F3, 15 %
// faster than the others and as fast as halves of them.
func TestLinkageClassesLevelsOfMachines(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
	split := map[string]bool{"cores/core2quad_q9550": true, "cores/epyc_74f3": true}
	for _, s := range dataSets(t, "cores", "machines", "fabrics", "papers", "simgrid") {
		n, _ := s.d.Dims()
		s = s.permuted(rand.New(rand.NewPCG(11, uint64(n))))
		level := map[string]int{}
		for _, g := range reconstruct(t, s.d).Hierarchy.Groups()[1:] {
			level[key(g.Hosts)] = g.Level
		}
		name := map[int]string{}
		for _, known := range s.levels {
			kinds := map[int]bool{}
			for _, g := range known.groups {
				l, found := level[key(g)]
				if !found || !known.visible {
					continue
				}
				kinds[l] = true
				if other, taken := name[l]; taken && other != known.name {
					t.Errorf("%s: groups of %s and %s share a level", s.name, known.name, other)
				}
				name[l] = known.name
			}
			if len(kinds) > 1 && !split[s.name] {
				t.Errorf("%s: groups of %s are of %d levels", s.name, known.name, len(kinds))
			}
		}
	}
}
