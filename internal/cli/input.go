package cli

import (
	"bytes"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/encode"
)

// openInput opens a file, or standard input for "-".
func OpenInput(path string) (io.ReadCloser, error) {
	if path == Standard {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &InputError{err}
	}
	return f, nil
}

// loadNetwork reads a network: our own file, or a graph of another tool. Of our other files it says what
// makes a network of them.
func LoadNetwork(path string) (*model.Network, error) { return LoadNetworkOf(path, nil) }

// loadNetworkOf is loadNetwork where the names of ranks are known, in their order: they tell hosts from
// switches where a file does not, and name the ranks of one that has only numbers.
func LoadNetworkOf(path string, names []string) (*model.Network, error) {
	data, err := ReadInput(path)
	if err != nil {
		return nil, err
	}
	return NetworkOf(path, data, names)
}

// readInput is all of a file, or of standard input.
func ReadInput(path string) ([]byte, error) {
	f, err := OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, &InputError{err} // names the file
	}
	return data, nil
}

// networkOf is loadNetworkOf for what a file holds.
func NetworkOf(path string, data []byte, names []string) (*model.Network, error) {
	if format := foreignFormat(data); format != nil {
		n, err := format.network(data, names)
		if err != nil {
			return nil, BadInput("%s: %w", path, err)
		}
		return n, nil
	}
	n, err := model.Read(bytes.NewReader(data))
	if err == nil {
		return n, nil
	}
	switch jsonfile.Format(data) {
	case "topocast/measurement":
		return nil, BadInput("%s: holds measurements: topocast reconstruct --output makes a network of them", path)
	case "topocast/hierarchy":
		return nil, BadInput("%s: holds no graph: topocast reconstruct --json, or --output, writes one", path)
	case "topocast/discovery":
		return nil, BadInput("%s: holds a report: topocast discover --output writes a network", path)
	}
	if m, failed := encode.ReadMatrix(bytes.NewReader(data), 0); failed == nil && m.Matrix.RawMatrix().Rows > 1 { // one cell is any text
		return nil, BadInput("%s: no network: want JSON of topocast, as topocast reconstruct --output makes of these latencies", path)
	}
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' {
		return nil, BadInput("%s: no network: want JSON of topocast, DOT, TGF, GraphML, a platform of SimGrid, or groups of LGate", path)
	}
	return nil, BadInput("%s: %w", path, err)
}

// refuseUnused refuses flags that would change nothing, and says why.
func RefuseUnused(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return BadInput("--%s: %s", name, why)
		}
	}
	return nil
}
