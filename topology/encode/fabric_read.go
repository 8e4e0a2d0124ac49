package encode

import (
	"fmt"
)

// A switchRecord is a switch, or a block, as a file describes it.
type switchRecord struct {
	where    string // in the file
	name     string
	hosts    []string
	switches []string // by name
}

// switchList collects what a file lists, within bounds.
type switchList struct {
	records  []switchRecord
	children int
}

// add expands the hostlists of a switch.
func (l *switchList) add(where, name, nodes, switches string) error {
	if err := l.append(where, name, nodes, switches); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

func (l *switchList) append(where, name, nodes, switches string) (err error) {
	r := switchRecord{where: where, name: name}
	if err := checkSwitch(name); err != nil {
		return err
	}
	switch {
	case len(l.records) == maxNames:
		return errTooMany
	case (nodes == "") == (switches == ""):
		return fmt.Errorf("switch %q: want either nodes or switches below it", name)
	case nodes != "":
		r.hosts, err = expandHostlist(nodes, maxNames)
	default:
		r.switches, err = expandHostlist(switches, maxNames)
	}
	if err != nil {
		return fmt.Errorf("switch %q: %w", name, err)
	}
	if l.children += len(r.hosts) + len(r.switches); l.children > 2*maxNames {
		return errTooMany
	}
	l.records = append(l.records, r)
	return nil
}

// fabric joins the switches to trees. It refuses switches that are not there, or given twice, hosts
// and switches below two switches, rings, and what nests deeper than machines do.
func (l *switchList) fabric() (*Fabric, error) {
	if len(l.records) == 0 {
		return nil, fmt.Errorf("no switches")
	}
	made := make(map[string]*FabricSwitch, len(l.records))
	for _, r := range l.records {
		if made[r.name] != nil {
			return nil, fmt.Errorf("%s: switch %q is there twice", r.where, r.name)
		}
		made[r.name] = &FabricSwitch{Name: r.name, Hosts: r.hosts}
	}
	leafOf, parentOf := make(map[string]string), make(map[string]string)
	for _, r := range l.records {
		for _, host := range r.hosts {
			if err := checkHost(host); err != nil {
				return nil, fmt.Errorf("%s: %w", r.where, err)
			}
			if leaf, twice := leafOf[host]; twice {
				return nil, fmt.Errorf("%s: host %q is on switches %q and %q: want one", r.where, host, leaf, r.name)
			}
			leafOf[host] = r.name
		}
		for _, name := range r.switches {
			if made[name] == nil {
				return nil, fmt.Errorf("%s: switch %q is not described", r.where, name)
			}
			if parent, twice := parentOf[name]; twice {
				return nil, fmt.Errorf("%s: switch %q is below switches %q and %q: want one", r.where, name, parent, r.name)
			}
			parentOf[name] = r.name
			made[r.name].Switches = append(made[r.name].Switches, made[name])
		}
	}
	f := &Fabric{}
	for _, r := range l.records {
		depth, name := 0, r.name
		for ; parentOf[name] != ""; depth++ {
			if name = parentOf[name]; depth > deepest {
				return nil, fmt.Errorf("%s: above switch %q are more than %d, or they form a ring", r.where, r.name, deepest)
			}
		}
		if depth == 0 {
			f.Roots = append(f.Roots, made[r.name])
		}
	}
	return f, nil
}
