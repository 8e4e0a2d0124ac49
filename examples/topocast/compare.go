package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// maxSuspects bounds the suspects that are printed.
const maxSuspects = 20

func compareCommand() *cobra.Command {
	var bytes int64
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare [flags] NET REF",
		Short: "Compare a network with another one, and rank what is suspicious",
		Long: `Compare holds a measured network (of topocast discover) against a reference: another network, or a platform
file {"graph":{"hosts":[..],"switches":[..],"links":[..]}}. Hosts are matched by name. It tells how alike both
are, which specified links are slow or missing, which groups differ, and which hosts look mis-cabled, the
worst first.`,
		Example: `  topocast compare network.json specified.json
  topocast compare --bytes 1MiB --json today.json last-month.json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			measured, err := model.Load(args[0])
			if err != nil {
				return &inputError{err}
			}
			reference, err := model.Load(args[1])
			if err != nil {
				return &inputError{err}
			}
			r, err := compareNetworks(measured, reference, bytes)
			if err != nil {
				return &inputError{err}
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(r)
			}
			return r.writeText(c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.Var((*byteSize)(&bytes), "bytes", "size of the messages whose times are compared, such as "+sizeForms+"; 0: that of the measured latencies")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/comparison) instead of text")
	return c
}

// A comparison is what the command prints.
type comparison struct {
	Format     string         `json:"format"`
	Version    int            `json:"version"`
	Regular    bool           `json:"regular"`
	Similarity float64        `json:"similarity_percent"`
	Verdicts   map[string]int `json:"links"` // number of specified links by verdict
	Groups     *groupReport   `json:"groups,omitempty"`
	Suspects   []suspect      `json:"suspects"`
}

type groupReport struct {
	Same    int     `json:"same"`
	Missing [][]int `json:"missing"`
	Extra   [][]int `json:"extra"`
}

type suspect struct {
	What   string  `json:"what"`
	Score  float64 `json:"score"`
	Reason string  `json:"reason"`
}

func compareNetworks(measured, reference *model.Network, bytes int64) (*comparison, error) {
	if bytes == 0 {
		bytes = measured.Measured().Bytes
	}
	g, err := namedByHost(measured)
	if err != nil {
		return nil, err
	}
	specified, err := namedByHost(reference)
	if err != nil {
		return nil, err
	}
	c, err := topology.Compare(g, messageTimes(measured, bytes), specified, &topology.CompareSettings{Bytes: float64(bytes)})
	if err != nil {
		return nil, err
	}
	r := &comparison{
		Format: "topocast/comparison", Version: 1,
		Regular: c.Regular, Similarity: c.Similarity, Verdicts: map[string]int{}, Suspects: []suspect{},
	}
	for _, l := range c.Links {
		r.Verdicts[string(l.Verdict)]++
	}
	name := specified.Name
	for _, s := range c.Suspects {
		r.Suspects = append(r.Suspects, suspect{suspectName(s, name), s.Score, s.Reason})
	}
	if measured.Ranks() == reference.Ranks() && len(reference.Hierarchy().Levels()) > 0 {
		groups, err := topology.CompareGroups(measured.Hierarchy(), reference.Hierarchy())
		if err != nil {
			return nil, err
		}
		r.Groups = &groupReport{Same: len(groups.Same), Missing: groups.Missing, Extra: groups.Extra}
		for _, s := range groups.Suspects {
			r.Suspects = append(r.Suspects, suspect{suspectName(s, name), s.Score, s.Reason})
		}
	}
	return r, nil
}

func suspectName(s topology.Suspect, name func(int) string) string {
	if s.V < 0 {
		return "host " + name(s.U)
	}
	return "link " + name(s.U) + " - " + name(s.V)
}

// namedByHost is the network's graph with the names of the hosts on which the
// ranks ran, where these are known.
func namedByHost(n *model.Network) (*topology.Graph, error) {
	g := n.Graph()
	if len(n.Hosts()) == 0 {
		return g, nil
	}
	names := make([]string, g.Vertices())
	for v := range names {
		if names[v] = g.Name(v); v < n.Ranks() {
			names[v] = n.Location(v).Host
		}
	}
	return topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), names, g.Arcs())
}

// messageTimes is the matrix of the times between all ranks, in s.
func messageTimes(n *model.Network, bytes int64) mat.Matrix {
	m := mat.NewDense(n.Ranks(), n.Ranks(), nil)
	m.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return math.NaN()
		}
		return n.Time(i, j, bytes)
	}, m)
	return m
}

func (c *comparison) writeText(w io.Writer) error {
	if c.Regular {
		fmt.Fprintf(w, "similarity %.1f %% (hosts wired to each other)\n", c.Similarity)
	}
	for _, v := range []topology.Verdict{
		topology.LinkFound, topology.LinkSimplex, topology.LinkMissing, topology.LinkExtra,
		topology.LinkFast, topology.LinkSlow, topology.LinkUnused,
	} {
		if n := c.Verdicts[string(v)]; n > 0 {
			fmt.Fprintf(w, "links %s: %d\n", v, n)
		}
	}
	if g := c.Groups; g != nil {
		fmt.Fprintf(w, "groups: %d the same, %d missing, %d extra\n", g.Same, len(g.Missing), len(g.Extra))
		for _, m := range g.Missing {
			fmt.Fprintf(w, "  missing: %s\n", ranges(m))
		}
		for _, m := range g.Extra {
			fmt.Fprintf(w, "  extra:   %s\n", ranges(m))
		}
	}
	for i, s := range c.Suspects {
		if i == maxSuspects {
			fmt.Fprintf(w, "and %d more suspects\n", len(c.Suspects)-i)
			break
		}
		fmt.Fprintf(w, "suspect: %s (%.2f): %s\n", s.What, s.Score, s.Reason)
	}
	if len(c.Suspects) == 0 {
		fmt.Fprintln(w, "nothing looks suspicious")
	}
	return nil
}
