//go:build linux

package labtest

import (
	"math/bits"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
)

// openMPI is an algorithm of Open MPI 4.1's coll_tuned as a schedule: who sends to whom in
// which order is that of coll_base_topo.c and coll_base_bcast.c, told in our own words. The
// library numbers ranks from the root on.
type openMPI struct {
	name  string
	edges func(ranks int) []schedule.Edge // of ranks numbered from the root on
}

// openMPIAlgorithm returns the algorithm of that name in tunedNames, nil if there is none here.
func openMPIAlgorithm(name string) schedule.Algorithm {
	switch name {
	case "linear":
		return openMPI{name, func(n int) []schedule.Edge { return fanned(n, n) }}
	case "chain":
		return openMPI{name, func(n int) []schedule.Edge { return chains(n, 4) }}
	case "pipeline":
		return openMPI{name, func(n int) []schedule.Edge { return chains(n, 1) }}
	case "binary":
		return openMPI{name, func(n int) []schedule.Edge { return fanned(n, 2) }}
	case "binomial":
		return openMPI{name, binomial}
	case "split-binary":
		return splitBinary{}
	}
	return nil
}

func (a openMPI) Name() string { return a.name }

func (a openMPI) Prepare(p schedule.Problem) schedule.Parts {
	edges := a.edges(p.Ranks)
	for i, e := range edges {
		edges[i] = schedule.Edge{From: (e.From + p.Root) % p.Ranks, To: (e.To + p.Root) % p.Ranks}
	}
	return schedule.NewTree(p.Ranks, edges)
}

// fanned is the tree in which rank r on a level that begins with rank b and has w ranks
// serves r+w, r+2w, ..., fanout of them.
func fanned(n, fanout int) (edges []schedule.Edge) {
	for begin, width := 0, 1; begin < n; begin, width = begin+width, width*fanout {
		for r := begin; r < min(n, begin+width); r++ {
			for k := 1; k <= fanout && r+k*width < n; k++ {
				edges = append(edges, schedule.Edge{From: r, To: r + k*width})
			}
		}
	}
	return edges
}

// chains are as many chains of consecutive ranks, whose lengths differ by one at most, the
// longer ones first.
func chains(n, fanout int) (edges []schedule.Edge) {
	fanout = min(fanout, n-1)
	head := 1
	for c := range fanout {
		length := (n - 1 + fanout - 1 - c) / fanout
		edges = append(edges, schedule.Edge{From: 0, To: head})
		for r := head; r < head+length-1; r++ {
			edges = append(edges, schedule.Edge{From: r, To: r + 1})
		}
		head += length
	}
	return edges
}

// binomial is the tree in which rank r serves r+m, r+2m, r+4m, ..., m the least power of two
// above r, nearest first.
func binomial(n int) (edges []schedule.Edge) {
	for r := range n {
		for m := 1 << bits.Len(uint(r)); r+m < n; m *= 2 {
			edges = append(edges, schedule.Edge{From: r, To: r + m})
		}
	}
	return edges
}

// splitBinary sends the halves of the message down the two subtrees of the binary tree, in
// which odd ranks stand below 1 and even ones below 2. Then neighbours exchange halves:
// 1 and 2, 3 and 4; with an even number of ranks the root sends the second half to the last.
type splitBinary struct{}

func (splitBinary) Name() string { return "split-binary" }

func (s splitBinary) Prepare(schedule.Problem) schedule.Parts { return schedule.Steps(s.ops) }

func (splitBinary) ops(dst []schedule.Op, p schedule.Problem, rank int) []schedule.Op {
	first := (p.Bytes + 1) / 2
	// What Open MPI cannot split it sends down the pipeline.
	if p.Ranks < 3 || p.Bytes < 2 || p.Segment > first || p.Segment == 0 {
		return openMPIAlgorithm("pipeline").Prepare(p).Of(rank).Ops(dst, p)
	}
	real := func(r int) int { return (r + p.Root) % p.Ranks }
	own := (rank - p.Root + p.Ranks) % p.Ranks
	halves := [2]struct{ begin, end int }{{0, first}, {first, p.Bytes}}
	var parent int
	var children []int
	for _, e := range fanned(p.Ranks, 2) {
		if e.From == own {
			children = append(children, e.To)
		}
		if e.To == own {
			parent = e.From
		}
	}
	half := func(r int) int { return 1 - r%2 } // of the message, of a rank that is not the root
	piece := func(h, i int) (offset, length int) {
		offset = halves[h].begin + i*p.Segment
		return offset, min(p.Segment, halves[h].end-offset)
	}
	for i := 0; i*p.Segment < first; i++ {
		if own > 0 {
			if offset, length := piece(half(own), i); length > 0 {
				dst = append(dst, schedule.Op{Kind: schedule.Recv, Peer: real(parent), Offset: offset, Length: length})
			}
		}
		for _, c := range children {
			if offset, length := piece(half(c), i); length > 0 {
				dst = append(dst, schedule.Op{Kind: schedule.Send, Peer: real(c), Offset: offset, Length: length})
			}
		}
	}
	whole := func(kind schedule.Kind, peer, h int) schedule.Op {
		return schedule.Op{Kind: kind, Peer: real(peer), Offset: halves[h].begin, Length: halves[h].end - halves[h].begin}
	}
	last := p.Ranks - 1
	switch {
	case own == 0 && p.Ranks%2 == 0:
		return append(dst, whole(schedule.Send, last, 1))
	case own == 0:
		return dst
	case own == last && p.Ranks%2 == 0:
		return append(dst, whole(schedule.Recv, 0, 1))
	}
	other := own + 1
	if own%2 == 0 {
		other = own - 1
	}
	send, receive := halves[half(own)], halves[half(other)]
	return append(dst,
		schedule.Op{Kind: schedule.Send, Exchange: true, Peer: real(other), Offset: send.begin, Length: send.end - send.begin},
		schedule.Op{Kind: schedule.Recv, Peer: real(other), Offset: receive.begin, Length: receive.end - receive.begin})
}

// TestOpenMPISchedules: what is told here of Open MPI's algorithms brings every byte to every
// rank, whatever the numbers.
func TestOpenMPISchedules(t *testing.T) {
	for _, name := range tunedNames {
		a := openMPIAlgorithm(name)
		if a == nil {
			continue
		}
		for ranks := 1; ranks <= 13; ranks++ {
			for _, p := range []schedule.Problem{{Bytes: 1}, {Bytes: 1000}, {Bytes: 1000, Segment: 64}, {Bytes: 1001, Segment: 300}, {Bytes: 1001, Segment: 501}} {
				p.Ranks, p.Root = ranks, ranks/3
				if err := schedule.Check(a, p); err != nil {
					t.Errorf("%s: %+v: %v", name, p, err)
				}
			}
		}
	}
}

// TestOpenMPITrees: parents by hand of the loops of coll_base_topo.c, for 12 ranks and root 0.
func TestOpenMPITrees(t *testing.T) {
	for name, want := range map[string][]int{
		"linear":   {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"pipeline": {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		// Four chains: eleven others make three of three and one of two.
		"chain":    {-1, 0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10},
		"binary":   {-1, 0, 0, 1, 2, 1, 2, 3, 4, 5, 6, 3},
		"binomial": {-1, 0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3},
	} {
		tree := openMPIAlgorithm(name).Prepare(schedule.Problem{Ranks: 12}).(*schedule.Tree)
		for r, parent := range want {
			if got := tree.Links(r).Parent; got != parent {
				t.Errorf("%s: parent of rank %d = %d, want %d", name, r, got, parent)
			}
		}
	}
}
