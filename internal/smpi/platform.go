package smpi

import (
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// A platform file, as far as the recorded ones go: hosts, routers and routes of
// one link, or one cluster that is a fat tree.
type platformFile struct {
	Zone struct {
		Hosts   []named `xml:"host"`
		Routers []named `xml:"router"`
		Links   []struct {
			named
			Bandwidth string `xml:"bandwidth,attr"`
			Latency   string `xml:"latency,attr"`
		} `xml:"link"`
		Routes []struct {
			Src  string  `xml:"src,attr"`
			Dst  string  `xml:"dst,attr"`
			Uses []named `xml:"link_ctn"`
		} `xml:"route"`
	} `xml:"zone"`
	Cluster *struct {
		Bandwidth  string `xml:"bw,attr"`
		Latency    string `xml:"lat,attr"`
		Topology   string `xml:"topology,attr"`
		Parameters string `xml:"topo_parameters,attr"`
	} `xml:"cluster"`
}

type named struct {
	ID string `xml:"id,attr"`
}

// Platform is the graph of a platform file; host h7 is vertex 7. Loopback links
// are not in it: they are Settings.Memory.
func Platform(file string) (*topology.Graph, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p platformFile
	if err := xml.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("smpi: %s: %w", file, err)
	}
	if p.Cluster != nil {
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
	number := map[string]int{}
	for _, v := range append(slices.Clone(p.Zone.Hosts), p.Zone.Routers...) {
		number[v.ID] = len(number)
	}
	latency, bandwidth := map[string]float64{}, map[string]float64{}
	for _, l := range p.Zone.Links {
		if latency[l.ID], err = value(l.Latency); err == nil {
			bandwidth[l.ID], err = value(l.Bandwidth)
		}
		if err != nil {
			return nil, fmt.Errorf("smpi: %s: link %s: %w", file, l.ID, err)
		}
	}
	var arcs []topology.Arc
	for _, r := range p.Zone.Routes {
		if r.Src == r.Dst {
			continue // the loopback, which all hosts have alike
		}
		if len(r.Uses) != 1 {
			return nil, fmt.Errorf("smpi: %s: route %s to %s: %d links: want 1", file, r.Src, r.Dst, len(r.Uses))
		}
		l := r.Uses[0].ID
		arcs = topology.AppendLink(arcs, number[r.Src], number[r.Dst], latency[l], bandwidth[l])
	}
	return topology.NewGraph(len(p.Zone.Hosts), len(p.Zone.Routers), nil, arcs)
}

// value reads a latency in s or a bandwidth in B/s.
func value(text string) (float64, error) {
	for suffix, factor := range map[string]float64{"GBps": 1e9, "MBps": 1e6, "us": 1e-6} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			v, err := strconv.ParseFloat(digits, 64)
			return v * factor, err
		}
	}
	return 0, fmt.Errorf("%q: want GBps, MBps or us", text)
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
