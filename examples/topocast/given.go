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
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

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
		parts := strings.Fields(fault)
		if len(parts) < 2 || slices.Contains([]string{"load", "lost", "noise"}, parts[0]) {
			continue
		}
		where := parts[1:2]
		if len(parts) == 4 && parts[2] == "at" {
			where = append(where, parts[3])
		}
		for _, place := range where {
			ends := []string{place}
			if !slices.Contains(names, place) { // a name may have a dash
				ends = strings.FieldsFunc(place, func(mark rune) bool { return mark == '-' || mark == '>' })
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
