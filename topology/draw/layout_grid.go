package draw

import (
	"cmp"
	"math"
	"slices"
)

// A grid finds the vertices that are less than 1 apart: those in cells of side 1 that touch.
type grid struct {
	cell  [][3]int // of each vertex
	order []int    // vertices by cell
	start map[[3]int]int
}

func newGrid(n int) *grid {
	return &grid{cell: make([][3]int, n), order: make([]int, n), start: make(map[[3]int]int, n)}
}

func (g *grid) fill(at [][3]float64) {
	for v, x := range at {
		for axis := range 3 {
			g.cell[v][axis] = int(math.Floor(x[axis]))
		}
		g.order[v] = v
	}
	slices.SortFunc(g.order, func(u, v int) int {
		a, b := g.cell[u], g.cell[v]
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]), u-v)
	})
	clear(g.start)
	for k := len(g.order) - 1; k >= 0; k-- {
		g.start[g.cell[g.order[k]]] = k
	}
}

// near calls f once for each pair of vertices in the same or touching cells, in the order of
// cells and then of numbers.
func (g *grid) near(f func(i, j int)) {
	for k, i := range g.order {
		own := g.cell[i]
		for x := 0; x <= 1; x++ {
			for y := -1; y <= 1; y++ {
				for z := -1; z <= 1; z++ {
					if x == 0 && (y < 0 || y == 0 && z < 0) {
						continue // the other one has seen this pair
					}
					cell := [3]int{own[0] + x, own[1] + y, own[2] + z}
					first, ok := g.start[cell]
					if !ok {
						continue
					}
					if cell == own {
						first = k + 1
					}
					for ; first < len(g.order) && g.cell[g.order[first]] == cell; first++ {
						f(i, g.order[first])
					}
				}
			}
		}
	}
}
