package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/model/results"
)

func predictCommand(shared *cli.Flags) *cobra.Command {
	var (
		sharing             = fittedSharing
		all                 string
		bytes               int64
		ackWeight, coverage float64
		noLatency           bool
	)
	c := &cobra.Command{
		Use:   "predict NET (SRC DST BYTES | FILE | --alltoall RANKS)",
		Short: "Predict when transfers complete that contend for links",
		Long: `Predict reads a network (of topocast discover, or a platform file {"graph":{...}}) and prints when transfers are
complete that begin together or as a file says:

  SRC DST BYTES     one transfer
  FILE              {"transfers":[{"src":0,"dst":5,"bytes":10000000},...]}, each
                    with "start_s" if they do not begin together
  --alltoall 0-7    each of these ranks sends --bytes to each other one

A rank is the name of its host, if that has no other rank, or else a number. In a platform file the ranks are its
hosts in order. Where hosts are called by numbers, standard error says which text was read as a name.

--sharing says how a link's bandwidth is split: fair (max-min, full duplex), asymmetric (a flow also takes
--ack-weight of its rate of the reverse direction; Zhu et al. 2014 for 0), or as the network was fitted.`,
		Example: `  topocast predict network.json 0 5 1MB
  topocast predict network.json transfers.json
  topocast predict network.json --alltoall 0-7,12 --bytes 1GB
  topocast predict platform.json transfers.json --sharing asymmetric \
      --ack-weight 0.05 --json`,
		Args: cli.Args(3, wantNetwork, "SRC or FILE", "DST", "BYTES"),
		RunE: cli.OnNetwork(func(c *cobra.Command, network *model.Network, args []string) error {
			if all != "" && !c.Flags().Changed("bytes") {
				return cli.BadInput("--alltoall: want --bytes, the size of each transfer")
			}
			if err := cmp.Or(
				cli.RefuseUnless(all != "", c, "only with --alltoall", "bytes"),
				cli.RefuseUnless(sharing == asymmetricSharing, c, "only with --sharing asymmetric", "ack-weight"),
			); err != nil {
				return err
			}
			transfers, err := transfersOf(network, args[1:], all, bytes, c.ErrOrStderr())
			if err != nil {
				return err
			}
			settings := &model.PredictSettings{NoLatency: noLatency}
			if sharing != fittedSharing {
				settings.Sharing = &contention.Sharing{AckWeight: ackWeight}
				if sharing == asymmetricSharing {
					settings.Sharing.Coupling = 1
				}
			}
			predictor, err := network.NewPredictor(settings)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			p, err := predictor.Prediction(transfers, coverage)
			if err != nil && len(args) == 2 {
				err = cli.BadInput("%s: %w", args[1], err)
			}
			if err != nil {
				return cli.BadInput("%w", err)
			}
			if err := cli.RefuseUnless(p.Interval != nil, c, "the network was not fitted, nothing is known of its errors", "coverage"); err != nil {
				return err
			}
			return show(c, shared, func(w io.Writer) { tellPrediction(w, p) }, &results.Prediction{Complete: slices.Max(p.Completion), Prediction: *p})
		}),
	}
	f := c.Flags()
	cli.Choice(f, &sharing, "sharing", sharings(), "how flows share links: "+words.Or(sharings()))
	f.Float64Var(&ackWeight, "ack-weight", 0, "with --sharing asymmetric: share of a flow's rate that its acknowledgements take of the reverse direction")
	cli.Want(f, "ack-weight", "at least 0", func() bool { return ackWeight >= 0 && !math.IsInf(ackWeight, 0) })
	f.BoolVar(&noLatency, "no-latency", false, "leave out the latency of paths")
	f.Float64Var(&coverage, "coverage", 0.9, "probability that the interval holds the measured time")
	cli.Want(f, "coverage", "in (0, 1)", func() bool { return coverage > 0 && coverage < 1 })
	f.StringVar(&all, "alltoall", "", "ranks that send to each other, such as 0-7,12, or all")
	cli.Parse(f, &bytes, "bytes", "", "with --alltoall, size of each transfer, such as "+cli.SizeForms, cli.ParseSize)
	return cli.PrintsJSON(c, "topocast/prediction")
}

// transfersOf are the transfers that the arguments after NET and the flags describe.
func transfersOf(n *model.Network, args []string, all string, bytes int64, stderr io.Writer) ([]model.Transfer, error) {
	g, err := n.NameHosts(n.Graph())
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	names := hostNames(g)
	switch {
	case all != "" && len(args) > 0:
		return nil, cli.BadInput("unexpected argument %q with --alltoall", args[0])
	case all != "":
		ranks, err := ranksOfList(names, all, stderr)
		if err == nil && len(ranks) < 2 {
			err = cli.BadInput("want two ranks or more")
		}
		if err != nil {
			return nil, cli.BadInput("--alltoall %s: %w", all, err)
		}
		var transfers []model.Transfer
		for _, src := range ranks {
			for _, dst := range ranks {
				if src != dst {
					transfers = append(transfers, model.Transfer{Src: src, Dst: dst, Bytes: bytes})
				}
			}
		}
		return transfers, nil
	case len(args) == 1:
		return cli.ReadFile(args[0], model.ReadTransfers)
	case len(args) == 3:
		var ends [2]int
		for i := range ends {
			if ends[i], err = numberOf("rank", names, 0, args[i], stderr); err != nil {
				return nil, err
			}
		}
		size, err := cli.ParseSize(args[2])
		if err != nil {
			return nil, err
		}
		return []model.Transfer{{Src: ends[0], Dst: ends[1], Bytes: size}}, nil
	}
	return nil, cli.BadInput("want NET SRC DST BYTES, NET FILE of transfers, or NET --alltoall RANKS --bytes BYTES; see topocast predict --help")
}

// ranksOfList reads a list of ranks and ranges of ranks, or all.
func ranksOfList(names []string, list string, stderr io.Writer) ([]int, error) {
	if list == "all" {
		return inOrder(len(names)), nil
	}
	var ranks []int
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		ends := strings.SplitN(part, "-", 2)
		if _, err := strconv.Atoi(ends[0]); err != nil || slices.Contains(names, part) { // a name may have a dash
			ends = []string{part}
		}
		var found []int
		for _, end := range ends {
			rank, err := numberOf("rank", names, 0, end, stderr)
			if err != nil {
				return nil, err
			}
			found = append(found, rank)
		}
		first, last := found[0], found[len(found)-1]
		switch {
		case (onlyOne(names, ends[0]) < 0) != (onlyOne(names, ends[len(ends)-1]) < 0):
			return nil, cli.BadInput("%s: want the names of two hosts, or two numbers that are no names", part)
		case last < first:
			return nil, cli.BadInput("%s: rank %d is after rank %d: want the lower one first", part, first, last)
		}
		for rank := first; rank <= last; rank++ {
			if slices.Contains(ranks, rank) {
				return nil, cli.BadInput("rank %d is given twice", rank)
			}
			ranks = append(ranks, rank)
		}
	}
	return ranks, nil
}

// listedTransfers is how many transfers a prediction lists as text.
const listedTransfers = 100

// tellPrediction writes for people: transfers, and when all of them are complete.
func tellPrediction(w io.Writer, p *model.Prediction) {
	t := columns.New(w, "transfer", "complete at", "interval")
	interval := func(i int) string {
		if p.Interval == nil {
			return "-"
		}
		return quantity.Seconds(p.Interval[i][0]) + " to " + quantity.Seconds(p.Interval[i][1])
	}
	for i, x := range p.Transfers {
		t.Row(x, quantity.Seconds(p.Completion[i]), interval(i))
	}
	t.FlushFirst(listedTransfers)
	if estimated := count(p.Estimated, func(is bool) bool { return is }); estimated > 0 {
		fmt.Fprintf(w, "%d of %d transfers cross links whose bandwidths were not measured but are typical of their level\n", estimated, len(p.Transfers))
	}
	last := slices.Index(p.Completion, slices.Max(p.Completion))
	within := ""
	if p.Interval != nil {
		within = fmt.Sprintf(" (%s)", interval(last))
	}
	fmt.Fprintf(w, "all complete at %s%s\n", quantity.Seconds(p.Completion[last]), within)
}

// The values of --sharing.
const (
	fairSharing = iota
	asymmetricSharing
	fittedSharing // as the network was fitted
)

// sharings are the words for them.
func sharings() []string { return []string{"fair", "asymmetric", "fitted"} }
