package model

import (
	"fmt"
	"io"

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

// AllToAll returns the transfers of an exchange in which each rank sends bytes to each other rank, all
// starting at 0.
func AllToAll(ranks []int, bytes int64) []Transfer {
	var transfers []Transfer
	for _, src := range ranks {
		for _, dst := range ranks {
			if src != dst {
				transfers = append(transfers, Transfer{Src: src, Dst: dst, Bytes: bytes})
			}
		}
	}
	return transfers
}

// ReadTransfers reads {"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0},...]}.
func ReadTransfers(r io.Reader) ([]Transfer, error) {
	var f struct {
		Transfers []Transfer `json:"transfers"`
	}
	if err := jsonfile.Decode(r, &f); err != nil {
		return nil, fmt.Errorf("model: read transfers: %w", err)
	}
	if len(f.Transfers) == 0 {
		return nil, fmt.Errorf("model: read transfers: no list of transfers")
	}
	return f.Transfers, nil
}
