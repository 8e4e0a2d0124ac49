package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/encode"
)

func placeCommand(shared *cli.Flags) *cobra.Command {
	var (
		method  string
		ranks   int
		memory  bool
		format  int
		explain bool
		hwloc   string
		perHost string
	)
	formats := placement.Formats()
	c := &cobra.Command{
		Use:   "place NET [TRAFFIC]",
		Short: "Choose a core for every rank of a job",
		Long: `Place maps the ranks of a job to the places of a network (of topocast discover): by who talks to whom,
given as a square matrix of bytes, cell (i, j) from rank i to rank j; or, without it, by Servet's
rules for --ranks processes, which look at what cores share: caches and memory as discover --memory has measured them
or as --hwloc tells for every host, latencies, and the way to the network as discover --degradation has measured it.
--explain says which of the rules had nothing to go by.

--format says what is printed: a line "rank host:core" per rank (text), a rankfile of Open MPI (rankfile), one host
per rank and line (hosts, which needs no cores), or arguments of MPICH's mpiexec (mpich).`,
		Example: `  topocast place network.json traffic.csv --format rankfile >ranks.txt
  mpiexec.mpich $(topocast place network.json --format mpich) -n 16 ./app
  topocast place network.json --ranks 16 --memory-bound
  topocast place network.json --ranks-per-host auto --format rankfile >ranks.txt
  lstopo --of xml host.xml
  topocast place network.json --hwloc host.xml --explain \
      --format rankfile >ranks.txt
  mpirun --rankfile ranks.txt -n 16 ./app`,
		Args: cli.Args(1, wantNetwork, "TRAFFIC, a matrix of bytes"),
		RunE: cli.OnNetwork(func(c *cobra.Command, n *model.Network, args []string) (err error) {
			if shared.JSON && c.Flags().Changed("format") {
				return cli.BadInput("--json and --format: want one of them")
			}
			var traffic *mat.Dense
			if len(args) == 2 {
				if traffic, err = cli.ReadFile(args[1], encode.ReadCounts); err != nil {
					return err
				}
				rows, _ := traffic.Dims()
				if ranks != 0 && ranks != rows {
					return cli.BadInput("--ranks %d: the traffic is of %s", ranks, words.Count(rows, "rank"))
				}
				ranks = rows
			}
			if method == "" {
				method = byServet
				if traffic != nil {
					method = byTraffic
				}
			}
			if err := cli.RefuseUnless(method == byServet, c, "only with --method servet", "hwloc", "explain", "memory-bound"); err != nil {
				return err
			}
			if hwloc != "" {
				if n, err = withInside(n, hwloc); err != nil {
					return err
				}
			}
			if explain {
				explainRules(c.ErrOrStderr(), n)
			}
			most, err := ranksPerHost(n, perHost)
			if err != nil {
				return err
			}
			place, err := choosePlaces(n, method, traffic, ranks, memory, most)
			switch {
			case err != nil && traffic != nil:
				return cli.BadInput("%s: %w", args[1], err)
			case err != nil:
				return cli.BadInput("%w", err)
			}
			if explain && perHost == auto {
				fmt.Fprintf(c.ErrOrStderr(), "ranks per host: %d\n", most)
			}
			return shared.Print(c, func(w io.Writer) error {
				err := placement.Write(w, formats[format], n, place)
				switch {
				case err == nil:
					return nil
				case n.Location(0).Core < 0:
					err = fmt.Errorf("%w; --format hosts needs no cores", err)
				}
				return cli.BadInput("--format %s: %w", formats[format], err)
			}, func(w io.Writer) error {
				return writePlaces(w, n, traffic, place)
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&method, "method", "", "mapping (by the traffic) or servet; default: mapping if there is traffic")
	cli.Want(f, "method", "mapping or servet", func() bool { return method == byTraffic || method == byServet })
	f.IntVar(&ranks, "ranks", 0, "ranks to place without traffic; 0: as many as there are places for")
	f.StringVar(&perHost, "ranks-per-host", "", "most ranks on a host, or auto: as many as do not disturb each other on the way to the network, as discover --degradation has measured it; default: one per core")
	f.BoolVar(&memory, "memory-bound", false, "for servet: the code is memory bound, not communication intensive")
	cli.Choice(f, &format, "format", formats, "what is printed: text, rankfile, hosts or mpich")
	f.StringVar(&hwloc, "hwloc", "", "file of lstopo --of xml: the inside of every host, for servet")
	f.BoolVar(&explain, "explain", false, "for servet: say on standard error what each rule goes by")
	return cli.PrintsJSON(c, "topocast/placement")
}

// withInside is a network whose hosts are all as a file of hwloc describes one, in place of what the operating system said of
// them before. What was measured of them stays.
func withInside(n *model.Network, path string) (*model.Network, error) {
	parts, err := readHwloc(path)
	if err != nil {
		return nil, err
	}
	told := servet.Inside(n, parts)
	if !slices.ContainsFunc(told, func(r model.Resource) bool { return len(r.Groups) > 0 }) {
		return nil, cli.BadInput("--hwloc %s: no two ranks of the network are on cores that share a part of it", path)
	}
	measured := slices.DeleteFunc(slices.Clone(n.Settings().Resources), func(r model.Resource) bool { return r.FromSystem })
	told = slices.DeleteFunc(told, func(r model.Resource) bool {
		return slices.ContainsFunc(measured, func(m model.Resource) bool { return m.Kind == r.Kind })
	})
	return n.With(func(s *model.Settings) { s.Resources = slices.Concat(measured, told) })
}

// readHwloc reads what --hwloc names.
func readHwloc(path string) ([]encode.HostPart, error) {
	parts, err := cli.ReadFile(path, encode.ReadHostParts)
	if err != nil {
		err = cli.BadInput("--hwloc: %w: want what lstopo --of xml writes", err)
	}
	return parts, err
}

// explainRules says what each of Servet's rules goes by.
func explainRules(w io.Writer, n *model.Network) {
	for i, rule := range (placement.Servet{}).Rules(n) {
		fmt.Fprintln(w, words.Fill(fmt.Sprintf("rule %d, %s", i+1, rule), cli.HelpWidth))
	}
}

// auto lets the network say how many ranks a host gets.
const auto = "auto"

// ranksPerHost reads --ranks-per-host; 0: as many as there are places.
func ranksPerHost(n *model.Network, text string) (int, error) {
	switch text {
	case "":
		return 0, nil
	case auto:
		most, err := placement.RanksPerHost(n)
		if err != nil {
			return 0, cli.BadInput("--ranks-per-host auto: %w: topocast discover --degradation measures it", err)
		}
		return most, nil
	}
	most, err := strconv.Atoi(text)
	if err != nil || most < 1 {
		return 0, cli.BadInput("--ranks-per-host %s: want a number from 1, or auto", text)
	}
	return most, nil
}

// choosePlaces are the places of the ranks, at most so many on a host; 0: no bound.
func choosePlaces(n *model.Network, method string, traffic *mat.Dense, ranks int, memoryBound bool, perHost int) ([]int, error) {
	if method == byTraffic {
		if traffic == nil {
			return nil, fmt.Errorf("--method mapping: want a matrix of traffic")
		}
		return placement.ByTraffic{PerHost: perHost}.Place(n, traffic)
	}
	rules := placement.Servet{MemoryBound: memoryBound, PerHost: perHost}
	room, err := rules.Capacity(n)
	switch {
	case err != nil:
		return nil, err
	case ranks == 0:
		ranks = room
	case (ranks < 1 || ranks > room) && traffic == nil:
		bound := ""
		if perHost > 0 {
			bound = fmt.Sprintf(" with %s on each host", words.Count(perHost, "rank"))
		}
		return nil, fmt.Errorf("--ranks %d: want 1 to %d, the places that the network has%s", ranks, room, bound)
	}
	return rules.Place(n, ranks)
}

// The values of --method.
const (
	byTraffic = "mapping"
	byServet  = "servet"
)

// writePlaces writes where each rank goes, and what its traffic costs there and
// in the given order.
func writePlaces(w io.Writer, n *model.Network, traffic *mat.Dense, place []int) error {
	out := results.Placement{}
	for r, p := range place {
		l := n.Location(p)
		x := results.PlacedRank{Rank: r, Place: p, Host: l.Host}
		if l.Core >= 0 {
			x.Core = &l.Core
		}
		out.Ranks = append(out.Ranks, x)
	}
	if traffic != nil {
		cost, err := placement.Cost(n, traffic, place)
		if err != nil {
			return err
		}
		before, err := placement.Cost(n, traffic, inOrder(len(place)))
		if err != nil {
			return err
		}
		out.Cost, out.InOrder = &cost, &before
	}
	return results.Write(w, &out)
}
