package encode

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/topocast/topocast/topology"
)

// A hwlocGroup is hardware threads that share a part of the host. It has less than 0 bytes if it is a cache whose size is not known.
type hwlocGroup struct {
	HostPart
	name string // of its type
	rank int    // where two have the same threads the one of higher rank gives the name; of a cache its level

	ofInstructions bool // a cache that holds no data
}

// hwlocDie is the name of a part of a package, which may have memory of its own.
const hwlocDie = "die"

// hwlocTypes are groups of each type but caches, and the words of hwloc for them.
var hwlocTypes = []struct {
	group hwlocGroup
	words []string
}{
	{hwlocGroup{HostPart: HostPart{Kind: topology.KindCore}, name: "core", rank: 6}, []string{"core"}},
	{hwlocGroup{HostPart: HostPart{Kind: topology.KindNUMA}, name: "NUMA", rank: 8}, []string{"numanode", "node"}},
	{hwlocGroup{HostPart: HostPart{Kind: topology.KindNUMA}, name: hwlocDie, rank: 9}, []string{"die"}},
	{hwlocGroup{HostPart: HostPart{Kind: topology.KindSocket}, name: "socket", rank: 10}, []string{"package", "socket"}},
	{hwlocGroup{HostPart: HostPart{Kind: topology.KindUnknown}, name: "group"}, []string{"group", "module", "tile"}},
}

// cacheType is the type of a cache in lower case: its level, and i for instructions.
var cacheType = regexp.MustCompile(`^l([1-5])([diu]?)(?:c|ca|cac|cach|cache)?$`)

// hwlocGroupOf is a group of the type of an object, without threads; it knows all spellings of hwloc: by their beginnings, in any case. A
// synthetic description may leave out that of a group. Depth is the level of a cache whose type does not say it.
func hwlocGroupOf(text, depth string) (_ hwlocGroup, isPart bool) {
	text = cmp.Or(strings.ToLower(text), "group")
	if text == "cache" {
		text = "l" + depth
	}
	if m := cacheType.FindStringSubmatch(text); m != nil {
		level := int(m[1][0] - '0')
		return hwlocGroup{HostPart{Kind: topology.KindCache, Level: level}, "L" + m[1], level, m[2] == "i"}, true
	}
	isBeginning := func(word string) bool { return len(text) > 1 && strings.HasPrefix(word, text) }
	for _, t := range hwlocTypes {
		if slices.ContainsFunc(t.words, isBeginning) {
			return t.group, true
		}
	}
	return hwlocGroup{}, false
}

// A hwlocMachine collects groups of hardware threads by the numbers of the operating system.
type hwlocMachine struct {
	firstError
	cpus    []int
	allowed []int        // of the processors, those that a job may use; nil: all
	groups  []hwlocGroup // their threads may not be among cpus
	members int          // of all groups
}

// add adds a group; those of unknown kinds are told apart by their depth.
func (m *hwlocMachine) add(g hwlocGroup, depth int) {
	if m.members += len(g.CPUs); m.members > maxMembers {
		m.fail("groups of more than %d hardware threads together", maxMembers)
		return
	}
	if g.Kind == topology.KindUnknown {
		g.name = fmt.Sprintf("%s %d", g.name, depth)
	}
	g.CPUs = slices.Compact(slices.Sorted(slices.Values(g.CPUs)))
	m.groups = append(m.groups, g)
}

// hierarchy numbers the threads and nests the groups.
func (m *hwlocMachine) hierarchy() (*topology.Hierarchy, []int, error) {
	if len(m.cpus) == 0 {
		return nil, nil, fmt.Errorf("no hardware threads (PU)")
	}
	slices.Sort(m.cpus)
	for i, cpu := range m.cpus[1:] {
		if cpu == m.cpus[i] {
			return nil, nil, fmt.Errorf("PU %d is there twice", cpu)
		}
	}
	groups := m.distinct()
	types, err := hwlocLevels(groups, len(m.cpus))
	if err != nil {
		return nil, nil, err
	}
	var levels []topology.Level
	levelOf := map[string]int{}
	for i, t := range types {
		levels = append(levels, topology.Level{Name: t.name, Kind: t.Kind, Latency: math.NaN(), Confidence: math.NaN()})
		levelOf[t.name] = i
	}
	var nested []topology.Group
	for _, g := range groups {
		nested = append(nested, topology.Group{Hosts: g.CPUs, Level: levelOf[g.name], Latency: math.NaN(), Confidence: math.NaN()})
	}
	h, err := topology.NewHierarchy(len(m.cpus), levels, nested, math.NaN())
	return h, m.cpus, err
}

// distinct are the groups of two threads or more and not of all, by number, larger ones first. Of groups of the same
// threads the one of the highest rank is left.
func (m *hwlocMachine) distinct() []hwlocGroup {
	var groups []hwlocGroup
	for _, g := range m.groups {
		var own []int
		for _, cpu := range g.CPUs {
			if i, ok := slices.BinarySearch(m.cpus, cpu); ok {
				own = append(own, i)
			}
		}
		if g.CPUs = own; len(own) > 1 && len(own) < len(m.cpus) {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b hwlocGroup) int {
		return cmp.Or(len(b.CPUs)-len(a.CPUs), slices.Compare(a.CPUs, b.CPUs), b.rank-a.rank)
	})
	return slices.CompactFunc(groups, func(a, b hwlocGroup) bool { return slices.Equal(a.CPUs, b.CPUs) })
}

// hwlocLevels orders the types of groups, larger ones first, of so many threads from fine to coarse: a type whose
// groups lie in groups of another one comes before it. It returns a group of each.
func hwlocLevels(groups []hwlocGroup, threads int) ([]hwlocGroup, error) {
	var types []hwlocGroup
	height := map[string]int{}
	isInside := map[[2]string]bool{}         // groups of the one type are next inside of groups of the other
	smallest := make([]*hwlocGroup, threads) // of those seen
	for i, g := range groups {
		if _, known := height[g.name]; !known {
			height[g.name] = 0
			types = append(types, g)
		}
		if around := smallest[g.CPUs[0]]; around != nil {
			isInside[[2]string{g.name, around.name}] = true
		}
		for _, cpu := range g.CPUs {
			smallest[cpu] = &groups[i]
		}
	}
	// Each type is as high as the longest chain of types below it. Those that lie in each other rise without end.
	for range len(types) + 1 {
		for t := range isInside {
			height[t[1]] = max(height[t[1]], height[t[0]]+1)
		}
	}
	for _, t := range types {
		if height[t.name] > len(types) {
			return nil, fmt.Errorf("groups of type %s lie in those of another type, and the reverse", t.name)
		}
	}
	slices.SortStableFunc(types, func(a, b hwlocGroup) int {
		return cmp.Or(height[a.name]-height[b.name], int(a.Kind-b.Kind), strings.Compare(a.name, b.name))
	})
	return types, nil
}
