package model

import "math/rand/v2"

// RandomPattern makes a pattern of transfers of the given size between nodes
// 0..nodes-1: d times for each node in turn, a different node is picked as
// receiver, and the transfer taken with probability 1/2 (Zhu et al. 2014, section 7.1).
// Nodes are at least 2.
func RandomPattern(r *rand.Rand, nodes, d int, bytes int64) []Transfer {
	var ts []Transfer
	for src := range nodes {
		for range d {
			dst := r.IntN(nodes - 1)
			if dst >= src {
				dst++
			}
			if r.IntN(2) == 0 {
				ts = append(ts, Transfer{Src: src, Dst: dst, Bytes: bytes})
			}
		}
	}
	return ts
}
