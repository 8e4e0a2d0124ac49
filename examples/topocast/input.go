package main

import (
	"bytes"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
)

// openInput opens a file, or standard input for "-".
func openInput(path string) (io.ReadCloser, error) {
	if path == standard {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &inputError{err}
	}
	return f, nil
}

// loadNetwork reads a network. Of our other files it says what makes a network
// of them.
func loadNetwork(path string) (*model.Network, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, &inputError{err} // names the file
	}
	n, err := model.Read(bytes.NewReader(data))
	if err == nil {
		return n, nil
	}
	switch jsonfile.Format(data) {
	case "topocast/measurement":
		return nil, badInput("%s: holds readings: topocast reconstruct --output makes a network of them", path)
	case "topocast/hierarchy":
		return nil, badInput("%s: holds no graph: topocast reconstruct --json, or --output, writes one", path)
	case "topocast/discovery":
		return nil, badInput("%s: holds a report: topocast discover --output writes a network", path)
	}
	return nil, badInput("%s: %w", path, err)
}

// refuseUnused refuses flags that would change nothing, and says why.
func refuseUnused(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return badInput("--%s: %s", name, why)
		}
	}
	return nil
}
