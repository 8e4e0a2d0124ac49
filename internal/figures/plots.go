package main

import (
	"bytes"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology/draw"
)

// A picture shows some of what was measured.
type picture struct {
	Name    string   `json:"name"` // of its files
	Title   string   `json:"title"`
	Caption string   `json:"caption"`
	X       axis     `json:"x"`
	Y       axis     `json:"y"`
	Series  []series `json:"series"`
}

// An axis is that of draw.Axis.
type axis struct {
	Name   string   `json:"name,omitempty"`
	Unit   string   `json:"unit,omitempty"` // "s": times
	Log    bool     `json:"log,omitempty"`
	Bytes  bool     `json:"bytes,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

func (a axis) drawn() draw.Axis {
	d := draw.Axis{Name: a.Name, Log: a.Log, Bytes: a.Bytes, Labels: a.Labels}
	if a.Unit == "s" {
		d.Format = quantity.Seconds
	}
	return d
}

// A series is a draw.Series.
type series struct {
	Name  string    `json:"name"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
	Low   []float64 `json:"low,omitempty"`
	High  []float64 `json:"high,omitempty"`
	Apart bool      `json:"apart,omitempty"`
	Limit bool      `json:"limit,omitempty"`
	Muted bool      `json:"muted,omitempty"`
}

// svg is the picture, for dark backgrounds in other colours.
func (p *picture) svg(dark bool) ([]byte, error) {
	var all []draw.Series
	for _, s := range p.Series {
		all = append(all, draw.Series(s))
	}
	figure, err := draw.Plot(p.Title, p.X.drawn(), p.Y.drawn(), all)
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
