package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/spanner"
)

func reconstructCommand(shared *cli.Flags) *cobra.Command {
	var (
		method, truth string
		repetitions   []string
		unit          encode.Unit
		output        *cli.Output
		o             methodOptions
		p             parameterOptions
		find          searchOptions
	)
	c := &cobra.Command{
		Use:   "reconstruct FILE | LENGTH=FILE...",
		Short: "Reconstruct the wiring from a file of latencies",
		Long: `Reconstruct reads latencies and prints the groups that it finds: cores, sockets,
hosts, racks. FILE is the file of topocast measure, or a square matrix:
line i, cell j is the latency from i to j. Commas, semicolons, tabs or blanks
separate cells; empty ones, nan, NA and - were not measured. Names may stand in
a first line and a first column, and one triangle is enough. "-" reads standard
input. Further repetitions of the same matrix, or runs of the same ranks, make the
result surer.

A comment "# unit: us" names the unit of a matrix, else --unit does, else it is
s. With --output the network is kept for place, compare and predict: from a
file of topocast measure with times by size, from a matrix with latencies. What
--json prints they read as well, as a network of latencies.

The method greedy, for rings, tori and meshes, makes a topology of each message length that was measured and
merges them (Bannikov and Salnikov 2014). Matrices of several lengths are given as LENGTH=FILE each. The probability of an arc is the share of lengths that have it, and
"by_size" in the network and in --json lists the arcs of each length. It takes latencies as they are, without a tolerance: where messages pay
something at their ends, or measurements scatter, witness finds the links and greedy too many. A channel whose directions differ by more than
--duplex-eps is simplex and keeps the faster one; hosts within --shared-eps of the closest pair share memory. A
channel is as long as its directions in the mean over lengths, weighted by probability, over the shortest.

Where FILE has one-way times (topocast measure --what latency,oneway), greedy and witness take each direction by itself where
it is surely slower. Of trees, links get both directions if they were measured with --one-clock.

Of PLogP parameters (topocast measure --what plogp), --distance says what tells ranks apart: L, L + g(m), equation 3.3 of
Reinfjell 2023, the round trip, or the profiles of all parameters to all other ranks. --truth holds the groups against
what is known, and prints the share of ranks that are in the right machine, node and socket (equations 3.7 to 3.10).
FILE holds groups (LGate's, or any network), or is XML of lstopo, that of each host; "metadata" stands for what the
measurements say of the ranks: hosts, machines by the names of hosts without their last number, and NUMA nodes for sockets.

--search tries 50 values of the parameter of a method, --k or --eps, and keeps the one of the highest --score: silhouette, density-based
validity (dbcv), or the share of ranks whose groups come out again when the measurements are disturbed by their own
noise (stability). With --truth it prints the best share over all values, too (equation 3.10).

Methods: ` + strings.Join(methodNames(), ", ") + ".",
		Example: `  topocast reconstruct readings.json
  topocast reconstruct --unit us latencies.csv
  topocast reconstruct --unit ns --reps second.csv,third.csv --json first.csv
  topocast measure --sizes 8,4KiB,64KiB -o readings.json
  topocast reconstruct --distance rtt --truth metadata plogp.json
  topocast reconstruct --method greedy --duplex-eps 0.05 -o n.json readings.json
  topocast reconstruct --method greedy --unit us 8=short.csv 64KiB=long.csv`,
		Args: cli.Args(0, "FILE, of topocast measure or a matrix of latencies, or LENGTH=FILE..., one per message length"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := find.check(c, method, o); err != nil {
				return err
			}
			if err := checkLengths(method, find.search, args, repetitions); err != nil {
				return err
			}
			view, err := p.view(c)
			if err != nil {
				return err
			}
			files := strings.Join(args, " ")
			if shared.JSON && truth != "" {
				return cli.BadInput("--truth: what it prints is no part of --json")
			}
			var r topology.Reconstructor
			if !find.search {
				if r, err = newMethod(method, o); err != nil {
					return err
				}
			}
			l, err := readLatencies(slices.Concat(args, repetitions), unit, view)
			if err != nil {
				return err
			}
			ranks, _ := l.matrices[0].Dims()
			if err := o.checkRanks(method, ranks); err != nil {
				return err
			}
			var by *searched
			if find.search {
				if by, err = find.find(method, l, o); err != nil {
					return cli.BadInput("%s: %w", files, err)
				}
				r = by.method
			}
			var known *truthLevels
			if truth != "" {
				if known, err = l.readTruth(truth); err != nil {
					return err
				}
			}
			result, err := l.reconstruct(r)
			if err != nil {
				return cli.BadInput("%s: %w", files, err)
			}
			l.sayMeasurements(c.ErrOrStderr())
			result.Warnings = append(l.warnings, result.Warnings...)
			var unsaved error
			if output.Path != "" {
				n, err := l.network(result)
				if err != nil {
					return cli.BadInput("%w", err)
				}
				_, unsaved = output.Save(n.Write)
			}
			err = shared.Print(c, func(w io.Writer) error {
				return cmp.Or(printResult(w, result, l.named()), printMerged(w, result), l.printSuccess(w, r), by.print(w), known.print(w, l, result.Hierarchy, by))
			}, func(w io.Writer) error {
				return encode.WriteResult(w, result, l.hostNames())
			})
			return cmp.Or(unsaved, err)
		},
	}
	f := c.Flags()
	unitFlag(f, &unit, "unit of a matrix: s, ms, us or ns")
	f.StringVar(&method, "method", "linkage", "method of reconstruction")
	f.StringSliceVar(&repetitions, "reps", nil, "files of further repetitions, by commas")
	output = shared.Output(c, "output", "o", "", "file for the network")
	o.flags(f)
	p.flags(f)
	find.flags(f)
	f.StringVar(&truth, "truth", "", "file of the groups that there are, or metadata: prints how many ranks are in the right one")
	return cli.PrintsJSON(c, "topocast/hierarchy")
}

func unitFlag(f *pflag.FlagSet, unit *encode.Unit, usage string) {
	cli.Parse(f, unit, "unit", "", usage, encode.ParseUnit)
}

// reconstruct applies the method: greedy to each message length that was measured, others to the shortest.
func (l *latencies) reconstruct(r topology.Reconstructor) (*topology.Result, error) {
	split := func(repetitions []mat.Matrix) []mat.Matrix { return repetitions }
	greedy, bySize := r.(*spanner.GreedyCycle)
	if _, ok := r.(*spanner.Witness); l.directions != nil && (ok || bySize) {
		split = l.directions.Split // what finds direct links takes each direction by itself
	}
	sizes := l.sizes
	if bySize && l.measured != nil && len(l.measured.Sizes) > 1 {
		for i, bytes := range l.measured.Sizes {
			repetitions, err := l.ofSize(i)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, spanner.Sized{Bytes: int64(bytes), Repetitions: split(repetitions)})
		}
	}
	if bySize && sizes != nil {
		return greedy.ReconstructSizes(sizes...)
	}
	found, err := r.Reconstruct(split(l.matrices)...)
	switch {
	case err != nil:
		return nil, err
	case l.view.Distance != plogp.OneWay:
		timed, err := cluster.Timed(found.Hierarchy, l.times) // other distances are no latencies, and profiles have no unit
		if err == nil {
			timed.Warnings = append(found.Warnings, timed.Warnings...)
		}
		return timed, err
	case l.directions != nil:
		return l.directions.Direct(found) // the links of a tree
	}
	return found, nil
}

// network makes a network of the result: with the times of the sizes that were
// measured, or with latencies only.
func (l *latencies) network(result *topology.Result) (*model.Network, error) {
	s := model.Settings{Locations: l.locations(), Measured: model.Metadata{Tool: "topocast reconstruct"}}
	if l.sizes != nil {
		s.Measured.Bytes = l.sizes[0].Bytes
	}
	if l.job == nil {
		return model.New(result, &s)
	}
	s.Measured.Library = l.job.Library
	if date := l.job.Date; !date.IsZero() {
		s.Measured.Date = date.Format(time.RFC3339)
	}
	settings := &fit.Settings{}
	var observations []fit.Observation
	if l.parameters != nil {
		s.Measured.Bytes = l.view.Bytes
		if l.view.Distance != plogp.OneWay {
			var err error
			if result, err = cluster.Timed(result.Hierarchy, l.times); err != nil {
				return nil, err
			}
		}
		observations, settings.Parameters = l.parameters.Observations(), l.parameters.PairParams()
	} else {
		s.Measured.Bytes = int64(slices.Min(l.measured.Sizes))
		observations = l.measured.Observations()
	}
	settings.Network = s
	fitted, err := fit.Network(result, observations, settings)
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return fitted.Network, nil
}

// printMerged lists the channels of a result that was merged of several message lengths, up to maxChannels. Each has the lengths
// at which its directions were found.
func printMerged(w io.Writer, r *topology.Result) error {
	if len(r.Local) == 0 {
		return nil
	}
	const maxChannels = 100
	mean, err := r.MeanGraph()
	if err != nil {
		return err
	}
	sizes := each(r.Local, func(local topology.LocalTopology) string { return quantity.Bytes(local.Bytes) })
	var local []*topology.Graph // by size
	for _, l := range r.Local {
		g, err := r.Graph.WithArcs(l.Arcs)
		if err != nil {
			return err
		}
		local = append(local, g)
	}
	fmt.Fprintf(w, "\nmerged of messages of %s; a letter per length: f forward, b back, d duplex\n\n", strings.Join(sizes, ", "))
	t := columns.New(w, "channel", "length", "forward", "back", "lengths")
	for _, c := range mean.Channels() {
		t.Row(fmt.Sprintf("%d - %d", c.U, c.V), fmt.Sprintf("%.3g", c.Length),
			fraction(probability(r.Graph, c.U, c.V)), fraction(probability(r.Graph, c.V, c.U)), presence(local, c.U, c.V))
	}
	t.FlushFirst(maxChannels)
	return nil
}

func probability(g *topology.Graph, from, to int) float64 {
	if i := g.ArcIndex(from, to); i >= 0 {
		return g.Arcs()[i].Probability
	}
	return 0
}

// presence has a letter per message length: which directions between u and v were found.
func presence(local []*topology.Graph, u, v int) string {
	var letters strings.Builder
	for _, g := range local {
		switch there, back := g.ArcIndex(u, v) >= 0, g.ArcIndex(v, u) >= 0; {
		case there && back:
			letters.WriteByte('d')
		case there:
			letters.WriteByte('f')
		case back:
			letters.WriteByte('b')
		default:
			letters.WriteByte('-')
		}
	}
	return letters.String()
}
