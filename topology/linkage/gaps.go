package linkage

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/topology"
)

// A group that no reading could have refuted is not firm, however far its readings
// set it off. Where the pairs between the halves of a block were not measured,
// either half looks like a block of its own. Where two blocks were not
// compared, both look like one. So each group is held against the rivals that its gaps
// leave: that some of its members belong elsewhere, and that others belong to it.
//
// It need not be measured against every host. Among nested groups a
// host that is close to one member of a group is as far from an outsider as
// that member. What counts are readings between units: hosts, and groups that are
// themselves held together by readings. The evidence of a reading, in nats, is the
// logarithm of how much likelier one hypothesis makes it than the other. It allows for
// the noise of the readings and for a share of outliers upwards. Readings are taken independently, so that their
// evidence adds up (border.go, rivals.go). Readings count as they are: with
// links corrected (unequal.go) a host takes the place that it was corrected for.
//
// The price is that this asks more than most machines need: of pairs of ranks that never met none
// is firm, though all the machine's groups are pairs, as nothing is taken from group to group. Without
// it a fifth of the firm groups of BenchmarkLinkageGaps did not exist, with it one in 10,000.
const (
	// Doubt that all rivals of a group may leave together: three told by a single
	// reading at 3 % of noise, ten at 1 %.
	gapDoubt = 0.003
	// Least noise allowed for: quanta of timers, and exact data.
	gapNoise = 0.005
)

// gapCeiling is the most support of a group of which the given share of rivals
// is not refuted: of a group that is as likely as not it is reported.
func gapCeiling(share float64) float64 {
	if share == 0 {
		return 1
	}
	return weakCeiling - 2*(weakCeiling-reported)*share
}

// gaps is the most support that each group can have, by v-n: less than firm where
// pairs that were not measured leave it a rival. Supports are those of the
// judgement by the readings there are. Groups count as units if they are firm and hold
// together; where distances are not those of nested groups only hosts that are
// alike speak for each other, so only the innermost do. O(n^2) times the depth of the tree.
func (g *judge) gaps() []float64 {
	t := g.t
	noise := max(gapNoise, g.white)
	nested := nestedReadings(g.raw, noise)
	groups := t.Groups()
	solid := make([]bool, len(t.Children))
	ceiling := make([]float64, len(t.Children))
	for k := len(groups) - 1; k > 0; k-- { // children first
		v := groups[k]
		at := int(v) - t.N
		units := units(t, nil, v, -1, solid)
		loose := g.loose(units, g.border[at], noise)
		ceiling[at] = gapCeiling(float64(loose) / float64(len(units)))
		solid[at] = loose == 0 && g.support[at] >= topology.FirmSupport && (nested || t.HostsOnly(v))
	}
	ceiling[int(t.Root)-t.N] = 1
	for _, v := range groups[1:] { // parents first
		at := int(v) - t.N
		// Groups that are not solid stand for nothing: what they hold besides v is outside v.
		var rivals []int32
		a := v
		for below := v; a == v || a != t.Root && !solid[int(a)-t.N]; below = a {
			a = t.Parent[a]
			rivals = units(t, rivals, a, below, solid)
		}
		parts := [][]int32{t.Leaves(v)}
		if !nested {
			parts = alikeParts(t, v, solid)
		}
		open, doubt := 0, 0.0
		for _, u := range rivals {
			weakest := g.weakest(parts, t.Leaves(u), g.border[at], noise)
			if weakest.told() {
				doubt += weakest.doubt()
			} else {
				open++
			}
		}
		if doubt > gapDoubt {
			open = max(open, 1)
		}
		ceiling[at] = min(ceiling[at], gapCeiling(float64(open)/float64(len(rivals))))
		// What may belong to the solid group around may belong to this one.
		if ceiling[int(a)-t.N] < 1 {
			ceiling[at] = min(ceiling[at], ceiling[int(a)-t.N])
		}
	}
	return ceiling
}

// lower applies what gaps returned, nil for no gaps, and counts the groups that
// stay firm and those that do not for want of readings.
func (g *judge) lower(ceiling []float64) (firm, doubtful int) {
	for _, v := range g.t.Groups()[1:] {
		at := int(v) - g.t.N
		was := g.support[at] >= topology.FirmSupport
		if ceiling != nil {
			g.support[at] = min(g.support[at], ceiling[at])
		}
		switch {
		case g.support[at] >= topology.FirmSupport:
			firm++
		case was:
			doubtful++
		}
	}
	return firm, doubtful
}

// nestedReadings says whether the readings are those of nested groups: of the three distances
// of three hosts the two longest are equal. It looks at up to 4096 triples that were
// measured. Where the longest is longer by half, one outlier may be the reason, and
// the triple does not count. Of random trees with gaps 2.1 % violated it at most (253 runs, up to 5 %
// of noise, one repetition, 2 % of outliers); of dragonflies half the runs had more than 15 %,
// but small or sparse ones, and lines, rings and tori with few readings, may pass.
func nestedReadings(r *readings.Symmetric, noise float64) bool {
	const (
		most, tries = 4096, 1 << 17
		violations  = 0.04
		longer      = 1.5
	)
	rng := rand.New(rand.NewPCG(uint64(r.N()), 3))
	bad, all := 0, 0
	for k := 0; k < tries && all < most; k++ {
		i, j, h := rng.IntN(r.N()), rng.IntN(r.N()), rng.IntN(r.N())
		if i == j || j == h || h == i {
			continue
		}
		d := [3]float32{r.At(i, j), r.At(j, h), r.At(h, i)}
		slices.Sort(d[:])
		if d[0] < 0 || d[2] > longer*d[1] {
			continue
		}
		all++
		if math.Log(float64(d[2]/d[1])) > 0.02+3*noise {
			bad++
		}
	}
	return all > 0 && float64(bad) <= violations*float64(all)
}
