package placement

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Servet places ranks by the rules of Servet 3.0 (Gonzalez-Dominguez et al.
// 2013, sections 3 and 4.2). All cores begin with weight 0; the one of least
// weight is taken, ties going to the lowest, and then
//
//  1. the weights of cores that share a cache with it rise, once per level of caches;
//  2. those of cores that slow it down when both use memory rise, once per level;
//  3. those of cores to which its latency is significantly lower (by a factor of
//     1.5) than the highest fall, by how much lower it is;
//  4. those of cores that slow each other down by more than 1.5 when they
//     use the network at once rise.
//
// In a memory-bound code the steps of rules 1 and 2 are ten times those of
// rule 3, in a communication-intensive one a tenth; those of rule 4 are ten
// times as large for the latter as for the former. The paper does not say how
// large against rule 3; ours, 100 and 10, give the mapping that it reports (one process
// per processor first, section 6.2) on hosts of up to ten groups.
type Servet struct {
	// MemoryBound says of what kind the program is: memory bound, or else communication intensive.
	MemoryBound bool
	// PerHost is how many ranks a host gets at most, see RanksPerHost. 0: as many as it has places.
	PerHost int
}

// significant is the ratio from which Servet takes a difference for one: that
// of rule 4, which we use for rule 3 too, where the paper gives none.
const significant = 1.5

// Place chooses places for the given number of ranks. Ranks stand on them host by host and, within hosts, side by side
// (model.SideBySide), as neighbours in rank often talk most: on all places the mapping is that of a job scheduler, as in section
// 6.2. O(ranks * places * levels).
func (s Servet) Place(n *model.Network, ranks int) ([]int, error) {
	place, err := s.take(n, ranks)
	if err != nil {
		return nil, err
	}
	isTaken := make([]bool, n.Ranks())
	for _, p := range place {
		isTaken[p] = true
	}
	return slices.DeleteFunc(slices.Concat(placesOf(n)...), func(p int) bool { return !isTaken[p] }), nil
}

// placesOf lists the places of each host, side by side, in the order of Network.Hosts. Where it is not known what is on which
// host, all is one.
func placesOf(n *model.Network) [][]int {
	number := make(map[string]int)
	for i, host := range n.Hosts() {
		number[host] = i
	}
	places := make([][]int, max(1, len(number)))
	for p := range n.Ranks() {
		host := number[n.Location(p).Host]
		places[host] = append(places[host], p)
	}
	for _, own := range places {
		model.SideBySide(own, n.Settings().Resources, func(rank int) int { return n.Location(rank).Core })
	}
	return places
}

// take is Place with the places in the order in which they are taken.
func (s Servet) take(n *model.Network, ranks int) ([]int, error) {
	places := n.Ranks()
	if ranks < 1 || ranks > places {
		return nil, fmt.Errorf("placement: servet: %d ranks: want 1 to %d, the places", ranks, places)
	}
	host, room, err := s.room(n)
	if err != nil {
		return nil, err
	}
	if all := sum(room); ranks > all {
		return nil, fmt.Errorf("placement: servet: %d ranks: want at most %d, with %d on each host", ranks, all, s.PerHost)
	}
	shared := slices.Concat(caches(n), memory(n))
	share, latency, access := 1.0, 10.0, 100.0
	if s.MemoryBound {
		share, latency, access = 10, 1, 10
	}
	domain, _ := accessDomains(n)
	_, highest := latencyRange(n)
	weight := make([]float64, places)
	taken := make([]bool, places)
	place := make([]int, 0, ranks)
	for len(place) < ranks {
		best := -1
		for c := range places {
			if !taken[c] && room[host[c]] > 0 && (best < 0 || weight[c] < weight[best]) {
				best = c
			}
		}
		place = append(place, best)
		taken[best] = true
		room[host[best]]--
		for c := range places {
			if taken[c] {
				continue
			}
			for _, group := range shared {
				if group[best] >= 0 && group[c] == group[best] {
					weight[c] += share
				}
			}
			if t := n.Time(best, c, n.Measured().Bytes); t*significant < highest {
				weight[c] -= latency * (1 - t/highest)
			}
			if domain != nil && domain[c] == domain[best] {
				weight[c] += access
			}
		}
	}
	return place, nil
}

// room is the number of the host of each place, and how many ranks each host may get. Where it is not known what is on which
// host, all is one.
func (s Servet) room(n *model.Network) (host, room []int, err error) {
	if s.PerHost < 0 || s.PerHost > 0 && n.Hosts() == nil {
		return nil, nil, fmt.Errorf("placement: servet: PerHost %d: want at least 0, and a network that knows the hosts of its ranks", s.PerHost)
	}
	host = make([]int, n.Ranks())
	for i, places := range placesOf(n) {
		for _, p := range places {
			host[p] = i
		}
		own := len(places)
		if s.PerHost > 0 {
			own = min(own, s.PerHost)
		}
		room = append(room, own)
	}
	return host, room, nil
}

// Capacity is how many ranks Place has places for.
func (s Servet) Capacity(n *model.Network) (int, error) {
	_, room, err := s.room(n)
	return sum(room), err
}

func sum(x []int) (all int) {
	for _, v := range x {
		all += v
	}
	return all
}

// RanksPerHost is how many ranks on each host use its cores without disturbing each other on the way to the network. It is one
// per way that rule 4 of Servet finds in the ratios of the network's Degradation (ratNC). Servet 3.0 places the kernels of
// its section 6.2 so. Where no ratio is above 1.5 it is the most cores that a host has. It is an error if the
// ratios were not measured.
func RanksPerHost(n *model.Network) (int, error) {
	d := n.Settings().Degradation
	if d == nil || len(d.Access) < 3 || n.Hosts() == nil {
		return 0, fmt.Errorf("placement: the network does not know how processes of a host slow each other down (ratNC)")
	}
	if _, ways := accessDomains(n); ways > 0 {
		return ways, nil
	}
	_, room, err := Servet{}.room(n)
	return slices.Max(room), err
}

// caches and memory are the groups of rules 1 and 2: what Network.Resources says of caches and of paths to memory;
// where it says nothing of them, the levels of such a kind.
func caches(n *model.Network) [][]int {
	return sharers(n, topology.KindCache, topology.KindCore, topology.KindCache)
}

func memory(n *model.Network) [][]int {
	return sharers(n, topology.KindNUMA, topology.KindNUMA, topology.KindSocket)
}

// latencyRange is the lowest and the highest latency in s of rule 3, of the times to the first, the middle and the last
// place.
func latencyRange(n *model.Network) (lowest, highest float64) {
	lowest = math.Inf(1)
	for a := range n.Ranks() {
		for _, b := range [...]int{0, n.Ranks() / 2, n.Ranks() - 1} {
			if t := n.Time(a, b, n.Measured().Bytes); a != b && !math.IsNaN(t) {
				lowest, highest = min(lowest, t), max(highest, t)
			}
		}
	}
	return lowest, highest
}

// sharers numbers the group of each place, -1 for those that share nothing, once per step of rule 1 or 2: the
// groups of the network's resources of one kind; if there are none, of the levels whose kind is from the least to the
// most.
func sharers(n *model.Network, resource, least, most topology.Kind) [][]int {
	var all [][]int
	for _, r := range n.Settings().Resources {
		if r.Kind == resource {
			group := slices.Repeat([]int{-1}, n.Ranks())
			for g, ranks := range r.Groups {
				for _, rank := range ranks {
					group[rank] = g
				}
			}
			all = append(all, group)
		}
	}
	if all != nil {
		return all
	}
	groups := n.Hierarchy().Groups()
	for l, level := range n.Hierarchy().Levels() {
		if level.Kind < least || most < level.Kind {
			continue
		}
		group := make([]int, n.Ranks())
		for rank := range group {
			group[rank] = -1
			// A finer group may stand for one of the level that has the same members.
			for g := n.Hierarchy().Smallest(rank); groups[g].Level <= l; g = groups[g].Parent {
				group[rank] = g
			}
		}
		all = append(all, group)
	}
	return all
}

// accessDomains numbers the groups of cores that slow each other down when
// they use the network at once; nil if none are known. It also tells how many there are on a host. The benchmark
// spreads k processes evenly over the ranks of a host, in the order of model.SideBySide. The first k whose ratio r is above 1.5 gets through as much as
// k/r processes that are alone: so many parts of the host's cores are domains. The greatest k without such a
// ratio would be too many: on two processors, three processes have a ratio of 1.5, for one of them is alone.
func accessDomains(n *model.Network) (domain []int, perHost int) {
	d := n.Settings().Degradation
	if d == nil || n.Hosts() == nil {
		return nil, 0
	}
	for k := 2; k < len(d.Access) && perHost == 0; k++ {
		if r := d.AccessRatio(k); r > significant { // NaN is not
			perHost = max(1, int(math.Round(float64(k)/r)))
		}
	}
	if perHost == 0 {
		return nil, 0
	}
	domain = make([]int, n.Ranks())
	for h, places := range placesOf(n) {
		for i, r := range places {
			domain[r] = h*perHost + i*perHost/len(places)
		}
	}
	return domain, perHost
}
