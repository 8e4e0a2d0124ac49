package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// checkOptions are those of check and of the sampling of watch.
type checkOptions struct {
	network   string
	size      string
	budget    time.Duration
	tolerance float64
	seed      uint64
	bytes     int
	known     *model.Network // of --network
}

func checkCommand(run runner) *cobra.Command {
	var (
		o           checkOptions
		ranks       int
		all, asJSON bool
	)
	c := &cobra.Command{
		Use:   "check [flags]",
		Short: "Find the bad host or cable among many, by few messages",
		Long: `Check reads few pairs of hosts (of 1,024, one in a hundred), with short messages and with long ones each
way, and names the hosts and links that are slow: in latency or in rate, both ways or one, with how slow, a 95 %
interval and a p-value. First all hosts are read once a round; then what is doubtful, again; only these
new readings are tested, so the p-values are corrected for those that were read again, and need no correction for
the number of hosts and links.

--network says how hosts are wired: a network of topocast discover, a platform file, or a line as
for simulate. Without it only hosts can be named, against those of similar names. A host, its network card and
its only cable cannot be told apart, and a full mesh hides its cables.

Exit status: 0 nothing is slow, 3 something is named, 4 the check ended early and named nothing.`,
		Example: `  mpirun -n 1024 topocast check --network network.json
  topocast simulate --cluster "fattree:8,8;1,4 routing=modulo" \
      --fault "direction h5>s0 rate=0.5x" -- check`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			status := statusFine
			err := run(ranks, func(comm mpi.Communicator) error {
				s, err := o.settings(comm)
				if err != nil {
					return err
				}
				found, err := check.Measure(c.Context(), comm, s)
				if err != nil || comm.Rank() != 0 {
					return err
				}
				switch {
				case len(found.Named()) > 0:
					status = statusDifferent
				case !found.Complete:
					status = statusUnknown
				}
				if asJSON {
					return writeChecked(c.OutOrStdout(), found)
				}
				for _, warning := range found.Warnings {
					fmt.Fprintf(c.ErrOrStderr(), "warning: %s\n", warning)
				}
				out := &checkedWriter{Writer: c.OutOrStdout()}
				tellChecked(out, found, all)
				return out.err
			})
			if err == nil && status != statusFine {
				return answer(status)
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "list all hosts and links that were read again, not the named ones only")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/check) instead of text")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	o.flags(c)
	return c
}

func (o *checkOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.network, "network", "", "file or line that says how hosts are wired")
	f.StringVar(&o.size, "size", "1MiB", "size of the long messages")
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.Float64Var(&o.tolerance, "tolerance", 0.1, "what is slower by less than this share is never named")
	f.Uint64Var(&o.seed, "seed", 1, "of the choice of pairs")
}

// validate reads what the flags name.
func (o *checkOptions) validate() error {
	bytes, err := parseSize(o.size)
	if err != nil {
		return badInput("--size: %w", err)
	}
	if bytes < 1 || bytes > math.MaxInt32 {
		return badInput("--size %s: want 1 byte to 2 GiB", o.size)
	}
	o.bytes = int(bytes)
	if o.budget < 0 {
		return badInput("--budget %s: want at least 0", o.budget)
	}
	if !(o.tolerance >= 0.01) || math.IsInf(o.tolerance, 0) {
		return badInput("--tolerance %g: want a share of at least 0.01, such as 0.1", o.tolerance)
	}
	if o.network != "" {
		o.known, err = networkOrLine(o.network)
	}
	return err
}

// networkOrLine loads a network from a file, or makes one of a line of text.
func networkOrLine(text string) (*model.Network, error) {
	if _, err := os.Stat(text); err == nil || text == standard {
		return loadNetwork(text)
	}
	cluster, err := simnet.ParseCluster(text)
	if err != nil {
		if !strings.Contains(text, ":") {
			return nil, badInput("%s: no such file, and no cluster such as tree:2x4x8", text)
		}
		return nil, &inputError{err}
	}
	return model.FromGraph(cluster.Graph, cluster.Routing)
}

// settings are those of a check of these ranks, on rank 0. It is collective.
func (o *checkOptions) settings(comm mpi.Communicator) (*check.Settings, error) {
	s := &check.Settings{Bytes: o.bytes, Tolerance: o.tolerance, Budget: o.budget, Seed: o.seed}
	if o.known == nil {
		return s, nil
	}
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, err
	}
	var refused error
	if comm.Rank() == 0 {
		if s.Graph, s.Routing, refused = wiringOf(o.known, places); refused != nil {
			refused = fmt.Errorf("--network %s: %w", o.network, refused)
		}
	}
	if err := agree(comm, "--network", refused); err != nil {
		return nil, err
	}
	return s, nil
}

// wiringOf is the wiring of the hosts of a job, which may be a part of a network, with the hosts' names.
func wiringOf(n *model.Network, places []mpi.Place) (*topology.Graph, topology.RouteChoice, error) {
	if len(n.Hosts()) > 0 && n.Hosts()[0] != "" {
		at := make([]model.Location, len(places))
		for i, p := range places {
			at[i] = model.Location{Host: p.Host, Core: p.Core}
		}
		part, err := n.View(at)
		if err != nil {
			return nil, 0, err
		}
		n = part
	}
	g, err := wiring(n)
	if err == nil {
		g, err = namedByHost(n, g)
	}
	if err != nil {
		return nil, 0, err
	}
	here := map[string]bool{}
	for _, p := range places {
		here[p.Host] = true
	}
	if g.Hosts() != len(places) && g.Hosts() != len(here) {
		return nil, 0, fmt.Errorf("it has %s, and the job %s on %s", words.Count(g.Hosts(), "host"), words.Count(len(places), "rank"), words.Count(len(here), "host"))
	}
	return g, n.Routing(), nil
}

// tellChecked writes for people.
func tellChecked(w io.Writer, r *check.Result, all bool) {
	pairs := float64(r.Hosts) * float64(r.Hosts-1) / 2
	fmt.Fprintf(w, "%d hosts, %d pairs read in %d rounds (%s of all), readings spread by %s\n",
		r.Hosts, r.Pairs, r.Rounds, quantity.Percent(float64(r.Pairs)/pairs), quantity.Percent(r.Noise))
	named := r.Named()
	switch {
	case len(named) == 0 && !r.Complete:
		fmt.Fprintln(w, "ended early, nothing stands out so far")
	case len(named) == 0:
		fmt.Fprintln(w, "nothing is slow")
	}
	for _, s := range named {
		tellSuspect(w, &s)
	}
	if all && len(r.Suspects) > len(named) {
		fmt.Fprintln(w, "\nread again, and not named:")
		for _, s := range r.Suspects[len(named):] {
			tellSuspect(w, &s)
		}
	}
}

func tellSuspect(w io.Writer, s *check.Suspect) {
	fmt.Fprint(w, s.Name)
	if s.Cable != "" {
		fmt.Fprintf(w, ", or its cable to %s", s.Cable)
	}
	if len(s.Same) > 0 {
		fmt.Fprintf(w, ", or %s", strings.Join(s.Same, ", or "))
	}
	fmt.Fprintln(w)
	for _, f := range s.Findings {
		fmt.Fprintf(w, "  %-28s %.3g times as long as usual (%.3g to %.3g), p %.2g, %d readings\n", describeFinding(&f), f.Factor, f.Low, f.High, f.P, f.Readings)
	}
}

// describeFinding is what takes longer.
func describeFinding(f *check.Finding) string {
	switch {
	case f.What == check.LinkLatency:
		return "latency of the link"
	case f.What == check.HostAnswer:
		return "short messages"
	case f.From == "":
		return "long messages to " + f.To
	case f.To == "":
		return "long messages from " + f.From
	}
	return "long messages " + f.From + " > " + f.To
}
