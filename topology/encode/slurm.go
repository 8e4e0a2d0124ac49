package encode

import (
	"fmt"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
)

// slurmTopology is one of the topologies of a topology.yaml.
type slurmTopology struct {
	Topology string      `yaml:"topology"`
	Default  bool        `yaml:"cluster_default"`
	Tree     *slurmTree  `yaml:"tree,omitempty"`
	Block    *slurmBlock `yaml:"block,omitempty"`
	Flat     bool        `yaml:"flat,omitempty"`

	Other map[string]any `yaml:",inline"` // what other plugins have, such as rings
}

type slurmTree struct {
	Switches []slurmSwitch `yaml:"switches"`
}

type slurmSwitch struct {
	Switch   string `yaml:"switch"`
	Children string `yaml:"children,omitempty"`
	Nodes    string `yaml:"nodes,omitempty"`
}

type slurmBlock struct {
	Sizes  []int             `yaml:"block_sizes"`
	Blocks []slurmBlockNodes `yaml:"blocks"`
}

type slurmBlockNodes struct {
	Block string `yaml:"block"`
	Nodes string `yaml:"nodes"`
}

// slurm is what the files of Slurm say of a fabric to one of its plugins, tree or block. Slurm wants each host on a leaf: hosts that hang
// directly below an upper switch get a leaf each. Blocks are the leaves. About tells how much there is. Names that Slurm would misread are refused.
func (f *Fabric) slurm(plugin string) (t slurmTopology, about string, err error) {
	if err := f.check(); err != nil {
		return t, "", err
	}
	taken := map[string]bool{}
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) { taken[s.Name] = true })
	tree, block := &slurmTree{}, &slurmBlock{}
	hosts, direct := f.Hosts(), 0
	smallest := len(hosts)
	leaf := func(name string, on []string) {
		nodes := hostlist.Format(on)
		tree.Switches = append(tree.Switches, slurmSwitch{Switch: name, Nodes: nodes})
		block.Blocks = append(block.Blocks, slurmBlockNodes{Block: name, Nodes: nodes})
		smallest = min(smallest, len(on))
	}
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		if len(s.Switches) == 0 {
			leaf(s.Name, s.Hosts)
			return
		}
		var below []string
		for _, c := range s.Switches {
			below = append(below, c.Name)
		}
		for _, host := range s.Hosts {
			name := ""
			for name == "" || taken[name] {
				direct++
				name = fmt.Sprintf("direct-%d", direct)
			}
			leaf(name, []string{host})
			below = append(below, name)
		}
		tree.Switches = append(tree.Switches, slurmSwitch{Switch: s.Name, Children: hostlist.Format(below)})
	})
	about = fmt.Sprintf("%s, leaf switches: %d", words.Count(len(hosts), "host"), len(block.Blocks))
	if len(f.Roots) > 1 {
		about += fmt.Sprintf(", networks that are not connected: %d", len(f.Roots))
	}
	t = slurmTopology{Topology: "measured", Default: true, Tree: tree}
	if block.Sizes = []int{smallest}; plugin == "block" {
		t.Tree, t.Block = nil, block
	}
	return t, about, nil
}
