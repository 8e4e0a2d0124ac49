package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// zhuSeed is that of the random patterns.
const zhuSeed = 1

// leastHosts is how many hosts the experiment wants: those of the exchange.
const leastHosts = 4

// wantHosts refuses ranks on fewer hosts. It is collective.
func wantHosts(comm mpi.Communicator) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		if _, hosts := mpi.NumberHosts(places); len(hosts) < leastHosts {
			err = fmt.Errorf("%d hosts: want %d at least; --sim simulates some", len(hosts), leastHosts)
		}
	}
	return cli.Agree(comm, "zhu: hosts", err)
}

// A zhuRun is the experiment on one machine, on rank 0.
//
// newZhuRun makes the patterns of a discovered machine: some to fit the network to, some random ones and an exchange that the fit does
// not see, and sweeps of one link. All are measured in one go. evaluate fits the network and predicts what was measured by
// several laws of sharing. write makes the paper's tables of it.
type zhuRun struct {
	*zhuOptions
	found    *measure.Discovery
	groups   []topology.Group // confident ones, all ranks first
	racks    [][][]int        // the largest groups of several hosts, as the ranks of each host
	ranksOf  [][]int          // of each host, the racks in turn
	patterns []zhuPattern     // in the order in which they are measured

	laws   []zhuLaw
	fitted *model.Predictor
	toFit  int // patterns that were measured to fit to

	rows     []*zhuRow
	random   zhuRow      // of the random patterns
	sweeps   []*zhuSweep // that were measured
	warnings []string
}

// A zhuPattern is measured for a row or for a sweep, or to fit to.
type zhuPattern struct {
	transfers []model.Transfer
	row       *zhuRow   // nil: not for a row
	sweep     *zhuSweep // nil: not for a sweep
}

// newZhuRun makes the patterns.
func newZhuRun(o *zhuOptions, found *measure.Discovery) (*zhuRun, error) {
	z := &zhuRun{zhuOptions: o, found: found, groups: found.Network.Hierarchy().Groups()}
	z.findHosts()
	if z.nodes == nil {
		z.nodes = []int{len(z.ranksOf)}
	}
	var fit, held []zhuPattern
	for _, transfers := range concurrent.ForDiscover(found.Network.Hierarchy(), z.bytes, z.fit, zhuSeed) {
		fit = append(fit, zhuPattern{transfers: transfers})
	}
	random := rand.New(rand.NewPCG(zhuSeed, 3))
	for _, d := range z.degrees {
		for _, n := range z.nodes {
			if n > len(z.ranksOf) {
				return nil, fmt.Errorf("%d hosts: there are %d", n, len(z.ranksOf))
			}
			row := &zhuRow{Hosts: n, Degree: d}
			z.rows = append(z.rows, row)
			for drawn := 0; drawn <= z.trials; {
				transfers := concurrent.RandomPattern(random, z.ranksOf[:n], d, z.bytes)
				drawn += len(transfers)
				held = append(held, zhuPattern{transfers: transfers, row: row})
			}
		}
	}
	// 1 to 6 units: as large in the mean as the others.
	const meanUnits = 3
	exchange := &zhuRow{Hosts: leastHosts, Exchange: true}
	z.rows = append(z.rows, exchange)
	held = append(held, zhuPattern{transfers: concurrent.Alltoallv(z.neighbours(), max(1, z.bytes/meanUnits)), row: exchange})
	// If time runs out, all rows have something.
	random.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	z.patterns = deal(fit, held, z.allSweeps())
	return z, nil
}

// deal orders patterns: if time runs out, all kinds have something. Those to fit to, on which the others stand, have half of the
// turns.
func deal(fit, held, swept []zhuPattern) []zhuPattern {
	var all []zhuPattern
	for total := len(fit) + len(held) + len(swept); len(all) < total; {
		for _, kind := range []*[]zhuPattern{&fit, &held, &fit, &swept} {
			if left := *kind; len(left) > 0 {
				all = append(all, left[0])
				*kind = left[1:]
			}
		}
	}
	return all
}

// transfers are those of all patterns.
func (z *zhuRun) transfers() [][]model.Transfer {
	var all [][]model.Transfer
	for _, p := range z.patterns {
		all = append(all, p.transfers)
	}
	return all
}

// findHosts finds the racks and the ranks of each host. Hosts are taken from the racks in turn, so that the first n are of as many
// racks, as evenly, as can be.
func (z *zhuRun) findHosts() {
	hosts := truth.Number(z.found.Latencies.Hosts).Groups()
	alone := slices.Clone(hosts)
	for _, child := range z.groups[0].Children {
		if rack := within(hosts, z.groups[child]); len(rack) > 1 {
			z.racks = append(z.racks, rack)
			alone = slices.DeleteFunc(alone, func(ranks []int) bool { return slices.Contains(z.groups[child].Hosts, ranks[0]) })
		}
	}
	parts := append(slices.Clone(z.racks), alone)
	for k := 0; len(z.ranksOf) < len(hosts); k++ {
		for _, part := range parts {
			if k < len(part) {
				z.ranksOf = append(z.ranksOf, part[k])
			}
		}
	}
	slices.SortStableFunc(z.racks, func(a, b [][]int) int { return len(b) - len(a) })
}

// within are the hosts in a group.
func within(hosts [][]int, g topology.Group) [][]int {
	return slices.DeleteFunc(slices.Clone(hosts), func(ranks []int) bool { return !slices.Contains(g.Hosts, ranks[0]) })
}

// neighbours are the ranks of four hosts of one rack, if one has four.
func (z *zhuRun) neighbours() [leastHosts][]int {
	for _, g := range slices.Backward(z.groups) { // the smallest last, all hosts first
		if hosts := within(z.ranksOf, g); len(hosts) >= leastHosts {
			return [leastHosts][]int(hosts)
		}
	}
	return [leastHosts][]int(z.ranksOf)
}

// isMixed tells whether a link of a host or of a group is used both ways.
func (z *zhuRun) isMixed(pattern []model.Transfer) bool {
	sets := slices.Clone(z.ranksOf)
	for _, g := range z.groups[1:] {
		sets = append(sets, g.Hosts)
	}
	for _, set := range sets {
		in, out := false, false
		for _, t := range pattern {
			from, to := slices.Contains(set, t.Src), slices.Contains(set, t.Dst)
			in, out = in || to && !from, out || from && !to
		}
		if in && out {
			return true
		}
	}
	return false
}
