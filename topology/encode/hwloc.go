package encode

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/cpulist"
	"github.com/topocast/topocast/topology"
)

const (
	// maxHwloc bounds the size in bytes of a file of one host.
	maxHwloc = 64 << 20

	// maxThreads bounds the hardware threads of one host, which a short text may promise. The largest hosts have some 10^4.
	maxThreads = 1 << 16

	// maxMembers bounds the members of all groups together.
	maxMembers = 1 << 24
)

// ReadHwloc reads what hwloc knows of the inside of a host, from a file of lstopo --of xml, of hwloc 1, 2 or 3: the groups
// of hardware threads that share a core, a cache, memory or a package, with their kinds. Threads
// are numbered in the order of the numbers that the operating system gives them, which cpus lists.
//
// Objects with the same threads are one group: a package goes before the memory and the caches that are all its
// own, and a core before its caches. Objects of one thread, or of all, are no groups. What is no part of
// the processors, such as devices, is passed over. Latencies are not known.
func ReadHwloc(r io.Reader) (h *topology.Hierarchy, cpus []int, err error) {
	defer naming("hwloc", &err)
	var file struct {
		XMLName xml.Name      `xml:"topology"`
		Version string        `xml:"version,attr"`
		Objects []hwlocObject `xml:"object"`
	}
	if err := decodeXML(r, maxHwloc, &file); err != nil {
		return nil, nil, err
	}
	if major, _, _ := strings.Cut(file.Version, "."); major != "" && major != "1" && major != "2" && major != "3" {
		return nil, nil, fmt.Errorf("version %q: want 1, 2 or 3", shorten(file.Version))
	}
	if len(file.Objects) != 1 {
		return nil, nil, fmt.Errorf("%d machines in the file: want one", len(file.Objects))
	}
	var m hwlocMachine
	if _, err := m.object(&file.Objects[0], 0); err != nil {
		return nil, nil, err
	}
	return m.hierarchy()
}

// A hwlocObject is an element <object>.
type hwlocObject struct {
	Type     string        `xml:"type,attr"`
	Index    string        `xml:"os_index,attr"`
	Depth    string        `xml:"depth,attr"` // of caches, in version 1
	Cpuset   string        `xml:"cpuset,attr"`
	Children []hwlocObject `xml:"object"`
}

// object takes over an object with all in it, and returns its hardware threads.
func (m *hwlocMachine) object(o *hwlocObject, depth int) ([]int, error) {
	if depth > deepestNested {
		return nil, fmt.Errorf("objects nest more than %d deep", deepestNested)
	}
	if o.Type == "PU" {
		cpu, err := strconv.Atoi(o.Index)
		if err != nil || cpu < 0 || cpu >= maxThreads {
			return nil, fmt.Errorf("PU with os_index %q: want a number in [0, %d)", shorten(o.Index), maxThreads)
		}
		return []int{cpu}, m.thread(cpu)
	}
	var inside []int
	for i := range o.Children {
		cpus, err := m.object(&o.Children[i], depth+1)
		if err != nil {
			return nil, err
		}
		inside = append(inside, cpus...)
	}
	kind, ok := hwlocKind(o.Type, o.Depth)
	if !ok {
		return inside, nil // of no part of a processor
	}
	cpus := inside
	if len(cpus) == 0 { // memory, which has no threads below but a set of them
		var err error
		if cpus, err = cpulist.Mask(o.Cpuset); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Type, err)
		}
	}
	if kind.kind == topology.KindUnknown {
		kind.name = fmt.Sprintf("%s %d", kind.name, depth)
	}
	return inside, m.add(kind, cpus)
}
