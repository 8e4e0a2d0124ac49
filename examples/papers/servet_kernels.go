package main

import (
	"math/bits"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
)

// A nasClass is a size of the NAS parallel benchmarks (NPB 3: npbparams.h and the setup of each benchmark).
type nasClass struct {
	name   string
	keys   int // of IS
	order  int // of CG's matrix
	filled int // numbers in a row of it
	grid   int // side of MG's
}

func nasClasses() []nasClass {
	return []nasClass{
		{"W", 1 << 20, 7000, 8, 128},
		{"A", 1 << 23, 14000, 11, 256},
		{"B", 1 << 25, 75000, 13, 256},
		{"C", 1 << 27, 150000, 15, 512},
	}
}

func nasClassOf(name string) (nasClass, error) {
	var names []string
	for _, c := range nasClasses() {
		if strings.EqualFold(c.name, name) {
			return c, nil
		}
		names = append(names, c.name)
	}
	return nasClass{}, cli.BadInput("--class %q: want %s", name, words.Or(names))
}

// A kernel is the communication of one iteration of a benchmark, on a power of two of ranks.
type kernel struct {
	name         string
	greatestGain float64 // by Servet's rules, of its MPI form: section 6.2
	operations   float64 // of all ranks, in one iteration
	rounds       func(ranks int) []kernelRound
}

// A kernelRound is computation of all ranks and then messages between them, all started at once. A rank goes on when
// its own are over.
type kernelRound struct {
	seconds   float64
	transfers []model.Transfer
}

// kernels are those that the paper shows.
func (c nasClass) kernels() []kernel {
	return []kernel{c.cg(200e6), c.is(25e6), c.mg(500e6)} // operations per second of one core: assumed
}

// exchange is a round in which each rank sends to the one that partner names.
func exchange(ranks int, bytes int64, partner func(rank int) int) kernelRound {
	var r kernelRound
	for rank := range ranks {
		if to := partner(rank); to != rank {
			r.transfers = append(r.transfers, model.Transfer{Src: rank, Dst: to, Bytes: max(1, bytes)})
		}
	}
	return r
}

// cg is one inner iteration of CG: the product of a matrix and a vector, spread over a grid of ranks. The parts of
// the product are added along rows by recursive doubling and go to the transposed place; two sums follow.
func (c nasClass) cg(perSecond float64) kernel {
	k := kernel{name: "CG", greatestGain: 2, operations: 2 * float64(c.order) * float64(5+c.filled*(c.filled+1))}
	k.rounds = func(ranks int) []kernelRound {
		log := bits.Len(uint(ranks)) - 1
		rows := 1 << (log / 2)
		columns := ranks / rows
		part := int64(c.order/rows) * 8
		rounds := []kernelRound{{seconds: k.operations / perSecond / float64(ranks)}}
		alongRows := func(bytes int64) {
			for step := 1; step < columns; step *= 2 {
				rounds = append(rounds, exchange(ranks, bytes, func(rank int) int { return rank ^ step }))
			}
		}
		alongRows(part)
		rounds = append(rounds, exchange(ranks, int64(c.order/columns)*8, func(rank int) int {
			if rows == columns {
				return rank%rows*rows + rank/rows
			}
			half := rank / 2
			return 2*(half%rows*rows+half/rows) + rank%2
		}))
		alongRows(8)
		alongRows(8)
		return rounds
	}
	return k
}

// is is one iteration of IS: sizes of buckets are added up, and all ranks send each other their keys, in pairs.
func (c nasClass) is(perSecond float64) kernel {
	k := kernel{name: "IS", greatestGain: 16, operations: float64(c.keys)}
	k.rounds = func(ranks int) []kernelRound {
		rounds := []kernelRound{{seconds: k.operations / perSecond / float64(ranks)}}
		const buckets = 1024 * 4
		for step := 1; step < ranks; step *= 2 {
			rounds = append(rounds, exchange(ranks, buckets, func(rank int) int { return rank ^ step }))
		}
		for step := 1; step < ranks; step++ {
			rounds = append(rounds, exchange(ranks, 4*int64(c.keys)/int64(ranks)/int64(ranks), func(rank int) int { return rank ^ step }))
		}
		return rounds
	}
	return k
}

// mg is one cycle of MG. On each of the grids, from fine to coarse, ranks exchange the faces of their blocks four times
// with their neighbours in a torus of ranks.
func (c nasClass) mg(perSecond float64) kernel {
	k := kernel{name: "MG", greatestGain: 3, operations: 58 * float64(c.grid) * float64(c.grid) * float64(c.grid)}
	k.rounds = func(ranks int) []kernelRound {
		log := bits.Len(uint(ranks)) - 1
		side := [3]int{1 << ((log + 2) / 3), 1 << ((log + 1) / 3), 1 << (log / 3)}
		stride := [3]int{1, side[0], side[0] * side[1]}
		var rounds []kernelRound
		work := k.operations / perSecond / float64(ranks) * 7 / 8
		for grid := c.grid; grid >= 2; grid, work = grid/2, work/8 {
			for range 4 {
				rounds = append(rounds, kernelRound{seconds: work / 4})
				for d := range 3 {
					if side[d] == 1 {
						continue
					}
					face := int64(8)
					for other := range 3 {
						if other != d {
							face *= int64(max(1, grid/side[other]))
						}
					}
					move := func(by int) func(int) int {
						return func(rank int) int {
							at := rank / stride[d] % side[d]
							return rank + ((at+by+side[d])%side[d]-at)*stride[d]
						}
					}
					round := exchange(ranks, face, move(1))
					round.transfers = append(round.transfers, exchange(ranks, face, move(-1)).transfers...)
					rounds = append(rounds, round)
				}
			}
		}
		return rounds
	}
	return k
}
