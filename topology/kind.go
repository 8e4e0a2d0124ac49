package topology

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind says what the hosts of a group have in common. It is part of what is known
// of a level, and never guessed from its name.
type Kind int

// The kinds, from fine to coarse. Those up to KindSocket lie inside one host of a
// cluster, whose cores are then the hosts of the graph.
const (
	KindUnknown Kind = iota
	KindCore         // hardware threads of one core
	KindCache        // cores that share a cache
	KindNUMA         // cores that share a path to memory: a NUMA domain, a die with its controller
	KindSocket       // cores of one package
	KindHost         // cores of one host
	KindSwitch       // hosts of one switch or several: a rack, a cell, a pod
)

// kindNames are the kinds as files have them.
var kindNames = [...]string{"", "core", "cache", "numa", "socket", "host", "switch"}

// String is the kind as files have it, "" for KindUnknown.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kindNames[k]
}

// ParseKind reads what String writes.
func ParseKind(text string) (Kind, error) {
	if k := slices.Index(kindNames[:], text); k >= 0 {
		return Kind(k), nil
	}
	return KindUnknown, fmt.Errorf("topology: kind %q: want %s, or none", text, strings.Join(kindNames[1:], ", "))
}

// WithKinds returns the hierarchy with the given kinds of its levels, fine to
// coarse. Groups and the rest are shared with the old one.
func (h *Hierarchy) WithKinds(kinds []Kind) (*Hierarchy, error) {
	if len(kinds) != len(h.levels) {
		return nil, fmt.Errorf("topology: hierarchy: %d kinds for %d levels", len(kinds), len(h.levels))
	}
	own := *h
	own.levels = slices.Clone(h.levels)
	for i, k := range kinds {
		own.levels[i].Kind = k
	}
	return &own, nil
}

// LevelName is what reports call a level, fine to coarse: its name, or its number if
// nobody has named it, and its kind in brackets where the name does not say it; "all" for the
// root's, len(Levels()).
func (h *Hierarchy) LevelName(level int) string {
	if level >= len(h.levels) {
		return "all"
	}
	l := h.levels[level]
	name := l.Name
	if name == "" {
		name = fmt.Sprintf("level %d", level+1)
	}
	if l.Kind != KindUnknown && l.Kind.String() != name {
		name += fmt.Sprintf(" (%s)", l.Kind)
	}
	return name
}
