package encode

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"github.com/topocast/topocast/topology"
)

// deepest is how far clusters nest in a file that is believed: machines have some ten levels.
const deepest = 30

// ReadLGate reads a topology file of LGate (Reinfjell 2023, figure 3.4), which says
// which ranks of a job can be measured at the same time:
//
//	cluster {
//	  cluster { group { 0-7 } }
//	  cluster { group { 8-11, 14, 15 } }
//	  cluster { group { 12 } }
//	  cluster { group { 13 } }
//	}
//
// A group lists ranks, and a cluster holds clusters and groups, any number of them.
// Both become groups of the hierarchy, of which the latencies are not known. A
// cluster's level is one above the coarsest in it; one that holds a single one is the
// same group, and a group of one rank is none: its rank hangs below the cluster.
//
// It refuses files that leave out a rank below the greatest, or name one twice.
func ReadLGate(r io.Reader) (*topology.Hierarchy, error) {
	p := &lgateParser{}
	var unread error // of the reader, which the scanner only tells of
	p.s.Init(r)
	p.s.Mode = scanner.ScanIdents | scanner.ScanInts
	p.s.Error = func(_ *scanner.Scanner, text string) { unread = cmp.Or(unread, fmt.Errorf("%s", text)) }
	p.next()
	root, err := p.cluster(0)
	if err == nil && p.token != scanner.EOF {
		err = p.unexpected("the end")
	}
	if err = cmp.Or(unread, err); err != nil {
		return nil, fmt.Errorf("encode: LGate topology: line %d: %w", p.s.Pos().Line, err)
	}
	h, err := root.hierarchy()
	if err != nil {
		return nil, fmt.Errorf("encode: LGate topology: %w", err)
	}
	return h, nil
}

// lgateNode is a cluster or a group, as it stands in the file.
type lgateNode struct {
	ranks []int // all below
	parts []*lgateNode
}

// lgateParser holds the token that comes next.
type lgateParser struct {
	s     scanner.Scanner
	token rune
}

func (p *lgateParser) next() { p.token = p.s.Scan() }

func (p *lgateParser) unexpected(want string) error {
	if p.token == scanner.EOF {
		return fmt.Errorf("the file ends: want %s", want)
	}
	return fmt.Errorf("%q: want %s", p.s.TokenText(), want)
}

// take reads one token.
func (p *lgateParser) take(want string) error {
	if p.token == scanner.EOF || p.s.TokenText() != want {
		return p.unexpected(strconv.Quote(want))
	}
	p.next()
	return nil
}

// cluster reads a cluster and all that is in it.
func (p *lgateParser) cluster(depth int) (*lgateNode, error) {
	if depth > deepest {
		return nil, fmt.Errorf("clusters nest more than %d deep", deepest)
	}
	if err := p.take("cluster"); err != nil {
		return nil, err
	}
	if err := p.take("{"); err != nil {
		return nil, err
	}
	n := &lgateNode{}
	for p.token != '}' {
		var part *lgateNode
		var err error
		if p.token == scanner.Ident && p.s.TokenText() == "group" {
			part, err = p.group()
		} else {
			part, err = p.cluster(depth + 1)
		}
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, part)
		if n.ranks = append(n.ranks, part.ranks...); len(n.ranks) > maxHosts {
			return nil, fmt.Errorf("%d ranks: want at most %d", len(n.ranks), maxHosts)
		}
	}
	if len(n.parts) == 0 {
		return nil, p.unexpected(`"cluster" or "group"`)
	}
	return n, p.take("}")
}

// group reads "group { 0-3, 8 }".
func (p *lgateParser) group() (*lgateNode, error) {
	p.next()
	if err := p.take("{"); err != nil {
		return nil, err
	}
	n := &lgateNode{}
	for {
		first, err := p.rank()
		if err != nil {
			return nil, err
		}
		last := first
		if p.token == '-' {
			p.next()
			if last, err = p.rank(); err != nil {
				return nil, err
			}
		}
		if last < first || len(n.ranks)+last-first >= maxHosts {
			return nil, fmt.Errorf("ranks %d-%d: want ascending, and at most %d", first, last, maxHosts)
		}
		for rank := first; rank <= last; rank++ {
			n.ranks = append(n.ranks, rank)
		}
		if p.token != ',' {
			return n, p.take("}")
		}
		p.next()
	}
}

func (p *lgateParser) rank() (int, error) {
	text := p.s.TokenText()
	rank, err := strconv.Atoi(text)
	if p.token != scanner.Int || err != nil || rank >= maxHosts || strconv.Itoa(rank) != text {
		return 0, p.unexpected(fmt.Sprintf("a rank in [0, %d)", maxHosts))
	}
	p.next()
	return rank, nil
}

// hierarchy is that of the root.
func (n *lgateNode) hierarchy() (*topology.Hierarchy, error) {
	all := slices.Clone(n.ranks)
	slices.Sort(all)
	for i, rank := range all {
		switch {
		case rank < i:
			return nil, fmt.Errorf("rank %d is in two groups", rank)
		case rank > i:
			return nil, fmt.Errorf("rank %d is in no group, but rank %d is", i, all[len(all)-1])
		}
	}
	var groups []topology.Group
	n.groups(&groups)
	groups = slices.DeleteFunc(groups, func(g topology.Group) bool { return len(g.Hosts) == len(all) })
	levels := 0
	for _, g := range groups {
		levels = max(levels, g.Level+1)
	}
	unknown := make([]topology.Level, levels)
	for i := range unknown {
		unknown[i] = topology.Level{Latency: math.NaN(), Support: math.NaN()}
	}
	return topology.NewHierarchy(len(all), unknown, groups, math.NaN())
}

// groups appends the groups that the node and those in it are, and returns the level
// of the coarsest, -1 if there is none.
func (n *lgateNode) groups(all *[]topology.Group) int {
	level := -1
	for _, part := range n.parts {
		level = max(level, part.groups(all))
		if len(part.ranks) == len(n.ranks) { // the same group
			return level
		}
	}
	if len(n.ranks) < 2 {
		return level
	}
	*all = append(*all, topology.Group{Hosts: n.ranks, Level: level + 1, Latency: math.NaN(), Support: math.NaN()})
	return level + 1
}

// WriteLGate writes the firm groups of a hierarchy as a topology file of LGate,
// which ReadLGate reads. Names, latencies and supports have no place in it.
func WriteLGate(w io.Writer, h *topology.Hierarchy) error {
	h = h.Firm(topology.FirmSupport)
	if h.Hosts() == 0 {
		return fmt.Errorf("encode: LGate topology: no hosts")
	}
	b := bufio.NewWriter(w)
	groups := h.Groups()
	var write func(g topology.Group, indent string)
	write = func(g topology.Group, indent string) {
		if len(g.Children) == 0 {
			fmt.Fprintf(b, "%scluster { group { %s } }\n", indent, lgateRanks(g.Hosts))
			return
		}
		fmt.Fprintf(b, "%scluster {\n", indent)
		inside := make(map[int]bool)
		for _, c := range g.Children {
			write(groups[c], indent+"  ")
			for _, rank := range groups[c].Hosts {
				inside[rank] = true
			}
		}
		for _, rank := range g.Hosts {
			if !inside[rank] { // by itself, or those would be a group
				fmt.Fprintf(b, "%s  cluster { group { %d } }\n", indent, rank)
			}
		}
		fmt.Fprintf(b, "%s}\n", indent)
	}
	write(groups[0], "")
	if err := b.Flush(); err != nil { // the first of all
		return fmt.Errorf("encode: LGate topology: %w", err)
	}
	return nil
}

// lgateRanks lists ascending ranks: "0-3, 8".
func lgateRanks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		end := i + 1
		for end < len(ranks) && ranks[end] == ranks[end-1]+1 {
			end++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		if end > i+1 {
			fmt.Fprintf(&b, "-%d", ranks[end-1])
		}
		i = end
	}
	return b.String()
}
