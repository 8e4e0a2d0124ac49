package servet

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// ReadHwloc reads the parts of a host from the XML of hwloc (lstopo --of xml), of its versions 1 to 3: cores, caches but those of
// instructions, NUMA nodes and packages, sorted as those of ReadSys.
func ReadHwloc(r io.Reader) ([]Part, error) {
	decoder := xml.NewDecoder(r)
	decoder.Strict = true
	var parts []Part
	isHwloc := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("servet: hwloc: %w", err)
		}
		element, is := token.(xml.StartElement)
		if !is {
			continue
		}
		isHwloc = isHwloc || element.Name.Local == "topology"
		if element.Name.Local != "object" {
			continue
		}
		p, err := hwlocPart(element)
		if err != nil {
			return nil, fmt.Errorf("servet: hwloc: line %d: %w", lineOf(decoder), err)
		}
		if len(p.CPUs) > 0 {
			parts = append(parts, p)
		}
	}
	if !isHwloc || len(parts) == 0 {
		return nil, errors.New("servet: hwloc: no topology with objects that have a cpuset")
	}
	return sortParts(parts), nil
}

func lineOf(decoder *xml.Decoder) int {
	line, _ := decoder.InputPos()
	return line
}

// hwlocPart is an object as a part; it has no CPUs if it is of a type that does not matter.
func hwlocPart(element xml.StartElement) (Part, error) {
	value := make(map[string]string)
	for _, a := range element.Attr {
		value[a.Name.Local] = a.Value
	}
	var p Part
	level := ""
	switch kind := value["type"]; {
	case kind == "Core":
		p.Kind = topology.KindCore
	case kind == "NUMANode":
		p.Kind = topology.KindNUMA
	case kind == "Package" || kind == "Socket":
		p.Kind = topology.KindSocket
	case kind == "Cache": // of version 1; type 2 is of instructions
		if level = value["depth"]; value["cache_type"] == "2" {
			return p, nil
		}
	case strings.HasPrefix(kind, "L") && strings.HasSuffix(kind, "Cache"):
		level = strings.TrimSuffix(strings.TrimPrefix(kind, "L"), "Cache")
		if strings.HasSuffix(level, "i") {
			return p, nil
		}
	default:
		return p, nil
	}
	var err error
	if level != "" {
		p.Kind = topology.KindCache
		if p.Level, err = strconv.Atoi(level); err != nil {
			return p, fmt.Errorf("cache of level %q", level)
		}
		if p.Bytes, err = strconv.Atoi(value["cache_size"]); err != nil || p.Bytes < 0 {
			return p, fmt.Errorf("cache_size is %q", value["cache_size"])
		}
	}
	p.CPUs, err = parseCPUSet(value["cpuset"])
	return p, err
}

// parseCPUSet reads 0x0000000f and, 32 bits each and the highest first, 0x00000001,0x00000000.
func parseCPUSet(text string) ([]int, error) {
	const wordBits, mostWords = 32, mostCPUs / 32
	words := strings.Split(text, ",")
	if len(words) > mostWords {
		return nil, fmt.Errorf("cpuset of %d words", len(words))
	}
	var cpus []int
	for i := len(words) - 1; i >= 0; i-- {
		digits := strings.TrimPrefix(words[i], "0x")
		if digits == "" && len(words) > 1 {
			continue // a word of zeros may be left out
		}
		word, err := strconv.ParseUint(digits, 16, wordBits)
		if err != nil {
			return nil, fmt.Errorf("cpuset is %q: want words of 32 bits such as 0x0000000f", text)
		}
		for bit := range wordBits {
			if word>>bit&1 != 0 {
				cpus = append(cpus, (len(words)-1-i)*wordBits+bit)
			}
		}
	}
	return cpus, nil
}
