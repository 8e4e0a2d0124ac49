package model

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A Transfer is a message that is under way together with others.
type Transfer struct {
	Src   int     `json:"src"`     // rank
	Dst   int     `json:"dst"`     // rank
	Bytes int64   `json:"bytes"`   // above 0
	Start float64 `json:"start_s"` // s, at least 0
}

func (t Transfer) String() string { return fmt.Sprintf("%d->%d, %d bytes", t.Src, t.Dst, t.Bytes) }

// wantTransfers is what ReadTransfers reads.
const wantTransfers = `{"transfers":[{"src":0,"dst":5,"bytes":1000000,"start_s":0}, ...]}`

// ReadTransfers reads {"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0},...]}.
func ReadTransfers(r io.Reader) ([]Transfer, error) {
	var f struct {
		Transfers []Transfer `json:"transfers"`
	}
	if err := jsonfile.Decode(r, &f); err != nil {
		return nil, fmt.Errorf("model: read transfers: %w: want %s", err, wantTransfers)
	}
	if len(f.Transfers) == 0 {
		return nil, fmt.Errorf("model: read transfers: no list of transfers: want %s", wantTransfers)
	}
	return f.Transfers, nil
}

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
