package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/check"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// checkOptions are the flags of check.
type checkOptions struct {
	bytes     int64 // of long messages; 0: as the check has it
	budget    time.Duration
	tolerance float64
	seed      uint64
	all       bool
	load      bool
	history   historyOptions

	network string         // NET
	known   *model.Network // of NET
}

func checkCommand(shared *cli.Flags) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [NET]",
		Short: "Find slow hosts and links, and what has changed",
		Long: `Check measures few pairs of hosts (of 1,024 hosts, one pair in a hundred), with short messages and with long ones
each way. It names the hosts and links that are slow, in latency or in rate, in both directions or one, with a factor, a
95 % interval and a p-value. First every host is measured once a round. Then outliers are measured again, and only
these new measurements are tested. The p-values are corrected for the number of tests.

NET says how hosts are wired: a network that discover writes, a platform file, or a line as for --sim.
Without NET only hosts can be named, against those of similar names. A host, its network card and
its only cable cannot be told apart, and a full mesh hides its cables.

With --load all hosts send and receive at once, in 64 rounds: it names the links, switches and hosts that are slow only
then, and two hosts that slow each other down. What a transfer should take follows from NET, whose links share fairly. Like is
compared with like in the same round. Of 200 healthy machines at most one is accused.

With --history FILE this run is appended to FILE, a file per site, and check tells which hosts, links and pairs of
hosts have changed since earlier runs. A run measures few pairs, the same each time. A series is compared with its own
past, from its 9th run on, after what all series of a run have in common is taken out. A step of 5 % with 2 % of noise
of a host is told within five runs, of an uplink's rate within three, of a single pair among 128 within seven. What the change
of a host or link explains is not told of others. Of 100 runs without a change at most one tells
anything at all, however many hosts there are; --false-alarms sets this. --import takes matrices of latencies that others measured as runs, and measures nothing; --measure=false
judges FILE as it is.

Exit status: 0 nothing is slow, or the newest run tells no change; 3 something is; 4 nothing is named, and the check ended
early, had nothing to compare a switch with, or too few hosts to tell, or there are too few runs.`,
		Example: `  mpirun -n 1024 topocast check network.json
  topocast check --sim "fattree:8,8;1,4 routing=modulo" \
      --fault "direction h5>s0 rate=0.5x"
  topocast check --load --sim tree:4x8 --fault "switch s1 rate=0.6x"
  mpirun -n 64 topocast check network.json --history site.history
  topocast check --history site.history --unit us --import 2026-11-01=a.csv \
      --import 2026-11-02=b.csv`,
		SuggestFor: []string{"watch"},
		Args:       cli.Args(1, wantNetwork),
		RunE: func(c *cobra.Command, args []string) error {
			o.network = shared.Sim // as it should be, without faults
			if len(args) > 0 {
				o.network = args[0]
			}
			if o.network != "" {
				var err error
				if o.known, err = networkOrLine(o.network); err != nil {
					return err
				}
			}
			recorded := o.history.file != ""
			if err := cmp.Or(
				cli.RefuseUnless(!recorded, c, "not with --history", "tolerance", "load"),
				cli.RefuseUnless(recorded, c, "only with --history", historyFlags...),
				cli.RefuseUnless(o.network != "", c, "want NET: without the wiring nobody knows what transfers share", "load"),
			); err != nil {
				return err
			}
			shared.HollowAbove, shared.Work = cli.DiscoverHollow, checkWork
			if recorded {
				return o.follow(c, shared)
			}
			return o.check(c, shared)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.load, "load", false, "measure while all hosts send and receive; size of messages 4MiB by default, and more where links are fast")
	f.BoolVar(&o.all, "all", false, "list all hosts and links that were measured again; with --history, the changes of all runs")
	cli.Parse(f, &o.bytes, "size", "1MiB", "size of the long messages", cli.ParseSize)
	cli.Want(f, "size", "1 byte to 2 GiB", func() bool { return o.bytes >= 1 && o.bytes <= math.MaxInt32 })
	o.bytes = 0 // unless it is given
	budgetFlag(f, &o.budget)
	f.Float64Var(&o.tolerance, "tolerance", 0.1, "what is slower by less than this share is never named")
	cli.Want(f, "tolerance", "a share of at least 0.01, such as 0.1", func() bool { return o.tolerance >= 0.01 && !math.IsInf(o.tolerance, 0) })
	f.Uint64Var(&o.seed, "seed", 1, "seed of the choice of pairs")
	o.history.flags(f)
	return cli.Measures(cli.PrintsJSON(c, "topocast/check; with --history topocast/changes"))
}

// check measures the ranks and names what is slow.
func (o *checkOptions) check(c *cobra.Command, shared *cli.Flags) error {
	status := cli.StatusFine
	err := shared.Run(c, func(comm mpi.Communicator) error {
		s, err := o.settings(comm, shared.Timeout)
		if err != nil {
			return err
		}
		found, err := check.Measure(c.Context(), comm, s)
		if err != nil {
			return badSize(err)
		}
		if comm.Rank() != 0 {
			return nil
		}
		switch {
		case len(found.Named()) > 0:
			status = cli.StatusDifferent
		case !found.Complete || found.TooFew:
			status = cli.StatusUnknown
		}
		return show(c, shared, func(w io.Writer) {
			writeWarnings(c.ErrOrStderr(), "", found.Warnings)
			tellChecked(w, found, o.load, o.all)
		}, checkResult(found))
	})
	return answer(err, status)
}

// badSize makes wrong input of an error that refuses the size of messages. It travels between ranks as its text.
func badSize(err error) error {
	if text, isSize := strings.CutPrefix(err.Error(), "check: Settings.Bytes: "); isSize {
		return cli.BadInput("--size %s", strings.Replace(text, "with Load", "with --load", 1))
	}
	return err
}

// checkWork is what a check does on simulated ranks, by the user time for 256 and 1,024.
func checkWork(ranks int) cli.Work {
	return cli.Work{Pairs: 25 * float64(ranks), Remedy: "--ranks"}
}

// networkOrLine loads a network from a file, or makes one of a line of text.
func networkOrLine(text string) (*model.Network, error) {
	if _, err := os.Stat(text); err == nil || text == cli.Standard {
		return loadOnRanks(text)
	}
	cluster, err := cli.SimulatedCluster(text)
	if err != nil {
		return nil, err
	}
	return model.FromGraph(cluster.Graph, cluster.Routing)
}

// fewestChecked is how many hosts a check needs: of fewer nobody can say which one is slow.
const fewestChecked = 4

// settings are those of a check of these ranks, on rank 0. It is collective.
func (o *checkOptions) settings(comm mpi.Communicator, timeout time.Duration) (*check.Settings, error) {
	s := &check.Settings{Load: o.load, Bytes: int(o.bytes), Tolerance: o.tolerance, Budget: o.budget, Silence: timeout, Seed: o.seed}
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, err
	}
	var refused error
	if comm.Rank() == 0 {
		_, names := mpi.NumberHosts(places)
		hosts := len(names) // without NET a host is what has a name
		if o.known != nil {
			if s.Graph, s.Routing, refused = wiringOf(o.known, places); refused != nil {
				refused = fmt.Errorf("%s: %w", o.network, refused)
			} else {
				hosts = s.Graph.Hosts()
			}
		}
		if refused == nil && hosts < fewestChecked {
			refused = fmt.Errorf("%s: want at least %d, or none stands out", words.Count(hosts, "host"), fewestChecked)
		}
	}
	return s, cli.Agree(comm, "hosts", refused)
}

// wiringOf is the wiring of the hosts of a job, which may be a part of a network, with the hosts' names.
func wiringOf(n *model.Network, places []mpi.Place) (*topology.Graph, topology.RouteChoice, error) {
	if len(n.Hosts()) > 0 && n.Hosts()[0] != "" {
		part, err := n.View(decisions.Locations(checkedPlaces(places)))
		if err != nil {
			return nil, 0, err
		}
		n = part
	}
	side, err := comparison.NewSide("", n)
	if err != nil {
		return nil, 0, err
	}
	g := side.Graph
	_, here := mpi.NumberHosts(places)
	if g.Hosts() != len(places) && g.Hosts() != len(here) {
		return nil, 0, fmt.Errorf("it has %s, and the job %s on %s", words.Count(g.Hosts(), "host"), words.Count(len(places), "rank"), words.Count(len(here), "host"))
	}
	return g, n.Settings().Routing, nil
}

// checkedPlaces are those of the lowest rank of each host: ranks of one host are no hosts. Of a job on fewer hosts than a check
// needs, its ranks are checked.
func checkedPlaces(places []mpi.Place) []mpi.Place {
	var lowest []mpi.Place
	hosts, _ := mpi.NumberHosts(places)
	for rank, host := range hosts {
		if host == len(lowest) {
			lowest = append(lowest, places[rank])
		}
	}
	if len(lowest) < fewestChecked {
		return places
	}
	return lowest
}

// tellChecked writes for people.
func tellChecked(w io.Writer, r *check.Result, load, all bool) {
	pairs := float64(r.Hosts) * float64(r.Hosts-1) / 2
	what := fmt.Sprintf("%s measured in %s (%s of all)", words.Count(r.Pairs, "pair"), words.Count(r.Rounds, "round"), quantity.Percent(float64(r.Pairs)/pairs))
	if float64(r.Pairs) > pairs {
		what = fmt.Sprintf("%s measured in %s (there are %.0f)", words.Count(r.Pairs, "pair"), words.Count(r.Rounds, "round"), pairs)
	}
	if load {
		what = fmt.Sprintf("%s in %s of all at once", words.Count(r.Pairs, "transfer"), words.Count(r.Rounds, "round"))
	}
	fmt.Fprintf(w, "%d hosts, %s, measurements spread by %s\n", r.Hosts, what, quantity.Percent(r.Noise))
	named := r.Named()
	switch {
	case len(named) == 0 && (!r.Complete || r.TooFew):
		fmt.Fprintln(w, "nothing stands out of what could be judged")
	case len(named) == 0:
		fmt.Fprintln(w, "nothing is slow")
	}
	for _, s := range named {
		tellSuspect(w, &s)
	}
	if all && len(r.Suspects) > len(named) {
		fmt.Fprintln(w, "\nmeasured again, and not named:")
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
		if math.IsNaN(f.Factor) { // it hangs elsewhere
			fmt.Fprintf(w, "  %s, p %.2g, %s\n", &f, f.P, words.Count(f.Measurements, "measurement"))
			continue
		}
		fmt.Fprintf(w, "  %-28s %.3g times as long as usual (%.3g to %.3g)", &f, f.Factor, f.Low, f.High)
		switch {
		case f.Since > 0:
			fmt.Fprintf(w, " since round %d", f.Since)
		case f.Often < 1:
			fmt.Fprintf(w, " in %s of the measurements", quantity.Percent(f.Often))
		}
		if math.IsNaN(f.P) {
			fmt.Fprintf(w, ": it differs from its neighbours")
		} else {
			fmt.Fprintf(w, ", p %.2g", f.P)
		}
		fmt.Fprintf(w, ", %s\n", words.Count(f.Measurements, "round"))
	}
}

// checkResult is the same for programs.
func checkResult(r *check.Result) *results.Check {
	out := &results.Check{
		Hosts: r.Hosts, Pairs: r.Pairs, Rounds: r.Rounds, Complete: r.Complete && !r.TooFew, Noise: r.Noise,
		Links: r.Links, UnreadLinks: r.UnreadLinks, UnreadDirections: r.UnreadDirections,
		Suspects: []results.Suspect{}, Warnings: append([]string{}, r.Warnings...),
	}
	for _, s := range r.Suspects {
		row := results.Suspect{Name: s.Name, Cable: s.Cable, Same: s.Same, Named: s.Named, P: jsonfile.Known(s.P)}
		for _, f := range s.Findings {
			row.Findings = append(row.Findings, results.Finding{
				What: f.What, From: f.From, To: f.To,
				Factor: jsonfile.Known(f.Factor), Low: jsonfile.Known(f.Low), High: jsonfile.Known(f.High),
				Often: f.Often, Since: f.Since, P: jsonfile.Known(f.P), Measurements: f.Measurements,
			})
		}
		out.Suspects = append(out.Suspects, row)
	}
	return out
}
