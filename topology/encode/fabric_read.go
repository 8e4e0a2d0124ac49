package encode

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
)

// A switchRecord is a switch, or a block, as a file describes it.
type switchRecord struct {
	where    string // in the file
	name     string
	hosts    []string
	switches []string // by name
	all      bool     // hosts are all below, those of the switches below, too
}

// switchList collects what a file lists, within bounds.
type switchList struct {
	records  []switchRecord
	children int
	strict   bool // a host on two switches is an error: the file is no configuration that its scheduler takes
	warnings []string
}

// add expands the hostlists of a switch. If all is set, a switch with switches may list the nodes below these, too.
func (l *switchList) add(where, name, nodes, switches string, all bool) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", where, err)
		}
	}()
	r := switchRecord{where: where, name: name, all: all && switches != ""}
	if err := checkSwitch(name); err != nil {
		return err
	}
	switch {
	case len(l.records) == maxNames:
		return errTooMany
	case nodes == "" && switches == "", nodes != "" && switches != "" && !all:
		return fmt.Errorf("switch %q: want either nodes or switches below it", name)
	}
	if nodes != "" {
		r.hosts, err = hostlist.Expand(nodes, maxNames)
	}
	if err == nil && switches != "" {
		r.switches, err = hostlist.Expand(switches, maxNames)
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

// fabric joins the switches to trees. Of a host on two switches the first counts, with a warning, as in Slurm. It refuses switches
// that are not there, given twice or below two switches, rings, and what nests deeper than machines do.
func (l *switchList) fabric() (*Fabric, error) {
	if len(l.records) == 0 {
		return nil, fmt.Errorf("no switches")
	}
	made := make(map[string]*FabricSwitch, len(l.records))
	for _, r := range l.records {
		if made[r.name] != nil {
			return nil, fmt.Errorf("%s: switch %q is there twice", r.where, r.name)
		}
		made[r.name] = &FabricSwitch{Name: r.name}
	}
	leafOf, parentOf := make(map[string]string), make(map[string]string)
	inOrder := slices.Clone(l.records)
	slices.SortStableFunc(inOrder, func(a, b switchRecord) int { return len(a.switches) - len(b.switches) }) // hosts of leaves first
	for _, r := range inOrder {
		for _, host := range r.hosts {
			if err := checkHost(host); err != nil {
				return nil, fmt.Errorf("%s: %w", r.where, err)
			}
			leaf, twice := leafOf[host]
			switch {
			case twice && l.strict:
				return nil, fmt.Errorf("%s: host %q is on switches %q and %q: want one", r.where, host, leaf, r.name)
			case twice && !r.all:
				l.warnings = append(l.warnings, fmt.Sprintf("%s: host %q is on switches %q and %q: the first counts", r.where, host, leaf, r.name))
			case !twice:
				leafOf[host] = r.name
				made[r.name].Hosts = append(made[r.name].Hosts, host)
			}
		}
	}
	for _, r := range l.records {
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
	f := &Fabric{Warnings: l.warnings}
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
	f.Roots = withHosts(f.Roots)
	return f, nil
}

// withHosts leaves out switches without hosts below them: all their hosts may be on other switches, which count.
func withHosts(switches []*FabricSwitch) []*FabricSwitch {
	return slices.DeleteFunc(switches, func(s *FabricSwitch) bool {
		s.Switches = withHosts(s.Switches)
		return len(s.Hosts)+len(s.Switches) == 0
	})
}
