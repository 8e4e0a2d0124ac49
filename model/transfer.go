package model

import (
	"encoding/json"
	"fmt"
	"io"
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
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		if err == io.EOF {
			return nil, fmt.Errorf("model: read transfers: no content")
		}
		return nil, fmt.Errorf("model: read transfers: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("model: read transfers: more after the end of the JSON value")
	}
	if f.Transfers == nil {
		return nil, fmt.Errorf("model: read transfers: no list of transfers")
	}
	return f.Transfers, nil
}
