package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
)

func predictCommand() *cobra.Command {
	var (
		sharing             string
		ackWeight, coverage float64
		noLatency, asJSON   bool
	)
	c := &cobra.Command{
		Use:   "predict [flags] NET TRANSFERS.json",
		Short: "Predict when transfers complete that contend for links",
		Long: `Predict reads a network (of topocast discover, or a platform file {"graph":{...}}) and transfers
{"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0},...]}, and prints when each of them is complete.
src and dst are ranks of the network, or hosts of the platform file in its order.

Sharing says how a link's bandwidth is split: fair (max-min, full duplex), asymmetric (a flow also takes
--ack-weight of its rate of the reverse direction; Zhu et al. 2014 for 0), or as the network was fitted.`,
		Example: `  topocast predict network.json transfers.json
  topocast predict --sharing asymmetric --ack-weight 0.05 --json \
      platform.json transfers.json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			how, err := model.ParseSharing(sharing, ackWeight)
			if err != nil {
				return &inputError{err}
			}
			if how == nil || !how.Asymmetric {
				if err := refuseUnused(c, "only with --sharing asymmetric", "ack-weight"); err != nil {
					return err
				}
			}
			network, err := loadNetwork(args[0])
			if err != nil {
				return err
			}
			transfers, err := readTransfers(args[1])
			if err != nil {
				return err
			}
			predictor, err := network.NewPredictor(&model.PredictSettings{Sharing: how, NoLatency: noLatency})
			if err != nil {
				return &inputError{err}
			}
			p, err := predictor.Prediction(transfers, coverage)
			if err != nil {
				return &inputError{err}
			}
			if p.Interval == nil {
				if err := refuseUnused(c, "the network was not fitted, nothing is known of its errors", "coverage"); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(struct {
					Format     string       `json:"format"`
					Version    int          `json:"version"`
					Completion []float64    `json:"completion_s"`
					Interval   [][2]float64 `json:"interval_s"` // null: the network was not fitted, so nothing is known of its errors
					Estimated  []bool       `json:"estimated"`  // crosses a link whose bandwidth was not measured
				}{"topocast/prediction", 1, p.Completion, p.Interval, p.Estimated})
			}
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "transfer\tcomplete at\tinterval")
			estimated := 0
			for i, x := range transfers {
				interval := "-"
				if p.Interval != nil {
					interval = quantity.Seconds(p.Interval[i][0]) + " to " + quantity.Seconds(p.Interval[i][1])
				}
				fmt.Fprintf(t, "%s\t%s\t%s\n", x, quantity.Seconds(p.Completion[i]), interval)
				if p.Estimated[i] {
					estimated++
				}
			}
			if err := t.Flush(); err != nil || estimated == 0 {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d of %d transfers cross links whose bandwidths were not measured but are typical of their level\n",
				estimated, len(transfers))
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&sharing, "sharing", "fitted", "how flows share links: "+words.Or(model.Sharings()))
	f.Float64Var(&ackWeight, "ack-weight", 0, "with --sharing asymmetric: share of a flow's rate that its acknowledgements take of the reverse direction")
	f.BoolVar(&noLatency, "no-latency", false, "leave out the latency of paths")
	f.Float64Var(&coverage, "coverage", 0.9, "probability that the interval holds the measured time")
	f.BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return c
}

func readTransfers(path string) ([]model.Transfer, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	transfers, err := model.ReadTransfers(f)
	if err != nil {
		return nil, badInput("%s: %w", path, err)
	}
	return transfers, nil
}
