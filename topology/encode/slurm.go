package encode

import (
	"fmt"

	"github.com/topocast/topocast/internal/words"
)

// withLeaves is the fabric with a leaf of its own for each host that hangs directly below an upper
// switch. It refuses names that Slurm would misread.
func (f *Fabric) withLeaves() (*Fabric, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) { names[s.Name] = true })
	leaves := 0
	var split func(s *FabricSwitch) *FabricSwitch
	split = func(s *FabricSwitch) *FabricSwitch {
		if len(s.Switches) == 0 {
			return s
		}
		own := &FabricSwitch{Name: s.Name}
		for _, c := range s.Switches {
			own.Switches = append(own.Switches, split(c))
		}
		for _, host := range s.Hosts {
			leaf := &FabricSwitch{Hosts: []string{host}}
			for leaf.Name == "" || names[leaf.Name] {
				leaves++
				leaf.Name = fmt.Sprintf("direct-%d", leaves)
			}
			own.Switches = append(own.Switches, leaf)
		}
		return own
	}
	with := &Fabric{}
	for _, root := range f.Roots {
		with.Roots = append(with.Roots, split(root))
	}
	return with, nil
}

// describe tells how much there is.
func (f *Fabric) describe() string {
	hosts, leaves := 0, 0
	f.walk(func(s *FabricSwitch, _ []*FabricSwitch) {
		if len(s.Switches) == 0 {
			hosts += len(s.Hosts)
			leaves++
		}
	})
	text := fmt.Sprintf("%s, leaf switches: %d", words.Count(hosts, "host"), leaves)
	if len(f.Roots) > 1 {
		text += fmt.Sprintf(", networks that are not connected: %d", len(f.Roots))
	}
	return text
}

// names are those of the switches below.
func (s *FabricSwitch) names() []string {
	names := make([]string, len(s.Switches))
	for i, c := range s.Switches {
		names[i] = c.Name
	}
	return names
}

// blocks makes leaves of blocks, below one root.
func (l *switchList) blocks() (*Fabric, error) {
	f, err := l.fabric()
	if err != nil || len(f.Roots) == 1 {
		return f, err
	}
	return &Fabric{Roots: []*FabricSwitch{{Name: "root", Switches: f.Roots}}, Warnings: f.Warnings}, nil
}
