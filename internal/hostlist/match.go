package hostlist

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/words"
)

// Same tells which names of one file are hosts that another file calls otherwise: with or without their domains, as node1 and
// node1.cluster.example are. It returns what the other file calls them. Names that are in both files are not in the map,
// and neither are those of which two hosts have the same first part.
func Same(names, others []string) map[string]string {
	short, long := byShortName(names), byShortName(others)
	same := map[string]string{}
	for first, name := range short {
		if other := long[first]; name != "" && other != "" && name != other && (name == first || other == first) {
			same[name] = other
		}
	}
	return same
}

// byShortName are the names by what is before their first dots; "" where several have that. Addresses have no domains.
func byShortName(names []string) map[string]string {
	by := map[string]string{}
	for _, name := range names {
		first, _, _ := strings.Cut(name, ".")
		if _, err := netip.ParseAddr(name); err == nil {
			first = name
		}
		if known, there := by[first]; there && known != name {
			name = ""
		}
		by[first] = name
	}
	return by
}

// Renamed are names with those of Same in their places, and a sentence that says so; "" if all are as they were.
func Renamed(names, others []string) (renamed []string, said string) {
	same := Same(names, others)
	if len(same) == 0 {
		return names, ""
	}
	renamed = slices.Clone(names)
	example := ""
	for i, name := range names {
		if other, ok := same[name]; ok {
			renamed[i] = other
			if example == "" {
				example = fmt.Sprintf("%s is taken for %s", name, other)
			}
		}
	}
	return renamed, fmt.Sprintf("%s matched without their domains: %s", words.Count(len(same), "host"), example)
}

// Rows finds each of the names among others; a name that is there several times is taken in their order. It fails if one is missing.
func Rows(names, others []string) ([]int, error) {
	places := map[string][]int{}
	for i, name := range others {
		places[name] = append(places[name], i)
	}
	rows, used := make([]int, len(names)), map[string]int{}
	for i, name := range names {
		at := places[name]
		if used[name] == len(at) {
			return nil, fmt.Errorf("%s has %s, want more", name, words.Count(len(at), "row"))
		}
		rows[i] = at[used[name]]
		used[name]++
	}
	return rows, nil
}
