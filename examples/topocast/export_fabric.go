package main

import (
	"fmt"
	"io"

	"github.com/topocast/topocast/topology/encode"
)

// fabricWriter writes hosts on switches, as schedulers want them. What a person should know of the file is told beside it.
func fabricWriter(write func(io.Writer, *encode.Fabric) error) writer {
	return func(w io.Writer, x exported) error {
		hosts := make([]string, x.graph.Hosts())
		for rank := range hosts {
			hosts[rank] = x.graph.Name(rank)
		}
		f, warnings, err := encode.NewFabric(x.graph, x.network.Hierarchy(), hosts)
		if err != nil {
			return err
		}
		for _, warning := range warnings {
			fmt.Fprintf(x.stderr, "warning: %s\n", warning)
		}
		return write(w, f)
	}
}
