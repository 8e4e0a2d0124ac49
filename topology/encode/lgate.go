package encode

import (
	"bufio"
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
	root, err := readClusters(string(data))
	if err != nil {
		return nil, err
	}
	f := Fabric{Roots: []*FabricSwitch{root}}
	ranks := f.Hosts()
	slices.SortFunc(ranks, hostlist.Naturally)
	for i, rank := range ranks {
		if number, _ := strconv.Atoi(rank); number < i {
			return nil, fmt.Errorf("rank %s is in two groups", rank)
		} else if number > i {
			return nil, fmt.Errorf("rank %d is in no group, but rank %s is", i, ranks[len(ranks)-1])
		}
	}
	return f.Hierarchy(ranks)
}

var (
	// lgatePart is the begin of a cluster, a group with its ranks, or anything else up to a blank or a bracket; "" at the end.
	lgatePart = regexp.MustCompile(`^\s*((cluster)\s*\{|(group)\s*\{([^{}]*)\}?|[^\s{}]+|[{}]?)`)

	lgateSign = regexp.MustCompile(`\s*([,-])\s*`) // between ranks
)

// readClusters makes a switch of each cluster and group, with its ranks for hosts. The one that it returns holds the cluster of the file.
func readClusters(text string) (*FabricSwitch, error) {
	file := &FabricSwitch{}
	open := []*FabricSwitch{file}
	at, ranks := 0, 0
	for {
		m := lgatePart.FindStringSubmatch(text[at:])
		at += len(m[0])
		in, isInside := open[len(open)-1], len(open) > 1
		var err error
		switch {
		case m[2] != "" && len(open) > deepest:
			err = fmt.Errorf("clusters nest more than %d deep", deepest)
		case m[2] != "" && (isInside || in.Switches == nil):
			open = append(open, &FabricSwitch{})
			in.Switches = append(in.Switches, open[len(open)-1])
		case m[3] != "" && isInside:
			group := &FabricSwitch{}
			if group.Hosts, err = hostlist.ExpandNumbers(lgateSign.ReplaceAllString(strings.TrimSpace(m[4]), "$1"), maxHosts-ranks); err != nil {
				err = fmt.Errorf("group of ranks: %w", err)
			}
			ranks += len(group.Hosts)
			in.Switches = append(in.Switches, group)
		case m[1] == "}" && isInside && in.Switches != nil:
			open = open[:len(open)-1]
		case m[1] == "" && !isInside && in.Switches != nil:
			return file, nil
		default:
			err = unexpectedPart(m[1], isInside, in.Switches != nil)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", strings.Count(text[:at], "\n")+1, err)
		}
	}
}

// unexpectedPart is the error of a part, in a cluster or outside, behind others or as the first.
func unexpectedPart(part string, isInside, isBehind bool) error {
	want := `"cluster" and "{"`
	switch {
	case isInside && isBehind:
		want = `"cluster" or "group" and "{", or "}"`
	case isInside:
		want = `"cluster" or "group" and "{"`
	case isBehind:
		want = "the end"
	}
	if part == "" {
		return fmt.Errorf("the file ends: want %s", want)
	}
	return fmt.Errorf("%q: want %s", shorten(part), want)
}

// WriteLGate writes the confident groups of a hierarchy as a topology file of LGate,
// which ReadLGate reads. Names, latencies and confidences have no place in it.
func WriteLGate(w io.Writer, h *topology.Hierarchy) (err error) {
	defer naming("LGate topology", &err)
	h = h.Confident(topology.ConfidentFrom)
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
