package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/encode"
)

// openInput opens a file, or standard input for "-".
func openInput(path string) (io.ReadCloser, error) {
	if path == Standard {
		return io.NopCloser(os.Stdin), nil
	}
	if path == "" { // such as of a variable of a script that is not set
		return nil, BadInput("the name of a file is empty: want a file, or - for standard input")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, BadInput("%w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, BadInput("%s: is a directory: want a file", path)
	}
	return f, nil
}

// ReadFile reads a file, or standard input for "-", as read does.
func ReadFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := openInput(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	found, err := read(f)
	if err != nil {
		return none, BadInput("%s: %w", path, err)
	}
	return found, nil
}

// LoadNetwork reads a network: a file of topocast, or a graph of another tool (see model.Decode). The names of the ranks,
// in their order, may be known: they tell hosts from switches where a file does not, and name the ranks of one
// that has only numbers. Where a file of another tool leaves something to guess, a line on stderr says how it was understood;
// nil: what shows the warnings of the network says it.
func LoadNetwork(stderr io.Writer, path string, names ...string) (*model.Network, error) {
	data, err := ReadInput(path)
	if err != nil {
		return nil, err
	}
	return NetworkOf(stderr, path, data, names)
}

// OnNetwork is the work of a command on the network that its first argument names.
func OnNetwork(work func(c *cobra.Command, n *model.Network, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		n, err := LoadNetwork(c.ErrOrStderr(), args[0])
		if err != nil {
			return err
		}
		return work(c, n, args)
	}
}

// ReadInput is the text of a file, or of standard input.
func ReadInput(path string) ([]byte, error) {
	return ReadFile(path, func(r io.Reader) ([]byte, error) {
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return encode.PlainText(data)
	})
}

// NetworkOf is LoadNetwork for what a file holds.
func NetworkOf(stderr io.Writer, path string, data []byte, names []string) (*model.Network, error) {
	n, err := model.DecodeFile(path, data, names)
	if err != nil {
		return nil, BadInput("%s: %w", path, err)
	}
	if stderr != nil && jsonfile.Format(data) == "" { // what topocast writes holds warnings of the measurement
		for _, warning := range n.Warnings() {
			fmt.Fprintf(stderr, "warning: %s: %s\n", path, warning)
		}
	}
	return n, nil
}

// RefuseUnless refuses flags that would change nothing unless used holds, and says why.
func RefuseUnless(used bool, c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if !used && c.Flags().Changed(name) {
			return BadInput("--%s: %s", name, why)
		}
	}
	return nil
}
