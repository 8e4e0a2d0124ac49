package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
)

// A verdict compares found groups with known ones.
type verdict struct {
	missing  []string // clear groups that are not reported
	invented []string // groups firmly reported that are not known
	weak     []string // groups weakly reported that are not known
	found    map[string]float64
}

func (v verdict) right() bool { return len(v.missing)+len(v.invented) == 0 }

func key(hosts []int) string { return fmt.Sprint(hosts) }

func compare(s dataSet, h *topology.Hierarchy) verdict {
	v := verdict{found: map[string]float64{}}
	known := map[string]bool{}
	for _, g := range h.Groups()[1:] {
		v.found[key(g.Hosts)] = g.Support
	}
	for _, l := range s.levels {
		for _, g := range l.groups {
			hosts := slices.Clone(g)
			slices.Sort(hosts)
			known[key(hosts)] = true
			if _, ok := v.found[key(hosts)]; !ok && l.visible {
				v.missing = append(v.missing, fmt.Sprintf("%s %v", l.name, hosts))
			}
		}
	}
	for _, g := range h.Groups()[1:] {
		if !known[key(g.Hosts)] {
			text := fmt.Sprintf("%v support %.2f", g.Hosts, g.Support)
			if g.Support > 0.9 {
				v.invented = append(v.invented, text)
			} else {
				v.weak = append(v.weak, text)
			}
		}
	}
	return v
}

func TestLinkageOnSharedData(t *testing.T) {
	sets := sharedSets(t, "cores", "machines", "fabrics", "papers", "simgrid")
	right := 0
	for _, s := range sets {
		n, _ := s.d.Dims()
		s = s.permuted(rand.New(rand.NewPCG(11, uint64(n))))
		result, err := (&topology.Linkage{}).Reconstruct(s.d)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		v := compare(s, result.Hierarchy)
		if v.right() {
			right++
		}
		if !v.right() || len(v.weak) > 0 {
			t.Logf("%s: missing %v, invented %v, weak %v", s.name, v.missing, v.invented, v.weak)
		}
	}
	t.Logf("%d of %d right", right, len(sets))
}
