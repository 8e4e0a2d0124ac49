// Package casttest holds what the tests of bcast and its rooms share: nested
// groups of ranks, networks of them, and schedules written by hand.
package casttest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// RandomTree nests the ranks at random in up to three levels.
func RandomTree(rng *rand.Rand, ranks int) *topology.Hierarchy {
	var levels []topology.Level
	var groups []topology.Group
	parts := [][]int{rng.Perm(ranks)}
	for depth := range rng.IntN(4) {
		level := 2 - depth
		var finer [][]int
		for _, part := range parts {
			for len(part) > 0 {
				n := min(len(part), 1+rng.IntN(max(1, ranks>>depth/2)))
				if n >= 2 && n < ranks {
					groups = append(groups, topology.Group{Hosts: part[:n], Level: level, Confidence: 1})
					finer = append(finer, part[:n])
				}
				part = part[n:]
			}
		}
		parts = finer
	}
	levels = make([]topology.Level, 3)
	h, err := topology.NewHierarchy(ranks, levels, groups, 1e-6)
	if err != nil {
		panic(err)
	}
	return h
}

// RegularTree nests ranks in blocks: {4, 2} makes groups of 4, and of 2 of those.
func RegularTree(t testing.TB, ranks int, factors ...int) *topology.Hierarchy {
	t.Helper()
	var levels []topology.Level
	var groups []topology.Group
	size, latency := 1, 1e-6
	for level, f := range factors {
		size *= f
		levels = append(levels, topology.Level{Latency: latency})
		for at := 0; at < ranks; at += size {
			hosts := make([]int, 0, size)
			for x := at; x < min(ranks, at+size); x++ {
				hosts = append(hosts, x)
			}
			if len(hosts) > 1 && len(hosts) < ranks {
				groups = append(groups, topology.Group{Hosts: hosts, Level: level, Latency: latency, Confidence: 1})
			}
		}
		latency *= 10
	}
	h, err := topology.NewHierarchy(ranks, levels, groups, latency)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Algorithms returns all algorithms with all settings that matter.
func Algorithms() []schedule.Algorithm {
	all := append(schedule.Algorithms(), classic.Algorithms()...)
	for _, outer := range []schedule.Shape{schedule.ShapeBinomial, schedule.ShapeFlat, schedule.ShapeChain} {
		for _, inner := range []schedule.Shape{schedule.ShapeBinomial, schedule.ShapeFlat, schedule.ShapeChain} {
			all = append(all, schedule.MultiLevel{Shapes: []schedule.Shape{outer, inner}})
		}
	}
	all = append(all, schedule.Leaders{Level: 1, Between: schedule.Binomial{}},
		schedule.Magpie2{Level: 1, Within: schedule.Leaders{}})
	return append(
		all, schedule.KChain{Chains: 4}, schedule.KNomial{Radix: 2}, schedule.KNomial{Radix: 3},
	)
}

// NetworkOf is a network with the hierarchy's latencies, and bandwidths that
// fall from 10 GB/s by a factor of 5 per level.
func NetworkOf(t testing.TB, h *topology.Hierarchy) *model.Network {
	t.Helper()
	return NetworkAt(t, h, nil)
}

// NetworkAt is NetworkOf with the ranks at the given places.
func NetworkAt(t testing.TB, h *topology.Hierarchy, at []model.Location) *model.Network {
	t.Helper()
	g, err := topology.NewGraph(h.Hosts(), 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	bandwidth, b := make([]float64, len(h.Levels())+1), 10e9
	for i := range bandwidth {
		bandwidth[i] = b
		b /= 5
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{LevelBandwidth: bandwidth, Locations: at})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A Script is an Algorithm that does as it is told.
type Script [][]schedule.Op

func (Script) Name() string { return "script" }
func (s Script) Prepare(schedule.Problem) schedule.Parts {
	return schedule.Steps(func(dst []schedule.Op, _ schedule.Problem, rank int) []schedule.Op { return append(dst, s[rank]...) })
}

// Near tells whether two values differ by at most the tolerance, relative to the larger.
func Near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// Send is the step that sends [offset, offset+length) to the peer.
func Send(peer, offset, length int) schedule.Op {
	return schedule.Op{Kind: schedule.Send, Peer: peer, Offset: offset, Length: length}
}

// Exchange is Send at the same time as the next step, a Recv.
func Exchange(peer, offset, length int) schedule.Op {
	return schedule.Op{Kind: schedule.Send, Exchange: true, Peer: peer, Offset: offset, Length: length}
}

// Recv is the step that receives [offset, offset+length) from the peer.
func Recv(peer, offset, length int) schedule.Op {
	return schedule.Op{Kind: schedule.Recv, Peer: peer, Offset: offset, Length: length}
}
