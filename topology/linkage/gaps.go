package linkage

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A group that no reading could have refuted is not firm, however far its readings
// set it off: where the pairs between the halves of a block were not measured,
// either half looks like a block of its own, and where two blocks were not
// compared, both look like one. So each group is held against the rivals that its gaps
// leave: that some of its members belong elsewhere, and that others belong to it.
//
// It need not be measured against every host. Among nested groups a
// host that is close to one member of a group is as far from an outsider as
// that member. What counts are readings between units: hosts, and groups that are
// themselves held together by readings. The evidence of a reading is the
// logarithm of how much likelier one hypothesis makes it than the other, in nats, under
// the noise of the readings and a share of outliers upwards; that of several
// adds up, as they are taken independently. Readings count as they are: with
// links corrected (linkage_unequal.go) a host takes the place that it was corrected for.
const (
	// Evidence that decides about a unit: wrong once in a thousand. A single reading of an
	// outsider has 8.1 at 1 % of noise and 7.1 at 3 %; at 5 % two are needed.
	gapEvidence = 7
	// Share of readings that something slowed down, by a factor up to ten: as in the
	// noise of internal/gen.
	gapOutliers       = 0.02
	gapOutlierDensity = 1 / math.Ln10
	// Share of readings to the outside that are farther than those to the near outside:
	// the upper quarter, by the choice of outHigh.
	gapFar = 0.25
	// Doubt that all rivals of a group may leave together: three told by a single
	// reading at 3 % of noise, ten at 1 %.
	gapDoubt = 0.003
	// Most evidence of one reading: no reading is beyond accidents.
	gapMost = 10
	// Least noise allowed for: quanta of timers, and exact data.
	gapNoise = 0.005
)

// A border holds where the readings inside a group and those to its near
// outside lie, ln of s.
type border struct {
	inHigh          float64 // the 75 % quantile: one reading of four may be none of the group's
	outLow, outHigh float64 // from the nearest outsiders to the 75 % quantile
}

// nats is the evidence of reading x, ln of s, that it joins a member of the
// group to an outsider and not two members; below zero it speaks for two members.
func (b border) nats(x, noise float64) float64 {
	bell := func(low, high float64) float64 {
		off := max(0, low-x, x-high) / noise
		return math.Exp(-off*off/2) / (noise * math.Sqrt(2*math.Pi))
	}
	inside := (1 - gapOutliers) * bell(math.Inf(-1), b.inHigh) // groups inside are nearer still
	outside := (1 - gapFar) * bell(b.outLow, b.outHigh)
	if x > b.inHigh {
		inside += gapOutliers * gapOutlierDensity
	}
	if x > b.outLow {
		outside += gapFar * gapOutlierDensity
	}
	const least = 1e-30 // both are impossible: no evidence
	return min(max(math.Log((outside+least)/(inside+least)), -gapMost), gapMost)
}

// A bond is what readings say of a set of units and one that may belong to it.
type bond struct {
	nats    float64
	missing int // pairs not measured
}

// told says whether the readings decide. Where nothing is missing there
// is no gap to be held against the group, unless the readings contradict it.
func (b bond) told() bool { return b.nats >= gapEvidence || b.missing == 0 && b.nats >= 0 }

// doubt is the chance that the readings mislead, 0 where nothing is missing.
func (b bond) doubt() float64 {
	if b.missing == 0 {
		return 0
	}
	return math.Exp(-b.nats)
}

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
	noise := g.readingNoise()
	nested := nestedReadings(g.raw, noise)
	groups := t.Groups()
	solid := make([]bool, len(t.Children))
	ceiling := make([]float64, len(t.Children))
	for k := len(groups) - 1; k > 0; k-- { // children first
		v := groups[k]
		at := int(v) - t.N
		units := units(t, nil, v, -1, solid)
		loose := g.loose(units, g.border[at], noise)
		if !nested {
			loose = max(loose, g.strangers(units, g.border[at], noise), g.unmeasured(units))
		}
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

// units appends to list the hosts and solid groups that v consists of, the largest
// ones, without those of its child except.
func units(t *nested.Tree, list []int32, v, except int32, solid []bool) []int32 {
	for _, c := range t.Kids(v) {
		switch {
		case c == except:
		case t.IsGroup(c) && !solid[int(c)-t.N]:
			list = units(t, list, c, -1, solid)
		default:
			list = append(list, c)
		}
	}
	return list
}

// loose counts the units that readings do not join to the rest. They are
// taken in one after another, always the one that most speaks for; if each is told
// when its turn comes, so is every way to cut the units in two, as one side
// holds a unit taken in when only the other was there (the order is that of
// Nagamochi and Ibaraki 1992). The first is the largest, of equals the one that
// misses least, as nothing is asked of it. O(size^2).
func (g *judge) loose(units []int32, b border, noise float64) int {
	t := g.t
	rest := slices.Clone(units)
	bonds := make([]bond, len(rest))
	next := 0
	for k, u := range rest {
		bonds[k].missing = g.missing(u, units)
		if more := t.Size(u) - t.Size(rest[next]); more > 0 || more == 0 && bonds[k].missing < bonds[next].missing {
			next = k
		}
	}
	for loose := 0; ; {
		u := rest[next]
		last := len(rest) - 1
		rest[next], bonds[next] = rest[last], bonds[last]
		rest, bonds = rest[:last], bonds[:last]
		if last == 0 {
			return loose
		}
		next = 0
		for k, v := range rest {
			bonds[k].nats -= g.apart(t.Leaves(u), t.Leaves(v), b, noise).nats
			if bonds[k].nats > bonds[next].nats || bonds[k].nats == bonds[next].nats && v < rest[next] {
				next = k
			}
		}
		if !bonds[next].told() {
			loose++
		}
	}
}

// missing counts the pairs between u and the other units that were not measured.
func (g *judge) missing(u int32, units []int32) int {
	count := 0
	for _, i := range g.t.Leaves(u) {
		for _, v := range units {
			if v == u {
				continue
			}
			for _, j := range g.t.Leaves(v) {
				if g.r.At(int(i), int(j)) < 0 {
					count++
				}
			}
		}
	}
	return count
}

// weakest is what readings say for the part that they least set off from the rival.
func (g *judge) weakest(parts [][]int32, rival []int32, b border, noise float64) bond {
	var least bond
	for k, p := range parts {
		if one := g.apart(p, rival, b, noise); k == 0 || least.told() && (!one.told() || one.doubt() > least.doubt()) {
			least = one
		}
	}
	return least
}

// unmeasured counts the hosts among units of which a reading to another of the hosts is missing. Where
// distances are not nested two neighbours of a host may be far from each other.
func (g *judge) unmeasured(units []int32) int {
	count := 0
	for _, i := range units {
		if !g.t.IsGroup(i) && slices.ContainsFunc(units, func(j int32) bool {
			return j != i && !g.t.IsGroup(j) && g.r.At(int(i), int(j)) < 0
		}) {
			count++
		}
	}
	return count
}

// strangers counts the groups among units that are not joined to each of the others.
func (g *judge) strangers(units []int32, b border, noise float64) int {
	t := g.t
	count := 0
	for k, u := range units {
		for _, v := range units[:k] {
			if !t.IsGroup(u) || !t.IsGroup(v) {
				continue
			}
			joint := g.apart(t.Leaves(u), t.Leaves(v), b, noise)
			joint.nats = -joint.nats
			if !joint.told() {
				count++
				break
			}
		}
	}
	return count
}

// alikeParts divides group v into what sees outsiders alike: its solid groups, and the rest of
// its hosts, who are alike if the judgement found them so. Of two it cannot tell.
func alikeParts(t *nested.Tree, v int32, solid []bool) [][]int32 {
	var list [][]int32
	var hosts []int32
	for _, u := range units(t, nil, v, -1, solid) {
		if t.IsGroup(u) {
			list = append(list, t.Leaves(u))
		} else {
			hosts = append(hosts, u)
		}
	}
	switch {
	case len(hosts) == 2 && len(list) == 0:
		list = append(list, hosts[:1], hosts[1:])
	case len(hosts) > 0:
		list = append(list, hosts)
	}
	return list
}

// apart is what the readings between two sets of hosts say for their lying on different
// sides of the border.
func (g *judge) apart(us, vs []int32, b border, noise float64) bond {
	var sum bond
	for _, i := range us {
		for _, j := range vs {
			if x := g.raw.At(int(i), int(j)); x > 0 {
				sum.nats += b.nats(math.Log(float64(x)), noise)
			} else {
				sum.missing++
			}
		}
	}
	return sum
}

// readingNoise is the relative standard deviation of one reading: what the
// repetitions tell, and what readings within firm groups differ by, as links do.
func (g *judge) readingNoise() float64 {
	var off []float64
	reader := &judge{t: g.t, r: g.raw}
	for _, v := range g.t.Groups()[1:] {
		within := reader.readWithin(v)
		if len(within) < 3 || g.support[int(v)-g.t.N] < topology.FirmSupport {
			continue
		}
		m := float64(stats.LowerMedian(within))
		for k := 0; k < len(within); k += len(within)/256 + 1 {
			off = append(off, math.Abs(math.Log(float64(within[k])/m)))
		}
	}
	noise := gapNoise
	if !math.IsNaN(g.noise) {
		noise = max(noise, g.noise)
	}
	if len(off) > 0 {
		noise = max(noise, stats.Sigma(off))
	}
	return noise
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
