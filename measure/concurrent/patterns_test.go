package concurrent

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// Reference: Zhu 2014, section 7.3: 0.851 s by fair sharing, 1.106 s by the asymmetric
// property, on four hosts of a switch with 940 Mbit/s.
func TestAlltoallvTakesThePapersTimes(t *testing.T) {
	cluster, err := gen.Parse("star:4 rate=940Mbps")
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.FromGraph(cluster.Graph, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	pattern := Alltoallv([4][]int{{2}, {0}, {3}, {1}}, 10e6)
	if len(pattern) != 12 {
		t.Fatalf("%d transfers, want 12", len(pattern))
	}
	for _, c := range []struct {
		s    contention.Sharing
		want float64
	}{{contention.Sharing{}, 0.851}, {contention.Sharing{Coupling: 1}, 1.106}} {
		p, err := n.NewPredictor(&model.PredictSettings{Sharing: &c.s, NoLatency: true})
		if err != nil {
			t.Fatal(err)
		}
		times, err := p.Predict(nil, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Max(times); math.Abs(got-c.want) > 0.0005 {
			t.Errorf("asymmetric %t: %.4f s, want %.3f", c.s.Coupling > 0, got, c.want)
		}
	}
}

// Two ranks of each host are enough for all messages to have two ranks of their own.
func TestAlltoallvOnSeveralRanks(t *testing.T) {
	pattern := Alltoallv([4][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 1)
	seen := make(map[[2]int]bool)
	var sum int64
	for _, x := range pattern {
		if pair := [2]int{min(x.Src, x.Dst), max(x.Src, x.Dst)}; seen[pair] || x.Src%4 == x.Dst%4 {
			t.Errorf("%v: its ranks have another message, or are of one host", x)
		} else {
			seen[pair] = true
		}
		sum += x.Bytes
	}
	if len(pattern) != 12 || sum != 5+10+10+7 {
		t.Errorf("%d messages of %d units, want 12 of 32", len(pattern), sum)
	}
}

// With as many ranks per host as it has transfers no rank has two; with one,
// no pair comes twice, whichever way.
func TestRandomPatternsOnRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	total := 0
	for trial := range 300 {
		const hosts, d = 6, 3
		each := 1 + trial%2*(2*d*hosts-1)
		ranksOf := make([][]int, hosts)
		for rank := range each * hosts {
			ranksOf[rank%hosts] = append(ranksOf[rank%hosts], rank)
		}
		pattern := RandomPattern(r, ranksOf, d, 7)
		seen := make(map[[2]int]int)
		used := make(map[int]int)
		for _, x := range pattern {
			if x.Src%hosts == x.Dst%hosts || x.Bytes != 7 {
				t.Fatalf("transfer %v inside a host", x)
			}
			seen[[2]int{min(x.Src, x.Dst), max(x.Src, x.Dst)}]++
			used[x.Src]++
			used[x.Dst]++
		}
		for pair, n := range seen {
			if n > 1 {
				t.Fatalf("pair %v has %d transfers", pair, n)
			}
		}
		if each > 1 {
			total += len(pattern)
			for rank, n := range used {
				if n > 1 {
					t.Fatalf("rank %d has %d transfers, and others of its host none", rank, n)
				}
			}
		}
	}
	// None is dropped there: 150 patterns of 18 draws of probability 1/2, 1350 +- 26.
	if math.Abs(float64(total)-1350) > 5*26 {
		t.Errorf("%d transfers, want about 1350", total)
	}
	// Two hosts and d = 1: a quarter of the patterns would be empty.
	for range 50 {
		if len(RandomPattern(r, [][]int{{0}, {1}}, 1, 1)) == 0 {
			t.Fatal("an empty pattern")
		}
	}
}

// crossings counts the transfers of a pattern into and out of a set of ranks.
func crossings(pattern []model.Transfer, ranks []int) (in, out int) {
	for _, x := range pattern {
		src, dst := slices.Contains(ranks, x.Src), slices.Contains(ranks, x.Dst)
		switch {
		case dst && !src:
			in++
		case src && !dst:
			out++
		}
	}
	return in, out
}

func TestForDiscover(t *testing.T) {
	cluster, err := gen.Parse("tree:2x4x8")
	if err != nil {
		t.Fatal(err)
	}
	patterns := ForDiscover(cluster.Hierarchy, 1<<20, UsualPatterns, 1)
	if len(patterns) != UsualPatterns {
		t.Fatalf("%d patterns, want %d", len(patterns), UsualPatterns)
	}
	if again := ForDiscover(cluster.Hierarchy, 1<<20, UsualPatterns, 1); !reflect.DeepEqual(again, patterns) {
		t.Error("the same arguments give other patterns")
	}
	// Twice: a rank, a rack and a pod, each first in, then out; before it, all ranks of a
	// group out. A rack's eight ranks make two times three transfers; the pods' 32 make 24.
	next := 0
	patterns = ForDiscover(cluster.Hierarchy, 1<<20, 2*UsualPatterns, 1)
	take := func() []model.Transfer {
		next++
		return patterns[next-1]
	}
	for k := range 6 {
		var all []model.Transfer
		if k%3 > 0 {
			all = take()
			if want := []int{8, 24}[k%3-1]; len(all) != want {
				t.Errorf("pattern %d, all out: %d transfers, want %d", k, len(all), want)
			}
		}
		in, out := take(), take()
		if want := []int{3, 6, 24}[k%3]; len(in) != want || len(out) != want {
			t.Fatalf("pattern %d: %d and %d transfers, want %d", k, len(in), len(out), want)
		}
		level := k%3 - 1 // of the group that is crossed
		var group []int
		if level < 0 {
			for _, x := range in[1:] {
				if x.Dst != in[0].Dst && x.Src != in[0].Dst {
					t.Errorf("pattern %d: %v has more than one rank in common", k, in)
				}
			}
			group = []int{in[0].Dst}
		} else {
			for _, g := range cluster.Hierarchy.GroupsAt(level) {
				if slices.Contains(g.Hosts, in[0].Dst) {
					group = g.Hosts
				}
			}
		}
		if a, b := crossings(in, group); a != 2*len(in)/3 || b != len(in)/3 {
			t.Errorf("pattern %d: %d into the group and %d out of it, want two thirds and one", k, a, b)
		}
		if a, b := crossings(out, group); a != len(out)/3 || b != 2*len(out)/3 {
			t.Errorf("pattern %d, reversed: %d into the group and %d out of it, want one third and two", k, a, b)
		}
		if a, b := crossings(all, group); a != 0 || b != len(all) {
			t.Errorf("pattern %d, all out: %d into the group and %d out of it", k, a, b)
		}
		// Nothing else is in the way: it stays below the next group.
		for _, x := range in {
			common := cluster.Hierarchy.Groups()[cluster.Hierarchy.Common(x.Src, x.Dst)]
			if common.Level != level+1 {
				t.Errorf("pattern %d: %v meets in a group of level %d, want %d", k, x, common.Level, level+1)
			}
		}
		// No link of a rank holds up an uplink: each has as few transfers as can be.
		used := make(map[int]int)
		for _, x := range in {
			used[x.Src]++
			used[x.Dst]++
		}
		for _, x := range all {
			used[-1-x.Src]++
			used[-1-x.Dst]++
		}
		for rank, n := range used {
			if level >= 0 && n > 1 {
				t.Errorf("pattern %d: rank %d has %d transfers, want 1", k, rank, n)
			}
		}
	}
	for k, p := range patterns {
		for _, x := range p {
			if x.Src == x.Dst || x.Bytes != 1<<20 || x.Start != 0 {
				t.Errorf("pattern %d: transfer %v", k, x)
			}
		}
	}
	// Few patterns leave room for random ones.
	few := ForDiscover(cluster.Hierarchy, 1<<20, 4, 1)
	if len(few) != 4 || !reflect.DeepEqual(few[:2], patterns[:2]) || reflect.DeepEqual(few[2], patterns[2]) || len(few[2]) < 10 || len(few[3]) < 10 {
		t.Errorf("of four patterns, want the first two and two random ones: %v", few)
	}
	// Racks of two: the other rank alone is not enough for a link of a rank.
	pairs, err := gen.Parse("tree:4x2")
	if err != nil {
		t.Fatal(err)
	}
	first := ForDiscover(pairs.Hierarchy, 1, 10, 1)[0]
	if first[0].Dst != first[1].Dst || first[2].Src != first[0].Dst || first[0].Src == first[1].Src {
		t.Errorf("racks of two: %v, want two ranks into one", first)
	}
	// A star has links of ranks only.
	flat, err := gen.Parse("star:3")
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range ForDiscover(flat.Hierarchy, 1, 10, 5) {
		if a, b := crossings(p, []int{p[0].Dst}); k == 0 && (a != 2 || b != 1) {
			t.Errorf("star: pattern %v, want two into the first receiver and one out", p)
		}
	}
	two, err := gen.Parse("star:2")
	if err != nil {
		t.Fatal(err)
	}
	if p := ForDiscover(two.Hierarchy, 1, 10, 5); p != nil {
		t.Errorf("two ranks: patterns %v, want none", p)
	}
}
