package encode

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
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
func ReadLGate(r io.Reader) (_ *topology.Hierarchy, err error) {
	defer naming("LGate topology", &err)
	data, err := readAtMost(r, maxFile)
	if err != nil {
		return nil, err
	}
	p := &lgateParser{rest: string(data)}
	p.next()
	root, err := p.cluster(0)
	if err == nil && p.token != "" {
		err = p.unexpected("the end")
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", bytes.Count(data[:len(data)-len(p.rest)], []byte("\n"))+1, err)
	}
	f := Fabric{Roots: []*FabricSwitch{root}}
	ranks := f.Hosts()
	slices.SortFunc(ranks, hostlist.Naturally)
	for i, rank := range ranks {
		switch number, _ := strconv.Atoi(rank); {
		case number < i:
			return nil, fmt.Errorf("rank %s is in two groups", rank)
		case number > i:
			return nil, fmt.Errorf("rank %d is in no group, but rank %s is", i, ranks[len(ranks)-1])
		}
	}
	return f.Hierarchy(ranks)
}

// lgateParser makes a switch of each cluster and group, with its ranks for hosts.
type lgateParser struct {
	token string // that comes next; "" at the end
	rest  string // behind the token
	ranks int    // so far
}

// lgateToken is a bracket, or other signs up to the next bracket or blank.
var lgateToken = regexp.MustCompile(`^\s*([{}]|[^\s{}]*)`)

func (p *lgateParser) next() {
	m := lgateToken.FindStringSubmatch(p.rest)
	p.token, p.rest = m[1], p.rest[len(m[0]):]
}

func (p *lgateParser) unexpected(want string) error {
	if p.token == "" {
		return fmt.Errorf("the file ends: want %s", want)
	}
	return fmt.Errorf("%q: want %s", p.token, want)
}

// take reads one token.
func (p *lgateParser) take(want string) error {
	if p.token != want {
		return p.unexpected(strconv.Quote(want))
	}
	p.next()
	return nil
}

// cluster reads a cluster and all that is in it.
func (p *lgateParser) cluster(depth int) (*FabricSwitch, error) {
	if depth > deepest {
		return nil, fmt.Errorf("clusters nest more than %d deep", deepest)
	}
	for _, want := range []string{"cluster", "{"} {
		if err := p.take(want); err != nil {
			return nil, err
		}
	}
	s := &FabricSwitch{}
	for p.token != "}" {
		var part *FabricSwitch
		var err error
		if p.token == "group" {
			part, err = p.group()
		} else {
			part, err = p.cluster(depth + 1)
		}
		if err != nil {
			return nil, err
		}
		s.Switches = append(s.Switches, part)
	}
	if len(s.Switches) == 0 {
		return nil, p.unexpected(`"cluster" or "group"`)
	}
	return s, p.take("}")
}

// group reads "group { 0-3, 8 }".
func (p *lgateParser) group() (*FabricSwitch, error) {
	p.next()
	if err := p.take("{"); err != nil {
		return nil, err
	}
	list := ""
	for ; p.token != "}" && p.token != ""; p.next() {
		list += p.token
	}
	ranks, err := hostlist.ExpandNumbers(list, maxHosts-p.ranks)
	p.ranks += len(ranks)
	if err != nil {
		return nil, fmt.Errorf("group of ranks: %w", err)
	}
	return &FabricSwitch{Hosts: ranks}, p.take("}")
}

// WriteLGate writes the firm groups of a hierarchy as a topology file of LGate,
// which ReadLGate reads. Names, latencies and supports have no place in it.
func WriteLGate(w io.Writer, h *topology.Hierarchy) (err error) {
	defer naming("LGate topology", &err)
	h = h.Firm(topology.FirmSupport)
	if h.Hosts() == 0 {
		return fmt.Errorf("no hosts")
	}
	b := bufio.NewWriter(w)
	groups := h.Groups()
	var write func(group int, indent string)
	write = func(group int, indent string) {
		g := groups[group]
		if len(g.Children) == 0 {
			ranks := strings.ReplaceAll(hostlist.Numbers(g.Hosts), ",", ", ")
			fmt.Fprintf(b, "%scluster { group { %s } }\n", indent, ranks)
			return
		}
		fmt.Fprintf(b, "%scluster {\n", indent)
		for _, c := range g.Children {
			write(c, indent+"  ")
		}
		for _, rank := range g.Hosts {
			if h.Smallest(rank) == group { // by itself, or those would be a group
				fmt.Fprintf(b, "%s  cluster { group { %d } }\n", indent, rank)
			}
		}
		fmt.Fprintf(b, "%s}\n", indent)
	}
	write(0, "")
	return b.Flush() // the first error of all
}
