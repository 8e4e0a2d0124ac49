package smpi

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// Platform is the graph of a platform file. Host h7 is vertex 7. Loopback links are not in it: they are Settings.Memory.
func Platform(file string) (*topology.Graph, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	g, _, err := encode.ReadSimGrid(bytes.NewReader(text), nil)
	if err != nil {
		return nil, fmt.Errorf("smpi: %s: %w", file, err)
	}
	return g, nil
}

// Hosts reads the hosts of the ranks from a host file: one name per rank, as h7.
func Hosts(file string) ([]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var hosts []int
	for _, name := range strings.Fields(string(text)) {
		h, err := strconv.Atoi(strings.TrimPrefix(name, "h"))
		if err != nil {
			return nil, fmt.Errorf("smpi: %s: %w", file, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}
