package main

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/plogp"
)

// parameterOptions are the flags that say by what of the PLogP parameters ranks are compared.
type parameterOptions struct {
	plogp.View
	fit int // how parameters depend on the size (Reinfjell 2023, section 3.2)
}

// The values of --fit.
const (
	fitPiecewise = "piecewise"
	fitLinear    = "linear"
)

func (o *parameterOptions) flags(f *pflag.FlagSet) {
	cli.Parse(f, &o.Distance, "distance", "", "of PLogP parameters: latency, time, time33, rtt or profile", plogp.ParseDistance)
	cli.Parse(f, &o.Bytes, "bytes", "0B", "with --distance: size of the message, such as "+cli.SizeForms, cli.ParseSize)
	cli.Choice(f, &o.fit, "fit", []string{fitPiecewise, fitLinear}, "with --distance: parameters are piecewise linear in the size, or linear")
}

// view is what the flags ask for; nil: --distance was not given.
func (o *parameterOptions) view(c *cobra.Command) (*plogp.View, error) {
	given := c.Flags().Changed("distance")
	err := cmp.Or(
		cli.RefuseUnless(given, c, "only with --distance", "bytes", "fit"),
		cli.RefuseUnless(!given, c, "with --distance, which is of parameters in s", "unit"),
		cli.RefuseUnless(!given, c, "with --distance: parameters are of one run", "reps"))
	if err != nil || !given {
		return nil, err
	}
	v := o.View
	v.Linear = o.fit > 0 // the second
	return &v, nil
}
