package concurrent

import (
	"math/rand/v2"

	"github.com/topocast/topocast/model"
)

// RandomPattern is a random pattern between hosts (Zhu et al. 2014, section
// 7.1; see model.RandomPattern), with the processes at its ends put on ranks:
// ranksOf are those of each host, and each transfer of a host takes the next
// one at its end. In the paper each transfer has two processes of its own. Where there are
// fewer ranks, one has several transfers, and of those with the same two ranks only the
// first is kept: messages of one pair share a connection, and take turns on it instead of sharing
// the network. A pattern that comes out empty is drawn again. Hosts are at
// least 2, each with a rank; d is at least 1.
func RandomPattern(r *rand.Rand, ranksOf [][]int, d int, bytes int64) []model.Transfer {
	for {
		next := make([]int, len(ranksOf))
		take := func(host int) int {
			rank := ranksOf[host][next[host]%len(ranksOf[host])]
			next[host]++
			return rank
		}
		var pattern []model.Transfer
		seen := make(map[[2]int]bool)
		for _, t := range model.RandomPattern(r, len(ranksOf), d, bytes) {
			t.Src, t.Dst = take(t.Src), take(t.Dst)
			if pair := [2]int{t.Src, t.Dst}; !seen[pair] {
				seen[pair] = true
				pattern = append(pattern, t)
			}
		}
		if len(pattern) > 0 {
			return pattern
		}
	}
}
