package draw

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
)

// label is what nodes that are alike are called; each is how many of them a parent has. Long names lose the domain that all hosts
// share, and of many the first and the last are shown where that is shorter. Cores are shown only where the label is not wider
// with them than it may be.
func (t *textTree) label(b bundle, each, width int) string {
	what, names := "", make([]string, 0, len(b))
	for _, x := range b {
		kind, name := t.name(x)
		what = kind
		if name != "" {
			names = append(names, name)
		}
	}
	if each > 1 {
		what = fmt.Sprintf("%d x %s", each, what)
	}
	if len(names) == len(b) {
		list := hostlist.Format(names)
		if len(what)+1+len(list) > width {
			for i, name := range names {
				names[i] = strings.TrimSuffix(name, t.domain)
			}
			list = hostlist.Format(names)
			if ends := slices.MinFunc(names, hostlist.Naturally) + ".." + slices.MaxFunc(names, hostlist.Naturally); len(ends) < len(list) {
				list = ends
			}
		}
		what += " " + list
	}
	if cores, ok := t.cores(b); ok {
		with := what + ", cores " + cores
		if strings.HasSuffix(what, "core") {
			with = what + " " + cores
		}
		if len(with) <= width {
			return with
		}
	}
	return what
}

// name is the kind of a node, and its own name, "" if it has none.
func (t *textTree) name(x *textNode) (kind, name string) {
	if x.group < 0 {
		host := x.hosts[0]
		switch {
		case t.alone(host) && t.Noun == "rank":
			return "host", t.Places[host].Host
		case t.alone(host):
			return t.Noun, t.Places[host].Host
		case t.Places[host].Core >= 0:
			return "core", ""
		}
		return t.Noun, ""
	}
	if t.wholeHost(x.hosts) {
		return "host", t.Places[x.hosts[0]].Host
	}
	if x.group == 0 {
		return "all", ""
	}
	level := t.hierarchy.Levels()[x.level]
	vertex := t.switches[x.group]
	switch {
	case level.Kind > topology.KindUnknown && level.Kind < topology.KindHost:
		return level.Kind.String(), ""
	case t.sites[x.group].kind != "":
		return t.sites[x.group].kind, t.sites[x.group].name
	}
	kind = t.hierarchy.LevelName(x.level)
	if level.Kind == topology.KindSwitch {
		kind = "switch"
	}
	if vertex >= 0 {
		name = t.graph.Name(vertex)
	}
	return kind, name
}

// groupNames are what the groups are called one by one: with their own names, or else with numbers, as in "socket 2". Groups
// that have no more in common than their level are "group 1.3".
func (t *textTree) groupNames() []string {
	all := make([]string, len(t.groups))
	count := make(map[int]int) // by level
	for i, x := range t.groups {
		kind, name := t.name(x)
		count[x.level]++
		switch {
		case name != "":
			all[i] = kind + " " + name
		case i == 0:
			all[i] = kind
		case kind == "switch" || strings.HasPrefix(kind, "level "):
			all[i] = fmt.Sprintf("group %d.%d", x.level+1, count[x.level])
		default:
			all[i] = fmt.Sprintf("%s %d", kind, count[x.level])
		}
	}
	return all
}

// alone tells whether a rank is the only one on its host.
func (t *textTree) alone(rank int) bool {
	host := t.Places[rank].Host
	return host != "" && t.ranksOf[host] == 1
}

// wholeHost tells whether the ranks are those of one host, all of them.
func (t *textTree) wholeHost(ranks []int) bool {
	if len(ranks) < 2 {
		return false
	}
	host := t.Places[ranks[0]].Host
	return host != "" && t.ranksOf[host] == len(ranks) && !slices.ContainsFunc(ranks, func(r int) bool { return t.Places[r].Host != host })
}

// cores are those of nodes inside hosts, if all the nodes, or all their hosts together, have the same.
func (t *textTree) cores(b bundle) (string, bool) {
	of := make(map[string][]int) // by host
	for _, x := range b {
		for _, r := range x.hosts {
			p := t.Places[r]
			if p.Core < 0 || p.Host == "" || x.group < 0 && t.alone(r) || x.group >= 0 && p.Host != t.Places[x.hosts[0]].Host {
				return "", false
			}
			of[p.Host] = append(of[p.Host], p.Core)
		}
	}
	var all []int
	for _, cores := range of {
		slices.Sort(cores)
		if all != nil && !slices.Equal(all, cores) {
			return "", false
		}
		all = cores
	}
	all = slices.Compact(all)
	list := numberRanges(all)
	return list, !strings.HasSuffix(list, "...")
}

// A site is where the names of hosts say that these stand: a rack, say, and its name.
type site struct{ kind, name string }

// namedSite is a part of a name that may say where a host stands.
var namedSite = regexp.MustCompile(`([A-Za-z]+)([0-9]+)`)

// sitesIn are what a host's name says that everybody would read so, from coarse to fine.
func sitesIn(host string) (sites []site) {
	for _, part := range namedSite.FindAllStringSubmatch(host, -1) {
		switch word := strings.ToLower(part[1]); word {
		case "r":
			sites = append(sites, site{"rack", part[0]})
		case "rack", "row", "pod", "cell", "island", "cabinet", "chassis":
			sites = append(sites, site{word, part[2]})
		}
	}
	return sites
}

// findSites finds the groups whose hosts' names tell where they stand, in a whole level: all of a group's have a site in
// common that no other group has.
func (t *textTree) findSites() {
	t.sites = make([]site, len(t.groups))
	for level := range t.hierarchy.Levels() {
		var groups []int
		names, kinds := make(map[site]bool), make(map[string]bool)
		for i, g := range t.hierarchy.Groups() {
			if g.Level == level {
				of := t.commonSite(g.Hosts)
				groups, t.sites[i] = append(groups, i), of
				names[of], kinds[of.kind] = true, true
			}
		}
		if len(names) < len(groups) || len(kinds) > 1 || kinds[""] {
			for _, i := range groups {
				t.sites[i] = site{}
			}
		}
	}
}

// commonSite is the finest of those that all hosts have.
func (t *textTree) commonSite(hosts []int) site {
	common := sitesIn(t.Places[hosts[0]].Host)
	for _, h := range hosts[1:] {
		own := sitesIn(t.Places[h].Host)
		common = slices.DeleteFunc(common, func(s site) bool { return !slices.Contains(own, s) })
	}
	if len(common) == 0 {
		return site{}
	}
	return common[len(common)-1]
}
