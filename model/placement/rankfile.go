package placement

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// writeRankfile writes a line "rank 0=host
// slot=socket:core" per rank, with Open MPI's own numbers of sockets and of cores within them. That
// needs all of a host's cores from 0, and which ranks share sockets and cores by the operating system.
// Else the line is "rank 0=host slot=core" with the number of the operating system: Open
// MPI 4 takes those so with --mca rmaps_rank_file_physical 1. The first line, a comment, has the
// command. Where a core is not known any slot would be a guess, so that is an error.
func writeRankfile(b *bytes.Buffer, n *model.Network, place []int) error {
	slots := socketSlots(n, place)
	command := "mpirun --rankfile FILE"
	if slots == nil {
		command = "mpirun --mca rmaps_rank_file_physical 1 --rankfile FILE"
	}
	for rank, p := range place {
		at := n.Location(p)
		if err := known(rank, at); err != nil {
			return err
		}
		if rank == 0 {
			fmt.Fprintf(b, "# %s\n", command)
		}
		slot := fmt.Sprint(at.Core)
		if slots != nil {
			slot = slots[rank]
		}
		fmt.Fprintf(b, "rank %d=%s slot=%s\n", rank, at.Host, slot)
	}
	return nil
}

// socketSlots is "socket:core" of each rank; nil if they are not known, or two ranks would share one.
// Sockets, and cores of a socket, count in the order of their lowest logical CPU, as hwloc has them.
func socketSlots(n *model.Network, place []int) []string {
	sockets, cores := told(n, topology.KindSocket), told(n, topology.KindCore)
	if sockets == nil || cores == nil {
		return nil
	}
	lowest := func(group []int) int { // CPU of the group
		least := n.Location(group[0]).Core
		for _, p := range group {
			least = min(least, n.Location(p).Core)
		}
		return least
	}
	slot := make(map[int]string) // place -> its slot
	for _, places := range placesOf(n) {
		slices.SortFunc(places, func(a, b int) int { return cmp.Compare(n.Location(a).Core, n.Location(b).Core) })
		socketNumber, coreNumber := make(map[int]int), make(map[int]int) // by lowest CPU
		coresIn := make(map[int]int)                                     // socket -> cores so far
		for i, p := range places {
			if n.Location(p).Core != i {
				return nil // a CPU was not measured: numbers would be guesses
			}
			socket, core := lowest(sockets[p]), lowest(cores[p])
			if _, seen := socketNumber[socket]; !seen {
				socketNumber[socket] = len(socketNumber)
			}
			if _, seen := coreNumber[core]; !seen {
				coreNumber[core] = coresIn[socket]
				coresIn[socket]++
			}
			slot[p] = fmt.Sprintf("%d:%d", socketNumber[socket], coreNumber[core])
		}
	}
	slots := make([]string, len(place))
	taken := make(map[string]bool)
	for rank, p := range place {
		slots[rank] = slot[p]
		at := n.Location(p).Host + " " + slot[p]
		if taken[at] {
			return nil
		}
		taken[at] = true
	}
	return slots
}

// told is the group of each rank that shares a resource of the kind, by what the operating system
// says; nil if it has said nothing.
func told(n *model.Network, kind topology.Kind) [][]int {
	for _, r := range n.Settings().Resources {
		if r.Kind != kind || !r.FromSystem {
			continue
		}
		groups := make([][]int, n.Ranks())
		for p := range groups {
			groups[p] = []int{p}
		}
		for _, g := range r.Groups {
			for _, p := range g {
				groups[p] = g
			}
		}
		return groups
	}
	return nil
}
