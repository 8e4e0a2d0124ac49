package linkage

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/topology"
)

// A group that no measurement could have refuted is not confident, however far its measurements set it apart. Where the
// pairs between the halves of a block were not measured, either half looks like a block of its own. Where two blocks were
// not compared, both look like one. So each group is compared with the alternative assignments that its gaps leave: some of
// its members belong elsewhere, or others belong to it.
//
// A group need not be measured against every host. Among nested groups, a host that is close to one member of a group is as
// far from an outsider as that member. What counts are measurements between units. A unit is a host, or a group that is
// itself held together by measurements. The evidence of a measurement is a log-likelihood ratio: how much likelier one
// hypothesis makes it than the other. It allows for the noise, and for a share of outliers upwards. Measurements are
// independent, so that their evidence adds up (margin.go, alternatives.go). The lengths of unequal links (unequal.go) are not
// taken out here: with links corrected a host takes the place that it was corrected for.
//
// The price is that this asks more than most machines need. No pair of ranks that never met is confident, though all the
// machine's groups are pairs: nothing is inferred from group to group. Without it a fifth of the confident groups of
// BenchmarkLinkageGaps did not exist, with it one in 10,000.

// gapNoise is the least noise that is assumed: timers have ticks, and exact data has no noise.
const gapNoise = 0.005

// gapCeiling is the most confidence in a group of which a share of the alternatives is not refuted. A group with half of them
// refuted is still reported.
func gapCeiling(share float64) float64 {
	if share == 0 {
		return 1
	}
	return uncertainCeiling - 2*(uncertainCeiling-reported)*share
}

// gaps returns the most confidence that each group can have, by v-n. It is below topology.ConfidentFrom where pairs that were
// not measured leave an alternative. The judgement by the measurements comes before. Groups count as units if they are
// confident and hold together. Where distances are not those of nested groups, only hosts that are alike can stand for each
// other, so that only the innermost groups count. O(n^2) times the depth of the tree.
func (g *judge) gaps() []float64 {
	t := g.t
	noise := max(gapNoise, g.residualNoise)
	nested := nestedMeasurements(g.raw, noise)
	groups := t.Groups()
	solid := make([]bool, len(t.Children))
	ceiling := make([]float64, len(t.Children))
	for k := len(groups) - 1; k > 0; k-- { // children first
		v := groups[k]
		at := int(v) - t.N
		units := units(t, nil, v, -1, solid)
		unjoined := g.unjoined(units, g.margin[at], noise)
		ceiling[at] = gapCeiling(float64(unjoined) / float64(len(units)))
		solid[at] = unjoined == 0 && g.confidence[at] >= topology.ConfidentFrom && (nested || t.HostsOnly(v))
	}
	ceiling[int(t.Root)-t.N] = 1
	for _, v := range groups[1:] { // parents first
		at := int(v) - t.N
		// Groups that are not solid stand for nothing: what they hold besides v is outside v.
		var alternatives []int32
		a := v
		for below := v; a == v || a != t.Root && !solid[int(a)-t.N]; below = a {
			a = t.Parent[a]
			alternatives = units(t, alternatives, a, below, solid)
		}
		parts := [][]int32{t.Leaves(v)}
		if !nested {
			parts = alikeParts(t, v, solid)
		}
		open := 0
		for _, u := range alternatives {
			if slices.ContainsFunc(parts, func(p []int32) bool { return !g.apart(p, t.Leaves(u), g.margin[at], noise).decides() }) {
				open++
			}
		}
		ceiling[at] = min(ceiling[at], gapCeiling(float64(open)/float64(len(alternatives))))
		// What may belong to the solid group around may belong to this one.
		if ceiling[int(a)-t.N] < 1 {
			ceiling[at] = min(ceiling[at], ceiling[int(a)-t.N])
		}
	}
	return ceiling
}

// lower applies what gaps returned, nil for no gaps. It counts the groups that stay confident, and those that do not for want
// of measurements.
func (g *judge) lower(ceiling []float64) (confident, doubtful int) {
	for _, v := range g.t.Groups()[1:] {
		at := int(v) - g.t.N
		was := g.confidence[at] >= topology.ConfidentFrom
		if ceiling != nil {
			g.confidence[at] = min(g.confidence[at], ceiling[at])
		}
		switch {
		case g.confidence[at] >= topology.ConfidentFrom:
			confident++
		case was:
			doubtful++
		}
	}
	return confident, doubtful
}

// nestedMeasurements says whether the measurements are those of nested groups: of the three distances of three hosts the two
// longest are equal. It looks at up to 4096 triples that were measured. Where the longest is longer by half, one outlier may
// be the reason, and the triple does not count. Of 253 random trees with gaps, up to 5 % of noise and 2 % of
// outliers, none had more than 2.1 % of such triples. Of dragonflies half the runs had more than 15 %. Small or sparse dragonflies may pass,
// and lines, rings and tori with few measurements.
func nestedMeasurements(r *measured.Symmetric, noise float64) bool {
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
