package topology

import (
	"fmt"
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
	supports  []float64
}

// sameKind is the ratio of latencies below which the levels of two nodes may be of one
// kind. Dies and sockets of one node differ by more; one kind in nodes of two makes
// may differ by less. With 1.05 the tests take the levels of unlike nodes for different kinds; 2.1
// and 4.5 change nothing in them.
const sameKind = 1.5

// alignLevels finds out which levels of different nodes are of one kind, and returns the
// kinds from fine to coarse, and for each node which kind each of its levels is. A
// level of one name is one kind, and levels without a name of their own are if their
// latencies are alike. Each node's order is kept.
//
// Nodes are taken one after another, and each aligned with the kinds of those before as
// two sequences are (Needleman and Wunsch 1970): a match costs ln of the ratio of
// latencies, a level without one half of ln sameKind. O(levels^2) per node.
func alignLevels(nodes [][]Level) (kinds []*joinedLevel, kind [][]*joinedLevel) {
	for _, levels := range nodes {
		match := matchLevels(kinds, levels)
		own := make([]*joinedLevel, len(levels))
		merged := make([]*joinedLevel, 0, len(kinds)+len(levels))
		next := 0 // of kinds
		for l, level := range levels {
			k := &joinedLevel{}
			if match[l] >= 0 {
				k = kinds[match[l]]
				merged = append(merged, kinds[next:match[l]]...)
				next = match[l] + 1
			} else {
				// Between two matches the finer goes first.
				for next < len(kinds) && !slices.Contains(match, next) && kinds[next].latency() < level.Latency {
					merged = append(merged, kinds[next])
					next++
				}
			}
			merged = append(merged, k)
			if k.name == "" && !isNeutral(level.Name) {
				k.name = level.Name
			}
			if k.kind == KindUnknown {
				k.kind = level.Kind
			}
			k.latencies = append(k.latencies, level.Latency)
			k.supports = append(k.supports, level.Support)
			own[l] = k
		}
		kinds = append(merged, kinds[next:]...)
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
	mid := stats.Median(stats.SortedFinite(k.latencies))
	return mid
}

// level is the kind as a Level, the i-th from the finest.
func (k *joinedLevel) level(i int) Level {
	support := math.NaN()
	if known := stats.SortedFinite(k.supports); len(known) > 0 {
		support = known[0]
	}
	name := k.name
	if name == "" {
		name = fmt.Sprintf("level %d", i+1)
	}
	return Level{Name: name, Kind: k.kind, Latency: k.latency(), Support: support}
}

// cost is what it costs to take a level for this kind, +Inf if it is another.
func (k *joinedLevel) cost(l Level) float64 {
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

// matchLevels returns the kind of each level, -1 for none, at the least cost in all.
func matchLevels(kinds []*joinedLevel, levels []Level) []int {
	alone := math.Log(sameKind) / 2
	least := make([][]float64, len(kinds)+1) // of the first i kinds and j levels
	for i := range least {
		least[i] = make([]float64, len(levels)+1)
		for j := range least[i] {
			switch {
			case i == 0:
				least[i][j] = alone * float64(j)
			case j == 0:
				least[i][j] = alone * float64(i)
			default:
				least[i][j] = min(least[i-1][j-1]+kinds[i-1].cost(levels[j-1]), least[i-1][j]+alone, least[i][j-1]+alone)
			}
		}
	}
	match := make([]int, len(levels))
	for i, j := len(kinds), len(levels); j > 0; {
		switch {
		case i > 0 && least[i][j] == least[i-1][j-1]+kinds[i-1].cost(levels[j-1]):
			i, j = i-1, j-1
			match[j] = i
		case i > 0 && least[i][j] == least[i-1][j]+alone:
			i--
		default:
			j--
			match[j] = -1
		}
	}
	return match
}
