package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/encode"
)

func reconstructCommand() *cobra.Command {
	var unit, method string
	var repetitions []string
	var asJSON bool
	var o methodOptions
	c := &cobra.Command{
		Use:   "reconstruct [flags] MATRIX.csv",
		Short: "Work out the wiring from a matrix of latencies",
		Long: `Reconstruct reads a square matrix of one-way latencies in CSV, cell (i, j) from host i to host j,
and prints the groups of hosts that it finds: cores, sockets, hosts, racks. Empty cells are pairs that
were not measured. "-" reads standard input. Further repetitions of the same matrix make it surer.

Methods: ` + strings.Join(methodNames(), ", ") + `.`,
		Example: `  topocast reconstruct --unit us latencies.csv
  topocast reconstruct --unit ns --reps second.csv,third.csv --json first.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := newMethod(method, o)
			if err != nil {
				return err
			}
			var matrices []mat.Matrix
			for _, path := range append(args, repetitions...) {
				m, err := readMatrix(path, unit)
				if err != nil {
					return err
				}
				matrices = append(matrices, m)
			}
			result, err := r.Reconstruct(matrices...)
			if err != nil {
				return &inputError{err}
			}
			if asJSON {
				return encode.WriteHierarchy(c.OutOrStdout(), result)
			}
			return printResult(c.OutOrStdout(), result)
		},
	}
	f := c.Flags()
	f.StringVar(&unit, "unit", "s", "unit of the latencies: s, ms, us or ns")
	f.StringVar(&method, "method", "linkage", "method of reconstruction")
	f.StringSliceVar(&repetitions, "reps", nil, "files of further repetitions, separated by commas")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/hierarchy) instead of the tree")
	o.flags(f)
	return c
}

// readMatrix reads a matrix from a file, or from standard input for "-".
func readMatrix(path, unitName string) (*mat.Dense, error) {
	unit, err := encode.ParseUnit(unitName)
	if err != nil {
		return nil, &inputError{err}
	}
	f := os.Stdin
	if path != "-" {
		if f, err = os.Open(path); err != nil {
			return nil, &inputError{err}
		}
		defer f.Close()
	}
	m, _, err := encode.ReadMatrix(f, unit)
	if err != nil {
		return nil, badInput("%s: %w", path, err)
	}
	return m, nil
}
