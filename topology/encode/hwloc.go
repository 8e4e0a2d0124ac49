package encode

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/cpulist"
	"github.com/topocast/topocast/topology"
)

// IsHwloc tells whether a file is XML of lstopo, or one of its synthetic descriptions.
func IsHwloc(data []byte) bool { return XMLRoot(data) == "topology" || isSynthetic(data) }

const (
	// maxThreads bounds the hardware threads of one host, which a short text may promise. The largest hosts have some 10^4.
	maxThreads = 1 << 16

	// maxMembers bounds the members of all groups together.
	maxMembers = 1 << 24

	// instructionCache is the type of caches that hold no data.
	instructionCache = "2"
)

// ReadHwloc reads what hwloc knows of the inside of a host: the groups of hardware threads that share a core, a cache, memory
// or a package, with their kinds. The file is one of lstopo --of xml, of hwloc 1, 2 or 3, or of lstopo --of synthetic. Threads
// are numbered in the order of the numbers that the operating system gives them, which cpus lists.
//
// Objects with the same threads are one group: a package goes before the memory and the caches that are all its
// own, and a core before its caches. Objects of one thread, or of all, are no groups. What is no part of
// the processors, such as devices, is passed over. Latencies are not known.
func ReadHwloc(r io.Reader) (h *topology.Hierarchy, cpus []int, err error) {
	defer naming("hwloc", &err)
	m, err := readHwloc(r)
	if err != nil {
		return nil, nil, err
	}
	return m.hierarchy()
}

// A HostPart is a part of a host that some of its hardware threads have in common.
type HostPart struct {
	Kind  topology.Kind // KindCore, KindCache, KindNUMA or KindSocket
	Level int           // of a cache, 1 the nearest; else 0
	Bytes int           // of a cache; else 0
	CPUs  []int         // hardware threads by the numbers of the operating system, ascending
}

// ReadHostParts reads from the files of ReadHwloc all cores, caches but those of instructions, NUMA nodes and packages
// of a host, with the sizes of caches. They are sorted by kind, level and threads.
func ReadHostParts(r io.Reader) (parts []HostPart, err error) {
	defer naming("hwloc", &err)
	m, err := readHwloc(r)
	if err != nil {
		return nil, err
	}
	for _, g := range m.groups {
		switch {
		case len(g.CPUs) == 0 || g.Kind == topology.KindUnknown || g.name == hwlocDie || g.ofInstructions:
			continue
		case g.Bytes < 0:
			return nil, fmt.Errorf("%s: its cache_size is not known: want a number of bytes", g.name)
		}
		parts = append(parts, g.HostPart)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no cores, caches, NUMA nodes or packages")
	}
	slices.SortStableFunc(parts, func(a, b HostPart) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Level-b.Level, slices.Compare(a.CPUs, b.CPUs))
	})
	return parts, nil
}

func readHwloc(r io.Reader) (*hwlocMachine, error) {
	data, err := readAtMost(r, maxFile)
	if err != nil {
		return nil, err
	}
	if isSynthetic(data) {
		return parseSynthetic(string(data))
	}
	file, err := readXML(bytes.NewReader(data), "topology")
	if err != nil {
		return nil, err
	}
	version := file.attr("version")
	if major, _, _ := strings.Cut(version, "."); !slices.Contains([]string{"", "1", "2", "3"}, major) {
		return nil, fmt.Errorf("version %q: want 1, 2 or 3", shorten(version))
	}
	machines := file.children("object")
	if len(machines) != 1 {
		return nil, fmt.Errorf("%d machines in the file: want one", len(machines))
	}
	m := &hwlocMachine{}
	if machines[0].attr("allowed_cpuset") != "" {
		m.allowed = m.mask(machines[0], "allowed_cpuset")
	}
	m.object(machines[0], 0)
	return m, m.err
}

// mask is the hardware threads that an attribute names.
func (m *hwlocMachine) mask(o *element, name string) []int {
	cpus, err := cpulist.Mask(o.attr(name))
	if err != nil {
		m.fail("line %d: %s: %v", o.line, o.attr("type"), err)
	}
	return cpus
}

// object takes over an object with all in it, and returns its hardware threads.
func (m *hwlocMachine) object(o *element, depth int) (inside []int) {
	text, index := o.attr("type"), o.attr("os_index")
	if text == "PU" {
		cpu, err := strconv.Atoi(index)
		_, isAllowed := slices.BinarySearch(m.allowed, cpu)
		switch {
		case err != nil || cpu < 0 || cpu >= maxThreads:
			m.fail("line %d: PU with os_index %q: want a number in [0, %d)", o.line, shorten(index), maxThreads)
		case m.allowed != nil && !isAllowed: // lstopo --disallowed shows it
			return nil
		case len(m.cpus) == maxThreads:
			m.fail("line %d: more than %d hardware threads", o.line, maxThreads)
		}
		m.cpus = append(m.cpus, cpu)
		return []int{cpu}
	}
	for _, c := range o.children("object") {
		inside = append(inside, m.object(c, depth+1)...)
	}
	g, isPart := hwlocGroupOf(text, o.attr("depth"))
	if !isPart {
		return inside
	}
	if g.CPUs = inside; len(inside) == 0 { // memory, which has no threads below but a set of them
		g.CPUs = m.mask(o, "cpuset")
	}
	g.ofInstructions = g.ofInstructions || o.attr("cache_type") == instructionCache
	if size, err := strconv.Atoi(o.attr("cache_size")); g.Kind == topology.KindCache {
		g.Bytes = size
		if err != nil {
			g.Bytes = -1
		}
	}
	m.add(g, depth)
	return inside
}
