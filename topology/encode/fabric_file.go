package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"

	"github.com/topocast/topocast/topology"
)

// FabricSettings say how ReadFabric reads; nil is all defaults.
type FabricSettings struct {
	Topology string // the one to read of a topology.yaml; "": the default of the cluster
	Folder   string // of the files that a topology.conf includes; "": it may include none
}

// The first words of Slurm's files; comments may stand before.
var (
	slurmConf = regexp.MustCompile(`(?i)^\x{feff}?(\s*(#.*)?\n)*\s*((SwitchName|BlockName|BlockSizes)\s*=|include\s+\S+\s*\n)`)
	slurmYAML = regexp.MustCompile(`^\x{feff}?(\s*(#.*)?\n)*(---\s*)?(\s*(#.*)?\n)*-\s+(topology|cluster_default|tree|block|flat)\s*:`)
)

// IsFabric tells by its content whether a file is one that a scheduler has of a machine: a topology.conf or topology.yaml of Slurm, what
// scontrol show topology prints, or topograph's JSON.
func IsFabric(data []byte) bool {
	return slurmConf.Match(data) || slurmYAML.Match(data) || isTopograph(data)
}

func isTopograph(data []byte) bool {
	var head struct {
		Instances json.RawMessage `json:"instances"`
	}
	return json.Unmarshal(data, &head) == nil && head.Instances != nil
}

// ReadFabric reads a file that IsFabric knows.
func ReadFabric(data []byte, s *FabricSettings) (*Fabric, error) {
	if s == nil {
		s = &FabricSettings{}
	}
	if s.Topology != "" && !slurmYAML.Match(data) {
		return nil, fmt.Errorf("encode: topology %q is asked for: only a topology.yaml has several", s.Topology)
	}
	switch {
	case slurmConf.Match(data):
		return readSlurmConf(data, s.Folder)
	case slurmYAML.Match(data):
		return readSlurmYAML(bytes.NewReader(data), s.Topology)
	}
	return readTopograph(bytes.NewReader(data))
}

// Graph is the graph of the hosts, as Hosts lists them, and the switches. Nothing is known of its links.
func (f *Fabric) Graph() (*topology.Graph, error) {
	names := f.Hosts()
	hosts := len(names)
	host := make(map[string]int, hosts)
	for i, name := range names {
		host[name] = i
	}
	vertex := map[*FabricSwitch]int{}
	var arcs []topology.Arc
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) { // what is below comes first
		v := len(names)
		names, vertex[s] = append(names, s.Name), v
		for _, name := range s.Hosts {
			arcs = topology.AppendLink(arcs, v, host[name], math.NaN(), math.NaN())
		}
		for _, below := range s.Switches {
			arcs = topology.AppendLink(arcs, v, vertex[below], math.NaN(), math.NaN())
		}
	})
	return topology.NewGraph(hosts, len(names)-hosts, names, arcs)
}
