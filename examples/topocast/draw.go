package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
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
		{"heatmap", "a network, measurements or a matrix", drawHeatMap},
		{"dendrogram", "a network, measurements or a matrix", drawDendrogram},
		{"histogram", "a network, measurements or a matrix", drawHistogram},
		{"bandwidth", "a network, or measurements of several sizes", drawBandwidth},
		{"broadcasts", "the JSON or CSV of topocast bcast", drawBroadcasts},
		{"layout", "a network, measurements or a matrix", drawLayout},
	}
}

func plotCommand(shared *cli.Flags) *cobra.Command {
	var output *cli.Output
	s := drawSource{}
	names := each(drawings(), func(d drawing) string { return d.name })
	var list strings.Builder
	for _, d := range drawings() {
		fmt.Fprintf(&list, "  %-11s of %s\n", d.name, d.from)
	}
	c := &cobra.Command{
		Use:   "plot KIND FILE",
		Short: "Draw a heat map, tree, histogram or curves as SVG or PNG",
		Long: `Plot makes a picture of a file. KIND is one of these:

` + list.String() + `
FILE is a network (topocast discover, or a graph of another tool), measurements (topocast measure), a matrix of latencies or timed broadcasts
(topocast bcast --json or --csv); "-" reads standard input. Of a network that keeps no measurements, latencies are
those that it predicts for the message it was measured with; groups of measurements are those that reconstruct finds.
Each picture says below its title what was cut and left out.`,
		Example: `  topocast plot dendrogram network.json
  topocast plot heatmap readings.json -o latencies.png
  topocast bcast --json > times.json
  topocast plot broadcasts times.json -o times.svg`,
		SuggestFor: []string{"draw"},
		Args:       cli.Args(0, "KIND, "+words.Or(names), "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			what := args[0]
			k := slices.Index(names, what)
			if k < 0 {
				return cli.BadInput("KIND %q: want %s", what, words.Or(names))
			}
			if err := cmp.Or(
				cli.RefuseUnless(what == "heatmap", c, "only of a heatmap", "order", "percentile"),
				cli.RefuseUnless(what == "layout", c, "only of a layout", "probability"),
			); err != nil {
				return err
			}
			if output.Path == "" {
				output.Path = what + ".svg"
			}
			write := (*draw.Figure).SVG
			switch extension := strings.ToLower(filepath.Ext(output.Path)); {
			case extension == ".png":
				write = (*draw.Figure).PNG
			case extension != ".svg" && output.Path != cli.Standard:
				return cli.BadInput("--output %s: want a name that ends in .svg or .png, or - for SVG on standard output", output.Path)
			}
			if err := s.open(c.ErrOrStderr(), args[1], what == "broadcasts"); err != nil {
				return err
			}
			f, err := drawings()[k].draw(&s)
			if err != nil {
				return cli.BadInput("%s: %w", args[1], err)
			}
			return output.SaveAndSay("picture", func(w io.Writer) error { return write(f, w) })
		},
	}
	f := c.Flags()
	output = shared.Output(c, "output", "o", "", "file for the picture, .svg or .png; default: KIND.svg")
	unitFlag(f, &s.unit, "unit of a matrix: s, ms, us or ns")
	cli.Choice(f, &s.order, "order", []string{"groups", "file"}, "ranks of a heat map: by groups, or as in the file")
	f.Float64Var(&s.percentile, "percentile", 99, "share of the measurements, in percent, that the colours of a heat map span")
	cli.Want(f, "percentile", "above 0 and at most 100", func() bool { return s.percentile > 0 && s.percentile <= 100 })
	f.Float64Var(&s.probability, "probability", 0, "of the links of a layout, the share of message lengths that must show a link, 0 to 1")
	cli.Want(f, "probability", "in [0, 1]", func() bool { return s.probability >= 0 && s.probability <= 1 })
	return c
}
