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
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Machine  string    `json:"machine"` // on which the claims were measured
	Figures  []figure  `json:"figures"`
	Pictures []picture `json:"pictures"`
}

// A figure is a claim and the command that measures it again.
type figure struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Claim   string  `json:"claim"`
	Command string  `json:"command"`
	Last    *result `json:"last,omitempty"` // of the last make bench
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
