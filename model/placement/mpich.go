package placement

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/model"
)

// writeMPICH writes the arguments of MPICH's mpiexec (Hydra) that put each rank on its host and its
// core: "-hosts n0:2,n1:2 -bind-to user:0,1". Hydra deals out the ranks over the hosts in turn, as many
// to each as stand behind its name, and has one list of logical CPUs for all hosts: a placement that
// needs more is refused.
func writeMPICH(b *bytes.Buffer, n *model.Network, place []int) error {
	if len(place) == 0 {
		return fmt.Errorf("no ranks")
	}
	at := make([]string, len(place)) // rank -> host
	cpus := make(map[string][]int)   // host -> its ranks' CPUs
	var longest []int
	for rank, p := range place {
		l := n.Location(p)
		if err := known(rank, l); err != nil {
			return err
		}
		at[rank] = l.Host
		cpus[l.Host] = append(cpus[l.Host], l.Core)
		if own := cpus[l.Host]; len(own) > len(longest) {
			longest = own
		}
	}
	hosts, share, err := hydraTurns(at)
	if err != nil {
		return err
	}
	for i, host := range hosts {
		if own := cpus[host]; !slices.Equal(own, longest[:len(own)]) {
			return fmt.Errorf("CPUs %v on %s, %v on another host: Hydra has one list for all; a rankfile of Open MPI could say it", own, host, longest)
		}
		hosts[i] = fmt.Sprintf("%s:%d", host, share[i])
	}
	list := make([]string, len(longest))
	for i, cpu := range longest {
		list[i] = strconv.Itoa(cpu)
	}
	fmt.Fprintf(b, "-hosts %s -bind-to user:%s\n", strings.Join(hosts, ","), strings.Join(list, ","))
	return nil
}

// hydraTurns are the hosts in the order of their first ranks, and how many ranks each gets at a turn.
func hydraTurns(at []string) (hosts []string, share []int, err error) {
	rank := 0
	for rank < len(at) && !slices.Contains(hosts, at[rank]) { // the first turn
		host, first := at[rank], rank
		for rank < len(at) && at[rank] == host {
			rank++
		}
		hosts, share = append(hosts, host), append(share, rank-first)
	}
	for rank < len(at) {
		for i, host := range hosts {
			for end := min(rank+share[i], len(at)); rank < end; rank++ {
				if at[rank] != host {
					return nil, nil, fmt.Errorf("rank %d on %s: Hydra deals out ranks in turns, and it is that of %s; a rankfile of Open MPI could say it", rank, at[rank], host)
				}
			}
		}
	}
	return hosts, share, nil
}
