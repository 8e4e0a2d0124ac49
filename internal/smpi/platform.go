package smpi

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// Platform is the graph of a platform file of hosts, routers and routes of one link, or of one cluster that is a fat tree. Host h7 is
// vertex 7. Loopback links are not in it: they are Settings.Memory.
func Platform(file string) (*topology.Graph, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p struct {
		Cluster *struct {
			Bandwidth  string `xml:"bw,attr"`
			Latency    string `xml:"lat,attr"`
			Topology   string `xml:"topology,attr"`
			Parameters string `xml:"topo_parameters,attr"`
		} `xml:"cluster"`
	}
	if err := xml.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("smpi: %s: %w", file, err)
	}
	if p.Cluster == nil {
		g, err := encode.ReadSimGrid(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("smpi: %s: %w", file, err)
		}
		return g, nil
	}
	levels, shape, ok := strings.Cut(p.Cluster.Parameters, ";")
	if p.Cluster.Topology != "FAT_TREE" || !ok {
		return nil, fmt.Errorf("smpi: %s: cluster of topology %s, parameters %s: want a fat tree", file, p.Cluster.Topology, levels)
	}
	c, err := gen.Parse(fmt.Sprintf("fattree:%s latency=%s rate=%s", shape, p.Cluster.Latency, p.Cluster.Bandwidth))
	if err != nil {
		return nil, fmt.Errorf("smpi: %s: %w", file, err)
	}
	return c.Graph, nil
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
