package scenario

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// Placement returns the host of each rank on a graph. how is one of
//
//	block      consecutive ranks on one host, and on neighbouring hosts; with
//	           fewer ranks than hosts, one rank each on the first hosts
//	cyclic     consecutive ranks on different machines (node, as in
//	           simnet.Settings.Node) where these hold several hosts, else in
//	           different finest groups of h, else on different hosts
//	shuffled   as block, but ranks in random order; shuffled:7 has the seed 7
//
// or the name of a file with a host per line, as readPlacement reads it. h and node may be nil.
func Placement(how string, ranks int, g *topology.Graph, h *topology.Hierarchy, node []int) ([]int, error) {
	if ranks < 1 || g.Hosts() < 1 {
		return nil, fmt.Errorf("%d ranks on %d hosts: want at least one of each", ranks, g.Hosts())
	}
	perHost := (ranks + g.Hosts() - 1) / g.Hosts()
	block := make([]int, ranks)
	for r := range block {
		block[r] = r / perHost
	}
	name, seed, hasSeed := strings.Cut(how, ":")
	switch {
	case how == "block":
		return block, nil
	case how == "cyclic":
		order := dealt(g.Hosts(), h, node)
		for r := range block {
			block[r] = order[r%len(order)]
		}
		return block, nil
	case name == "shuffled":
		n := uint64(0)
		if hasSeed {
			var err error
			if n, err = strconv.ParseUint(seed, 10, 64); err != nil {
				return nil, fmt.Errorf("%q: seed: want a number of at least 0", how)
			}
		}
		rng := rand.New(rand.NewPCG(n, 0x706c616365)) // "place": a stream of its own
		rng.Shuffle(ranks, func(i, j int) { block[i], block[j] = block[j], block[i] })
		return block, nil
	}
	file, err := os.Open(how)
	if err != nil {
		return nil, fmt.Errorf("want block, cyclic, shuffled or a file: %w", err)
	}
	defer file.Close()
	placement, err := readPlacement(file, ranks, g)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", how, err)
	}
	return placement, nil
}

// dealt lists the hosts as one deals cards: the first host of each group, then
// the second host of each group, and so on.
func dealt(hosts int, h *topology.Hierarchy, node []int) []int {
	group := make([]int, hosts)
	for i := range group {
		group[i] = i
		if h != nil {
			group[i] = h.Smallest(i)
		}
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(node))); len(distinct) < len(node) {
		group = node
	}
	order := make([]int, hosts)
	place := make([]int, hosts) // of the host in its group
	seen := map[int]int{}
	for i, n := range group {
		order[i], place[i] = i, seen[n]
		seen[n]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return place[a] - place[b] })
	return order
}

// cutSlots cuts what a host file says of a host's slots off the host, which has one where it says nothing.
func cutSlots(text string) (host string, slots int, err error) {
	fields := strings.Fields(text)
	host, slots = fields[0], 1
	count := ""
	if name, after, ok := strings.Cut(host, ":"); ok {
		host, count = name, after
	}
	for _, f := range fields[1:] {
		if after, ok := strings.CutPrefix(f, "slots="); ok {
			count = after
		} else if !strings.HasPrefix(f, "max_slots=") && !strings.HasPrefix(f, "max-slots=") {
			return "", 0, fmt.Errorf("%q: want a host and its slots, such as slots=4", text)
		}
	}
	if count != "" {
		if slots, err = strconv.Atoi(count); err != nil || slots < 1 {
			return "", 0, fmt.Errorf("%q: want a host and its slots, such as slots=4", text)
		}
	}
	return host, slots, nil
}

// readPlacement reads the host of each rank, one per line, as the host files of
// MPI launchers have them. A line holds the name of a host in the graph, or its
// number, and how many ranks it has, as the host files of launchers say it:
// slots=4 or max_slots=4 (Open MPI), or :4 (MPICH). A # starts a comment. Empty
// lines and lines after the last rank are ignored.
func readPlacement(r io.Reader, ranks int, g *topology.Graph) ([]int, error) {
	named := make(map[string]int, g.Hosts())
	for v := g.Hosts() - 1; v >= 0; v-- {
		named[g.Name(v)] = v
	}
	var placement []int
	lines := bufio.NewScanner(r)
	for number := 1; len(placement) < ranks && lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		text, slots, err := cutSlots(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		host, ok := named[text]
		if !ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n >= g.Hosts() {
				return nil, fmt.Errorf("line %d: %q: want the name of a host, or a number from 0 to %d", number, text, g.Hosts()-1)
			}
			host = n
		}
		for range min(slots, ranks-len(placement)) {
			placement = append(placement, host)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(placement) < ranks {
		return nil, fmt.Errorf("%d places for %d ranks: want --ranks %d, or more lines", len(placement), ranks, len(placement))
	}
	return placement, nil
}
