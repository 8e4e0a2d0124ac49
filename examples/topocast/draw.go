package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology/draw"
)

// A drawing is a kind of picture that the command can make.
type drawing struct {
	name string
	from string // the files it is made of
	draw func(*drawSource) (*draw.Figure, error)
}

func drawings() []drawing {
	return []drawing{
		{"heatmap", "a network, readings or a matrix", drawHeatMap},
		{"dendrogram", "a network, readings or a matrix", drawDendrogram},
		{"histogram", "a network, readings or a matrix", drawHistogram},
		{"bandwidth", "a network, or readings of several sizes", drawBandwidth},
		{"broadcasts", "the JSON or CSV of topocast bcast", drawBroadcasts},
		{"layout", "a network, readings or a matrix", drawLayout},
	}
}

func drawCommand() *cobra.Command {
	var what, output string
	s := drawSource{}
	var list strings.Builder
	for _, d := range drawings() {
		fmt.Fprintf(&list, "  %-11s of %s\n", d.name, d.from)
	}
	c := &cobra.Command{
		Use:   "draw [flags] FILE",
		Short: "Draw what was measured and found, as SVG or PNG",
		Long: `Draw makes a picture of a file:

` + list.String() + `
FILE is a network (topocast discover), readings (topocast measure), a matrix of latencies or timed broadcasts
(topocast bcast --json or --csv); "-" reads standard input. Of a network that keeps no readings, latencies are
those that it predicts for the message it was measured with; groups of readings are those that reconstruct finds.
Each picture says below its title what was cut and left out.`,
		Example: `  topocast draw --what dendrogram network.json
  topocast draw --what heatmap -o latencies.png readings.json
  topocast bcast --json > times.json
  topocast draw --what broadcasts -o times.svg times.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			k := slices.Index(drawingNames(), what)
			if k < 0 {
				return badInput("--what %q: want %s", what, words.Or(drawingNames()))
			}
			if s.order != "groups" && s.order != "file" {
				return badInput("--order %q: want groups or file", s.order)
			}
			if !(s.percentile > 0 && s.percentile <= 100) {
				return badInput("--percentile %g: want above 0 and at most 100", s.percentile)
			}
			if what != "heatmap" {
				if err := refuseUnused(c, "only with --what heatmap", "order", "percentile"); err != nil {
					return err
				}
			}
			if output == "" {
				output = what + ".svg"
			}
			write := (*draw.Figure).SVG
			switch extension := strings.ToLower(filepath.Ext(output)); {
			case extension == ".png":
				write = (*draw.Figure).PNG
			case extension != ".svg" && output != standard:
				return badInput("--output %s: want a name that ends in .svg or .png, or - for SVG on standard output", output)
			}
			picture := outputFile{"--output", output, c.OutOrStdout()}
			if err := picture.check(nil); err != nil {
				return err
			}
			if err := s.open(args[0], what == "broadcasts"); err != nil {
				return err
			}
			f, err := drawings()[k].draw(&s)
			if err != nil {
				return badInput("%s: %w", args[0], err)
			}
			_, err = picture.save(func(w io.Writer) error { return write(f, w) })
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&what, "what", "layout", "picture: "+words.Or(drawingNames()))
	f.StringVarP(&output, "output", "o", "", "file for the picture, .svg or .png; default: what it is, .svg")
	f.StringVar(&s.unit, "unit", "", "unit of a matrix: s, ms, us or ns")
	f.StringVar(&s.order, "order", "groups", "ranks of a heat map: by groups, or as in the file")
	f.Float64Var(&s.percentile, "percentile", 99, "share of the readings, in percent, that the colours of a heat map span")
	return c
}

func drawingNames() []string {
	var names []string
	for _, d := range drawings() {
		names = append(names, d.name)
	}
	return names
}
