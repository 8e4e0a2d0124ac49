package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// hostNames are the names of the hosts of a graph.
func hostNames(g *topology.Graph) []string { return g.Names()[:g.Hosts()] }

// vertexNames are the names of a graph's vertices. Hosts that share one have their rank in it.
func vertexNames(g *topology.Graph) []string {
	count := map[string]int{}
	names := g.Names()
	for _, name := range names {
		count[name]++
	}
	for v, name := range names {
		if count[name] > 1 && !g.IsSwitch(v) {
			names[v] = fmt.Sprintf("%s rank %d", name, v)
		}
	}
	return names
}

// namesOf are the names of some vertices.
func namesOf(names []string, of []int) []string {
	return each(of, func(v int) string { return names[v] })
}

// each is what a function makes of each item of a list, such as its name; never nil.
func each[T, R any](list []T, of func(T) R) []R {
	found := make([]R, len(list))
	for i, item := range list {
		found[i] = of(item)
	}
	return found
}

// count is how many items of a list are so.
func count[T any](list []T, is func(T) bool) (n int) {
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

// inOrder are the numbers from 0 to n-1.
func inOrder(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// onlyOne is the index of the only one of a name; -1: none has it, or several have.
func onlyOne(names []string, name string) int {
	i := slices.Index(names, name)
	if i >= 0 && slices.Contains(names[i+1:], name) {
		return -1
	}
	return i
}

// numberOf is the number of the vertex that a user means: that of the name which only one has, or else the number itself.
// The names are those of the vertices from first on, all of a kind, such as "rank". Where the text may be read otherwise, standard
// error says how it was read.
func numberOf(kind string, names []string, first int, text string, stderr io.Writer) (int, error) {
	named := onlyOne(names, text)
	several := named < 0 && slices.Contains(names, text)
	number, err := strconv.Atoi(text)
	isNumber := err == nil && number >= first && number < first+len(names)
	switch {
	case named >= 0:
		if isNumber && number != first+named {
			fmt.Fprintf(stderr, "%q is read as the name of %s %d, not as %s %d\n", text, kind, first+named, kind, number)
		}
		return first + named, nil
	case isNumber:
		if several {
			fmt.Fprintf(stderr, "%q is read as %s %d, not as the name that several have\n", text, kind, number)
		}
		return number, nil
	case several:
		return 0, cli.BadInput("%q: several have this name: want the number of a %s", text, kind)
	case len(names) == 0:
		return 0, cli.BadInput("%q: the network has %s", text, words.Count(0, kind))
	}
	return 0, cli.BadInput("%q: want one of %s, or the number of a %s, in [%d, %d)", text, words.List(names), kind, first, first+len(names))
}

// inputFlags are the flags that name files to read.
var inputFlags = []string{"against", "hwloc", "measurements", "reps", "resume", "topology", "truth"}

// checkGiven refuses what is wrong for every command: a flag without a value, such as that of a variable which a script has not
// set, and standard input for two files.
func checkGiven(c *cobra.Command, args []string) error {
	files := slices.Clone(args)
	empty := ""
	c.Flags().Visit(func(f *pflag.Flag) {
		value := strings.Trim(f.Value.String(), "[]") // of a list without its brackets
		if value == "" {
			empty = f.Name
		}
		if slices.Contains(inputFlags, f.Name) {
			files = append(files, strings.Split(value, ",")...)
		}
	})
	if empty != "" {
		return cli.BadInput("--%s: want a value; see %s --help", empty, c.CommandPath())
	}
	if i := slices.Index(files, cli.Standard); i >= 0 && slices.Contains(files[i+1:], cli.Standard) {
		return cli.BadInput("%s: want standard input for one file", cli.Standard)
	}
	return nil
}

// loadOnRanks loads a network on every rank of a job.
func loadOnRanks(path string) (*model.Network, error) {
	if path == cli.Standard && mpi.Launched() >= 0 {
		return nil, cli.BadInput("%s: launchers give standard input to one rank: want a file", path)
	}
	return cli.LoadNetwork(nil, path)
}

// explainFaults says which numbers of --fault are read as the names of hosts and switches of a cluster.
func explainFaults(faults []string, names []string, stderr io.Writer) {
	for _, fault := range faults {
		if strings.HasPrefix(fault, "lost") {
			continue // a rank
		}
		for _, word := range strings.Fields(fault) {
			ends := []string{word}
			if !slices.Contains(names, word) { // a name may have a dash
				ends = strings.FieldsFunc(word, func(mark rune) bool { return mark == '-' || mark == '>' })
			}
			for _, end := range ends {
				number, err := strconv.Atoi(end)
				if v := slices.Index(names, end); err == nil && v >= 0 && v != number && number < len(names) {
					fmt.Fprintf(stderr, "--fault %q: %q is read as the name of number %d, not as number %d\n", fault, end, v, number)
				}
			}
		}
	}
}
