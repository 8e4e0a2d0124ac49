package encode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// hwlocDie is the name of a part of a package, which may have memory of its own.
const hwlocDie = "die"

// A hwlocLevel is a type of objects.
type hwlocLevel struct {
	name string
	kind topology.Kind
	rank int // where two have the same threads the one of higher rank gives the name; of a cache its level

	ofInstructions bool // a cache that holds no data
}

// hwlocKind knows the types of objects that group hardware threads, in all spellings of hwloc: by their
// beginnings, in any case. Depth is the level of a cache whose type does not say it.
func hwlocKind(text, depth string) (hwlocLevel, bool) {
	t := strings.ToLower(text)
	if t == "cache" {
		t = "l" + depth
	}
	is := func(whole string, least int) bool { return len(t) >= least && strings.HasPrefix(whole, t) }
	switch {
	case len(t) >= 2 && t[0] == 'l' && '1' <= t[1] && t[1] <= '5':
		switch rest := t[2:]; {
		case strings.HasPrefix("cache", rest), strings.HasPrefix("dcache", rest), strings.HasPrefix("icache", rest), strings.HasPrefix("ucache", rest):
			return hwlocLevel{"L" + t[1:2], topology.KindCache, int(t[1] - '0'), strings.HasPrefix(rest, "i")}, true
		}
	case is("core", 2):
		return hwlocLevel{name: "core", kind: topology.KindCore, rank: 6}, true
	case is("numanode", 2), is("node", 2):
		return hwlocLevel{name: "NUMA", kind: topology.KindNUMA, rank: 8}, true
	case is("die", 2):
		return hwlocLevel{name: hwlocDie, kind: topology.KindNUMA, rank: 9}, true
	case is("package", 2), is("socket", 2):
		return hwlocLevel{name: "socket", kind: topology.KindSocket, rank: 10}, true
	case is("group", 2), is("module", 2), is("tile", 2), t == "":
		return hwlocLevel{name: "group", kind: topology.KindUnknown}, true
	}
	return hwlocLevel{}, false
}

// A hwlocMachine collects groups of hardware threads by their numbers.
type hwlocMachine struct {
	cpus    []int
	allowed []int        // of the processors, those that a job may use; nil: all
	groups  []hwlocGroup // their threads may not be among cpus
	members int          // of all groups
}

type hwlocGroup struct {
	hwlocLevel
	cpus []int
	size string // B, of a cache; as the file has it
}

func (m *hwlocMachine) add(g hwlocGroup) error {
	if m.members += len(g.cpus); m.members > maxMembers {
		return fmt.Errorf("groups of more than %d hardware threads together", maxMembers)
	}
	m.groups = append(m.groups, g)
	return nil
}

// hierarchy numbers the threads and nests the groups.
func (m *hwlocMachine) hierarchy() (*topology.Hierarchy, []int, error) {
	if len(m.cpus) == 0 {
		return nil, nil, fmt.Errorf("no hardware threads (PU)")
	}
	slices.Sort(m.cpus)
	number := make(map[int]int, len(m.cpus))
	for i, cpu := range m.cpus {
		if _, twice := number[cpu]; twice {
			return nil, nil, fmt.Errorf("PU %d is there twice", cpu)
		}
		number[cpu] = i
	}
	groups := m.distinct(number)
	levels, err := hwlocLevels(groups, len(m.cpus))
	if err != nil {
		return nil, nil, err
	}
	var named []topology.Level
	of := map[string]int{}
	for i, l := range levels {
		named = append(named, topology.Level{Name: l.name, Kind: l.kind, Latency: math.NaN(), Support: math.NaN()})
		of[l.name] = i
	}
	var nested []topology.Group
	for _, g := range groups {
		nested = append(nested, topology.Group{Hosts: g.cpus, Level: of[g.name], Latency: math.NaN(), Support: math.NaN()})
	}
	h, err := topology.NewHierarchy(len(m.cpus), named, nested, math.NaN())
	return h, m.cpus, err
}

// distinct are the groups of two threads or more and not of all, by number, larger ones first. Of groups of the same
// threads the one of the highest rank is left.
func (m *hwlocMachine) distinct(number map[int]int) []hwlocGroup {
	var groups []hwlocGroup
	for _, g := range m.groups {
		var own []int
		for _, cpu := range g.cpus {
			if i, ok := number[cpu]; ok {
				own = append(own, i)
			}
		}
		slices.Sort(own)
		if own = slices.Compact(own); len(own) > 1 && len(own) < len(number) {
			groups = append(groups, hwlocGroup{hwlocLevel: g.hwlocLevel, cpus: own})
		}
	}
	slices.SortStableFunc(groups, func(a, b hwlocGroup) int {
		if len(a.cpus) != len(b.cpus) {
			return len(b.cpus) - len(a.cpus)
		}
		if c := slices.Compare(a.cpus, b.cpus); c != 0 {
			return c
		}
		return b.rank - a.rank
	})
	return slices.CompactFunc(groups, func(a, b hwlocGroup) bool { return slices.Equal(a.cpus, b.cpus) })
}

// hwlocLevels orders the types of groups, larger ones first, of so many threads from fine to coarse: a type whose
// groups lie in groups of another one comes before it.
func hwlocLevels(groups []hwlocGroup, threads int) ([]hwlocLevel, error) {
	var levels []hwlocLevel
	height := map[string]int{}
	around := map[string]map[string]bool{} // the types whose groups are next around those of a type
	smallest := make([]int, threads)       // group + 1
	for i, g := range groups {
		if around[g.name] == nil {
			around[g.name] = map[string]bool{}
			levels = append(levels, g.hwlocLevel)
		}
		if up := smallest[g.cpus[0]]; up > 0 {
			around[g.name][groups[up-1].name] = true
		}
		for _, cpu := range g.cpus {
			smallest[cpu] = i + 1
		}
	}
	// Each type as high as the longest chain of types below it.
	for range levels {
		for _, l := range levels {
			for up := range around[l.name] {
				height[up] = max(height[up], height[l.name]+1)
			}
		}
	}
	for _, l := range levels {
		for up := range around[l.name] {
			if height[up] <= height[l.name] || height[up] > len(levels) {
				return nil, fmt.Errorf("groups of type %s lie in those of type %s, and the reverse", l.name, up)
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b hwlocLevel) int {
		return cmp.Or(height[a.name]-height[b.name], int(a.kind-b.kind), strings.Compare(a.name, b.name))
	})
	return levels, nil
}
