package topology

import (
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/stats"
)

// A joinedLevel is a kind of groups inside nodes, found in one node or in several.
type joinedLevel struct {
	name      string    // "" of neutral ones: a number tells no kind
	kind      Kind      // of the first level of a known one
	latencies []float64 // of the nodes' levels, as far as known
}

// sameKind is the ratio of latencies below which the levels of two nodes may be of one
// kind. Dies and sockets of one node differ by more; one kind in nodes of two makes
// may differ by less.
const sameKind = 1.5

// alignLevels finds out which levels of different nodes are of one kind. It returns the kinds from fine to coarse, and
// the kind of each level of each node. Levels of one name are of one kind, and so are levels without a name of their own
// if their latencies are alike. The order of each node's levels is kept.
//
// Nodes are taken one after another, and their levels from fine to coarse. A level is of the kind that is most like it
// among those coarser than the kind of the level before. A level that is like none is a kind of its own. O(levels^2) per node.
func alignLevels(nodes [][]Level) (kinds []*joinedLevel, kind [][]*joinedLevel) {
	for _, levels := range nodes {
		own := make([]*joinedLevel, len(levels))
		next := 0 // the kinds before are those of finer levels
		for l, level := range levels {
			at, least := -1, math.Log(sameKind)
			for i := next; i < len(kinds); i++ {
				if unlike := kinds[i].unlike(level); unlike < least {
					at, least = i, unlike
				}
			}
			if at < 0 {
				for at = next; at < len(kinds) && kinds[at].latency() < level.Latency; {
					at++
				}
				kinds = slices.Insert(kinds, at, &joinedLevel{})
			}
			next = at + 1
			k := kinds[at]
			if k.name == "" && !isNeutral(level.Name) {
				k.name = level.Name
			}
			if k.kind == KindUnknown {
				k.kind = level.Kind
			}
			k.latencies = append(k.latencies, level.Latency)
			own[l] = k
		}
		kind = append(kind, own)
	}
	return kinds, kind
}

// isNeutral tells whether a level's name says nothing of its kind.
func isNeutral(name string) bool {
	rest, numbered := strings.CutPrefix(name, "level ")
	return name == "" || numbered && strings.Trim(rest, "0123456789") == ""
}

// latency is the lower median; NaN if none is known.
func (k *joinedLevel) latency() float64 {
	return stats.Median(stats.SortedFinite(k.latencies))
}

// unlike is the logarithm of the ratio of latencies, 0 for a level of the same name, +Inf if it is of another kind.
func (k *joinedLevel) unlike(l Level) float64 {
	if k.kind != KindUnknown && l.Kind != KindUnknown && k.kind != l.Kind {
		return math.Inf(1)
	}
	if k.name != "" && !isNeutral(l.Name) {
		if k.name == l.Name {
			return 0
		}
		return math.Inf(1)
	}
	ratio := math.Abs(math.Log(l.Latency / k.latency()))
	if math.IsNaN(ratio) {
		return math.Log(sameKind) / 2 // nothing is known against it
	}
	return ratio
}
