package servet

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/cpulist"
	"github.com/topocast/topocast/topology"
)

// ReadHwloc reads the parts of a host from the XML of hwloc (lstopo --of xml), of its versions 1 to 3: cores, caches but those of
// instructions, NUMA nodes and packages, sorted as those of readSys.
func ReadHwloc(r io.Reader) ([]Part, error) {
	var file struct {
		XMLName xml.Name      `xml:"topology"`
		Objects []hwlocObject `xml:"object"`
	}
	if err := xml.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("servet: hwloc: %w", err)
	}
	parts, err := hwlocParts(nil, file.Objects)
	if err != nil {
		return nil, fmt.Errorf("servet: hwloc: %w", err)
	}
	if len(parts) == 0 {
		return nil, errors.New("servet: hwloc: no topology with objects that have a cpuset")
	}
	return sortParts(parts), nil
}

// A hwlocObject is an element of the file.
type hwlocObject struct {
	Type      string        `xml:"type,attr"`
	Depth     string        `xml:"depth,attr"`      // level of a cache, in version 1
	CacheType string        `xml:"cache_type,attr"` // in version 1; 2 is of instructions
	CacheSize string        `xml:"cache_size,attr"` // B
	CPUSet    string        `xml:"cpuset,attr"`
	Objects   []hwlocObject `xml:"object"`
}

// hwlocParts appends objects, and what is in them, as far as they matter.
func hwlocParts(parts []Part, objects []hwlocObject) ([]Part, error) {
	for i := range objects {
		o := &objects[i]
		p, err := o.part()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Type, err)
		}
		if len(p.CPUs) > 0 {
			parts = append(parts, p)
		}
		if parts, err = hwlocParts(parts, o.Objects); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// part is the object as a part; it has no CPUs if it is of a type that does not matter.
func (o *hwlocObject) part() (p Part, err error) {
	level := ""
	switch {
	case o.Type == "Core":
		p.Kind = topology.KindCore
	case o.Type == "NUMANode":
		p.Kind = topology.KindNUMA
	case o.Type == "Package" || o.Type == "Socket":
		p.Kind = topology.KindSocket
	case o.Type == "Cache" && o.CacheType != "2": // of version 1
		level = o.Depth
	case strings.HasPrefix(o.Type, "L") && strings.HasSuffix(o.Type, "Cache") && !strings.HasSuffix(o.Type, "iCache"):
		level = strings.TrimSuffix(o.Type[1:], "Cache")
	default:
		return p, nil
	}
	if p.Kind == topology.KindUnknown {
		p.Kind = topology.KindCache
		if p.Level, err = strconv.Atoi(level); err != nil {
			return p, fmt.Errorf("cache of level %q", level)
		}
		if p.Bytes, err = strconv.Atoi(o.CacheSize); err != nil || p.Bytes < 0 {
			return p, fmt.Errorf("cache_size is %q", o.CacheSize)
		}
	}
	p.CPUs, err = cpulist.Mask(o.CPUSet)
	return p, err
}
