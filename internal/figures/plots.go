package main

import (
	"bytes"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology/draw"
)

// A picture shows some of what was measured.
type picture struct {
	Name    string        `json:"name"` // of its files
	Title   string        `json:"title"`
	Caption string        `json:"caption"`
	X       axis          `json:"x"`
	Y       axis          `json:"y"`
	Series  []draw.Series `json:"series"`
}

// An axis is one of numbers, or of times.
type axis struct {
	draw.Axis
	Unit string `json:"unit,omitempty"` // "s": times
}

func (a axis) drawn() draw.Axis {
	if a.Unit == "s" {
		a.Format = quantity.Seconds
	}
	return a.Axis
}

// svg is the picture, for dark backgrounds in other colours.
func (p *picture) svg(dark bool) ([]byte, error) {
	figure, err := draw.Plot(p.Title, p.X.drawn(), p.Y.drawn(), p.Series)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := figure.SVG(&b); err != nil || !dark {
		return b.Bytes(), err
	}
	light := strings.NewReplacer(
		"<svg ", `<svg fill="#DDDDDD" `, // of texts that name no colour
		"#FFFFFF", "#0D1117", "#202020", "#DDDDDD", "#505050", "#BBBBBB", "#606060", "#AAAAAA", "#E0E0E0", "#3A3A3A", "#0072B2", "#58A6FF",
	)
	return []byte(light.Replace(b.String())), nil
}
