package linkage_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
)

// Reconstruct(topotest.Generate(x)) = x without noise, hosts renumbered: the groups, and
// the links where latencies tell them. They do not of switches with two links
// (a root of two children), nor of the top switches of a fat tree, which
// look like one.
func TestLinkageReconstructsWhatWasGenerated(t *testing.T) {
	for _, c := range []struct {
		spec   string
		family topology.Family
		links  bool
	}{
		{"star:3", topology.FamilyFlat, true},
		{"star:8", topology.FamilyFlat, true},
		{"tree:2x4x8", topology.FamilyTree, false},
		{"tree:2x2x2x2", topology.FamilyTree, false},
		{"tree:4x2", topology.FamilyTree, true},
		{"tree:[2,5,5]", topology.FamilyTree, true},
		{"tree:[2,5,5]x8", topology.FamilyTree, true},
		{"tree:3x2x3 latency=30us,12us,5us shuffle seed=3", topology.FamilyTree, false},
		{"core:4 socket:2 host:16 rack:4", topology.FamilyTree, false},
		{"fattree:4", topology.FamilyTree, false},
		{"fattree:8,8;1,4", topology.FamilyTree, false},
		{"ring:6 hosts=4", topology.FamilyQuotient, true},
		{"line:5 hosts=6", topology.FamilyQuotient, true},
		{"mesh:3x3 hosts=4", topology.FamilyQuotient, true},
		{"torus:4x4 hosts=8", topology.FamilyQuotient, true},
		{"ring:6", topology.FamilyMesh, true},
		{"torus:8x8", topology.FamilyMesh, true},
		{"mesh:4x4x4", topology.FamilyMesh, true},
	} {
		cluster, d := topotest.Generate(t, c.spec)
		perm := rand.New(rand.NewPCG(1, 2)).Perm(cluster.Graph.Hosts())
		want, err := cluster.Relabel(perm)
		if err != nil {
			t.Fatal(err)
		}
		r := reconstruct(t, gen.RelabelMatrix(d, perm))
		if r.Fit.Family != c.family {
			t.Errorf("%s: family %s, want %s", c.spec, r.Fit.Family, c.family)
		}
		if got, want := topotest.Groups(r.Hierarchy), topotest.Groups(want.Hierarchy); !slices.Equal(got, want) {
			t.Errorf("%s: groups %v, want %v", c.spec, got, want)
		}
		for _, g := range r.Hierarchy.Groups() {
			if !(g.Confidence > 0.9) {
				t.Errorf("%s: confidence %.2f of %v", c.spec, g.Confidence, g.Hosts)
			}
		}
		if c.links {
			if missing, wrong := difference(linkNames(r.Graph), linkNames(want.Graph)); missing+wrong > 0 {
				t.Errorf("%s: %d links missing, %d false", c.spec, missing, wrong)
			}
		}
	}
}
