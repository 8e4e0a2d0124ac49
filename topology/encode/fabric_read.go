package encode

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
)

// A switchRecord is a switch, or a block, as a file describes it.
type switchRecord struct {
	place    string // in the file
	name     string
	hosts    []string
	switches []string // by name
	isBlock  bool
	isWhole  bool // hosts are all below, those of the switches below, too

	made   *FabricSwitch
	parent *switchRecord // the switch above
}

// switchList collects what a file lists, within bounds. Its readers look at no errors: fabric returns the first one.
type switchList struct {
	firstError
	records  []*switchRecord
	children int
	strict   bool // a host on two switches is an error: the file is no configuration that its scheduler takes
	warnings []string
}

// add adds a switch or a block, and expands the hostlists of what is below it, of which there is one unless the record is whole.
func (l *switchList) add(r *switchRecord, nodes, switches string) {
	l.check(checkSwitch(r.name))
	switch {
	case len(l.records) == maxNames:
		l.check(errTooMany)
	case nodes == "" && switches == "", nodes != "" && switches != "" && !r.isWhole:
		l.fail("switch %q: want either nodes or switches below it", r.name)
	}
	r.place, r.isWhole = l.place, r.isWhole && switches != ""
	r.hosts, r.switches = l.expand(r.name, nodes), l.expand(r.name, switches)
	l.records = append(l.records, r)
}

// expand lists the names of a hostlist that is below a switch.
func (l *switchList) expand(name, list string) []string {
	if list == "" || l.err != nil {
		return nil
	}
	names, err := hostlist.Expand(list, maxNames)
	if err != nil {
		l.fail("switch %q: %v", name, err)
	}
	if l.children += len(names); l.children > 2*maxNames {
		l.check(errTooMany)
	}
	return names
}

// fabric joins the switches to trees. Blocks become leaves below one root; beside switches they are passed over, with a warning. It refuses
// switches that are not there, given twice or below two switches, rings, and what nests deeper than machines do.
func (l *switchList) fabric() (*Fabric, error) {
	isBlock := func(r *switchRecord) bool { return r.isBlock }
	first := slices.IndexFunc(l.records, isBlock)
	if switches := slices.DeleteFunc(slices.Clone(l.records), isBlock); first >= 0 && len(switches) > 0 {
		blocks := words.Count(len(l.records)-len(switches), "block")
		l.warnings = append(l.warnings, fmt.Sprintf("%s%s beside switches: the switches are read", l.records[first].place, blocks))
		l.records, first = switches, -1
	}
	l.putHosts()
	roots := l.nest()
	if l.place = ""; len(l.records) == 0 {
		l.fail("no switches")
	}
	if l.err != nil {
		return nil, l.err
	}
	f := &Fabric{Roots: withHosts(roots), Warnings: l.warnings}
	if first >= 0 && len(f.Roots) > 1 {
		f.Roots = []*FabricSwitch{{Name: "root", Switches: f.Roots}}
	}
	return f, nil
}

// putHosts makes the switches with their hosts. Of a host on two switches the first counts, with a warning, as in Slurm.
func (l *switchList) putHosts() {
	leafOf := make(map[string]string)
	inOrder := slices.Clone(l.records)
	slices.SortStableFunc(inOrder, func(a, b *switchRecord) int { return len(a.switches) - len(b.switches) }) // hosts of leaves first
	for _, r := range inOrder {
		l.place = r.place
		r.made = &FabricSwitch{Name: r.name}
		for _, host := range r.hosts {
			l.check(checkHost(host))
			leaf, twice := leafOf[host]
			switch {
			case twice && l.strict:
				l.fail("host %q is on switches %q and %q: want one", host, leaf, r.name)
			case twice && !r.isWhole:
				l.warnings = append(l.warnings, fmt.Sprintf("%shost %q is on switches %q and %q: the first counts", r.place, host, leaf, r.name))
			case !twice:
				leafOf[host] = r.name
				r.made.Hosts = append(r.made.Hosts, host)
			}
		}
	}
}

// nest puts switches below switches, and returns the roots.
func (l *switchList) nest() (roots []*FabricSwitch) {
	known := make(map[string]*switchRecord, len(l.records))
	for _, r := range l.records {
		if l.place = r.place; known[r.name] != nil {
			l.fail("switch %q is there twice", r.name)
		}
		known[r.name] = r
	}
	for _, r := range l.records {
		l.place = r.place
		for _, name := range r.switches {
			switch below := known[name]; {
			case below == nil:
				l.fail("switch %q is not described", name)
			case below.parent != nil:
				l.fail("switch %q is below switches %q and %q: want one", name, below.parent.name, r.name)
			default:
				below.parent = r
				r.made.Switches = append(r.made.Switches, below.made)
			}
		}
	}
	for _, r := range l.records {
		depth := 0
		for up := r.parent; up != nil && depth <= deepest; up = up.parent {
			depth++
		}
		switch l.place = r.place; {
		case depth > deepest:
			l.fail("above switch %q are more than %d, or they form a ring", r.name, deepest)
		case depth == 0:
			roots = append(roots, r.made)
		}
	}
	return roots
}

// withHosts leaves out switches without hosts below them: all their hosts may be on other switches, which count.
func withHosts(switches []*FabricSwitch) []*FabricSwitch {
	return slices.DeleteFunc(switches, func(s *FabricSwitch) bool {
		s.Switches = withHosts(s.Switches)
		return len(s.Hosts)+len(s.Switches) == 0
	})
}
