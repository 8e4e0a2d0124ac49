package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outfile"
)

// A measured is docs/measured.json: what the project publishes of its measurements.
type measured struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Machine string   `json:"machine"` // on which the claims were measured
	Figures []figure `json:"figures"`

	// What the pictures show.
	SpeedUps       []speedUp        `json:"speedups"`
	Applications   []application    `json:"applications"`
	Reconstruction []reconstruction `json:"reconstruction"`
	Errors         []contention     `json:"contention_errors"`
}

// A figure is a claim and the command that measures it again.
type figure struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Claim   string  `json:"claim"`
	Command string  `json:"command"`
	Last    *result `json:"last,omitempty"` // of the last make bench
}

// A speedUp is the median ratio of native MPI_Bcast's time to ours, by size. Low and High are over the
// orders of ranks.
type speedUp struct {
	Library string `json:"library"`
	Points  []struct {
		Bytes  float64 `json:"bytes"`
		Median float64 `json:"median"`
		Low    float64 `json:"low"`
		High   float64 `json:"high"`
	} `json:"points"`
}

// An application is the time of a whole program with one broadcast.
type application struct {
	Program       string  `json:"program"`
	Library       string  `json:"library"`
	Broadcast     string  `json:"broadcast"`
	Total         float64 `json:"total_ms"`
	Communication float64 `json:"communication_ms"`
}

// A reconstruction is the range of times to reconstruct machines of a kind.
type reconstruction struct {
	Kind   string `json:"kind"`
	Points []struct {
		Hosts float64 `json:"hosts"`
		Low   float64 `json:"low_s"`
		High  float64 `json:"high_s"`
	} `json:"points"`
}

// A contention is the mean error in % of predicted times of transfers that contend, by the model of sharing.
type contention struct {
	Queues     string  `json:"queues"`
	Library    string  `json:"library"`
	Fitted     float64 `json:"fitted"`
	Fair       float64 `json:"fair,omitempty"`
	Asymmetric float64 `json:"asymmetric,omitempty"`
}

func read(file string) (*measured, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var m measured
	if err := jsonfile.Decode(f, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &m, nil
}

// write replaces the file.
func (m *measured) write(file string) error {
	return outfile.Write(file, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		return e.Encode(m)
	})
}
