package adaptive

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What is no machine of equal links read by a quiet clock has no wrong confident groups: it is found exactly, or by all pairs, or
// groups are uncertain. Of all pairs linkage says what there is, and by it the last two lines are judged.
func TestNoWrongConfidentGroups(t *testing.T) {
	for _, tt := range []struct {
		name    string
		unequal float64
		noise   noise
		exact   bool // whatever is confident, all groups are
	}{
		{"links unequal by 6 %", 0.06, noise{sigma: 0.01, outliers: 0.02}, true},
		{"links unequal by 15 %", 0.15, noise{sigma: 0.01, outliers: 0.02}, true},
		{"links unequal by 30 %", 0.3, noise{sigma: 0.01, outliers: 0.02}, false},
		{"one round of twenty slow", 0, noise{sigma: 0.03, outliers: 0.02, slowRounds: 0.05}, true},
		{"a clock of 1 us for levels from 10 us", 0, noise{sigma: 0.03, outliers: 0.02, tick: 1e-6}, false},
		{"a clock of 3 us", 0, noise{sigma: 0.03, outliers: 0.02, tick: 3e-6}, false},
		{"a clock of 5 us", 0, noise{sigma: 0.03, outliers: 0.02, tick: 5e-6}, false},
	} {
		for seed := range uint64(2) {
			rng := rand.New(rand.NewPCG(110+seed, 256))
			m := randomMachine(rng, 128, 1.25)
			if tt.unequal > 0 {
				m.unequal(rng, tt.unequal)
			}
			found := explore(t, m, tt.noise, seed, nil)
			missing, extra := differ(m.sets(), groupsOf(found.Topology.Hierarchy, true))
			if extra > 0 || tt.exact && missing > 0 {
				t.Errorf("%s, seed %d: all pairs %t, of %d groups %d are not confident, and %d confident ones do not exist", tt.name, seed, found.allPairs, len(m.sets()), missing, extra)
			}
		}
	}
}

// Hosts that are slow on every message stand in their groups all the same, and a warning names them. Of few machines some groups
// are uncertain, as nothing tells whose measurements the slow host's; none is confident that lacks one. Five slow hosts may look like a
// level of their own, on one machine in a hundred or fewer.
func TestSlowHostsAreInTheirGroups(t *testing.T) {
	for _, tt := range []struct{ slow, machines, uncertain, wrong int }{{2, 40, 2, 0}, {3, 40, 2, 0}, {5, 20, 2, 0}} {
		inexact, wrong := 0, 0
		for k := range uint64(tt.machines) {
			seed, factor := 110+k, 1.5+1.5*float64(k%2)
			rng := rand.New(rand.NewPCG(seed, 256))
			m := randomMachine(rng, 256, 1.25)
			m.slow(rng, tt.slow, factor)
			found := explore(t, m, noise{sigma: 0.02, outliers: 0.02}, seed, nil)
			missing, extra := differ(m.sets(), groupsOf(found.Topology.Hierarchy, true))
			if missing > 0 {
				inexact++
			}
			if extra > 0 {
				wrong++
			}
			if wrong > tt.wrong || inexact > tt.uncertain || found.allPairs {
				t.Errorf("%d slow, seed %d: all pairs %t, of %d groups %d are not confident, and %d confident ones do not exist", tt.slow, seed, found.allPairs, len(m.sets()), missing, extra)
			}
			for h, f := range m.factor {
				if f > 1 && extra == 0 && !strings.Contains(fmt.Sprint(found.Topology.Warnings), fmt.Sprint(h)) {
					t.Errorf("%d slow, seed %d: host %d is slow, and no warning says so: %q", tt.slow, seed, h, found.Topology.Warnings)
				}
			}
		}
	}
}

// Levels of one kind differ by up to a tenth, as cores of one die do: groups of such levels are told, and not confident.
func TestSmallStepsAreNotConfident(t *testing.T) {
	for _, tt := range []struct {
		step      float64
		confident int
	}{{1.09, 0}, {1.13, 2}} {
		m := &machine{n: 64, group: [][]int32{make([]int32, 64)}, latency: []float64{10e-6, 10e-6 * tt.step}}
		for h := range m.n {
			m.group[0][h] = int32(h % 2)
		}
		found := explore(t, m, noise{sigma: 0.01, outliers: 0.02}, 1, nil)
		all, confident := groupsOf(found.Topology.Hierarchy, false), groupsOf(found.Topology.Hierarchy, true)
		if len(all) != 2 || len(confident) != tt.confident {
			t.Errorf("a step of %g: %d groups and %d confident ones, want 2 and %d", tt.step, len(all), len(confident), tt.confident)
		}
	}
}
