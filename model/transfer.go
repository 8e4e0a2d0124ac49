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

// ReadTransfers reads {"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0},...]}.
func ReadTransfers(r io.Reader) ([]Transfer, error) {
	var f struct {
		Transfers []Transfer `json:"transfers"`
	}
	if err := jsonfile.Decode(r, &f); err != nil {
		return nil, fmt.Errorf("model: read transfers: %w", err)
	}
	if f.Transfers == nil {
		return nil, fmt.Errorf("model: read transfers: no list of transfers")
	}
	return f.Transfers, nil
}
