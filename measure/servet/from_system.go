package servet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// FromSystem returns what the ranks share by the word of the operating system: Resources that are
// marked as FromSystem. Each host's first rank reads /sys; if rank 0 gives parts, read by
// encode.ReadHostParts, say, these are those of every host instead. A rank counts where all CPUs that it may run on
// do. It is collective; the results are nil on other ranks than 0. Hosts that tell nothing are warned of. Simulated ones are
// not asked.
func FromSystem(comm mpi.Communicator, parts []encode.HostPart) (resources []model.Resource, warnings []string, err error) {
	var read func() ([]encode.HostPart, error)
	if _, isOwn := harness.OwnPlace(comm); isOwn {
		read = func() ([]encode.HostPart, error) { return readSys(os.DirFS(sysPath)) }
	}
	return told(comm, parts, read)
}

func told(comm mpi.Communicator, parts []encode.HostPart, read func() ([]encode.HostPart, error)) (resources []model.Resource, warnings []string, err error) {
	var places []mpi.Place // on rank 0
	var ranks [][]int
	ofReader, err := together(context.Background(), comm, 0, func(_ *harness.Conductor, all []mpi.Place) (first []int, err error) { // of hosts; none: parts are given
		places = all
		ranks, _ = ranksOf(places, nil, 0)
		for _, own := range ranks {
			if parts == nil && read != nil {
				first = append(first, slices.Min(own))
			}
		}
		return first, nil
	}, func(c *harness.Conductor, readers []int) ([][]encode.HostPart, error) {
		var own []encode.HostPart
		if slices.Contains(readers, c.Comm.Rank()) && read != nil {
			own, _ = read() // what it fails at tells nothing
		}
		return harness.Gather(c.Comm, own)
	})
	if err != nil || comm.Rank() != 0 || parts == nil && read == nil {
		return nil, nil, err
	}
	silent := 0
	ofHost := make([][]encode.HostPart, len(ranks))
	for h, own := range ranks {
		if ofHost[h] = parts; parts == nil {
			ofHost[h] = ofReader[slices.Min(own)]
		}
		if ofHost[h] == nil {
			silent++
		}
	}
	if silent > 0 {
		warnings = append(warnings, fmt.Sprintf("the operating system of %d hosts tells nothing of caches and memory", silent))
	}
	return sharedParts(ranks, ofHost, places), warnings, nil
}

// Inside are the resources of a network all of whose hosts have the given parts, read by encode.ReadHostParts, say: as
// FromSystem, for a network that is there already and knows on which cores its ranks are.
func Inside(n *model.Network, parts []encode.HostPart) []model.Resource {
	onHost := make(map[string][]int)
	places := make([]mpi.Place, n.Ranks())
	for rank := range places {
		at := n.Location(rank)
		places[rank] = mpi.Place{Host: at.Host, Core: at.Core}
		onHost[at.Host] = append(onHost[at.Host], rank)
	}
	var ranks [][]int
	var ofHost [][]encode.HostPart
	for _, host := range n.Hosts() {
		ranks, ofHost = append(ranks, onHost[host]), append(ofHost, parts)
	}
	return sharedParts(ranks, ofHost, places)
}

// sharedParts are the parts of each host as resources of the ranks: one for each kind, and for each level of caches.
func sharedParts(ranks [][]int, parts [][]encode.HostPart, places []mpi.Place) []model.Resource {
	type what struct {
		kind  topology.Kind
		level int
	}
	found := make(map[what]*model.Resource)
	for h, own := range ranks {
		for _, p := range parts[h] {
			r := found[what{p.Kind, p.Level}]
			if r == nil {
				r = &model.Resource{Kind: p.Kind, Bandwidth: math.NaN(), FromSystem: true}
				found[what{p.Kind, p.Level}] = r
			}
			r.Bytes = max(r.Bytes, int64(p.Bytes))
			var in []int
			for _, rank := range own {
				if within(places[rank], p.CPUs) {
					in = append(in, rank)
				}
			}
			if len(in) >= 2 {
				r.Groups = append(r.Groups, slices.Sorted(slices.Values(in)))
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(found), func(a, b what) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.level, b.level))
	})
	var all []model.Resource
	for _, k := range keys {
		all = append(all, *found[k])
	}
	return all
}

// within tells whether a rank stays on the given CPUs, which ascend.
func within(p mpi.Place, cpus []int) bool {
	own := p.CPUs
	if own == nil && p.Core >= 0 {
		own = []int{p.Core}
	}
	for _, cpu := range own {
		if _, in := slices.BinarySearch(cpus, cpu); !in {
			return false
		}
	}
	return len(own) > 0
}

// Resources are what a Network is to keep: what was measured and, of what was not, what was told.
// Either result may be nil. A measured kind replaces the one that was told; of caches those that are
// told to be larger than what was measured stay. Warnings are of told groups that the measurement does not show.
func Resources(memory, caches *InsideResult, told []model.Resource) (all []model.Resource, warnings []string) {
	if caches != nil {
		all = append(all, caches.Resources...)
	}
	if memory != nil {
		all = append(all, memory.Resources...)
	}
	measured := func(kind topology.Kind) bool {
		return slices.ContainsFunc(all, func(r model.Resource) bool { return r.Kind == kind && !r.FromSystem })
	}
	haveCaches, haveMemory := measured(topology.KindCache), measured(topology.KindNUMA)
	for _, t := range told {
		switch {
		case t.Kind == topology.KindCache && haveCaches && 2*t.Bytes <= int64(caches.Bytes):
			if len(t.Groups) > 0 && !slices.ContainsFunc(caches.Resources, func(r model.Resource) bool { return len(r.Groups) > 0 }) {
				warnings = append(warnings, fmt.Sprintf("ranks share caches of %s by the word of the operating system, and do not disturb each other in any", quantity.Bytes(int(t.Bytes))))
			}
		case t.Kind == topology.KindNUMA && haveMemory:
		default:
			all = append(all, t)
		}
	}
	return all, warnings
}
