package cut

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// What bounds the search for a cut. Each is effort alone: none makes a cut worse than it says.
const (
	// exactVertices of a core have 16 million sides, which take about a second.
	exactVertices = 24

	// breadthStarts are the breadth-first orders that are refined beside the Fiedler vector's two.
	breadthStarts = 8

	// fiedlerSteps of power iteration: the vector has to give an order to start from,
	// not an eigenvalue.
	fiedlerSteps = 500

	// cutRounding is the share by which a cut must be better: sums of the rates of
	// thousands of links round by less, and ties are to go to the lowest vertex.
	cutRounding = 1e-12
)

// flipGain is how much less is cut when x changes sides.
func (c *core) flipGain(side []bool, x int) float64 {
	gain := 0.0
	for i, y := range c.next[x] {
		if side[x] != side[y] {
			gain += c.rate[x][i]
		} else {
			gain -= c.rate[x][i]
		}
	}
	return gain
}

// tryAll walks through all sides in Gray code order, one flip at a time. The
// leaves to move cost at least the slowest link each, which rules out most.
func (c *core) tryAll() []bool {
	k := len(c.vertices)
	side, best := make([]bool, k), make([]bool, k)
	count, cut := 0, 0.0
	least, _ := c.even(side, count)
	for step := uint64(1); step < 1<<k; step++ {
		x := bits.TrailingZeros64(step)
		cut -= c.flipGain(side, x)
		side[x] = !side[x]
		if side[x] {
			count += c.hosts[x]
		} else {
			count -= c.hosts[x]
		}
		excess := math.Abs(float64(count - c.half))
		if cut >= least || excess > 0 && cut+excess*c.least >= least {
			continue
		}
		if cost, _ := c.even(side, count); cut+cost < least {
			least = cut + cost
			copy(best, side)
		}
	}
	return best
}

// search refines several starts and keeps the best: the order of the Fiedler
// vector, and breadth-first orders from a few vertices, cut at half of the hosts.
func (c *core) search() []bool {
	k := len(c.vertices)
	var best []bool
	least := math.Inf(1)
	try := func(order []int) {
		side := make([]bool, k)
		count := 0
		for _, x := range order {
			if count+c.hosts[x] > c.half {
				continue
			}
			side[x] = true
			count += c.hosts[x]
		}
		start := slices.Clone(side)
		cost := c.refine(side)
		if math.IsInf(cost, 1) { // too few leaves are left to even the numbers; the start has enough
			rest, _ := c.even(start, count)
			cut, _ := c.weigh(start)
			side, cost = start, cut+rest
		}
		if cost < least {
			best, least = side, cost
		}
	}
	fiedler := c.fiedler()
	order := make([]int, k)
	for x := range order {
		order[x] = x
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(fiedler[x], fiedler[y]), x-y) })
	try(order)
	slices.Reverse(order)
	try(order)
	rng := rand.New(rand.NewPCG(uint64(k), 5))
	for range breadthStarts {
		try(c.breadthFirst(rng.IntN(k)))
	}
	return best
}

func (c *core) breadthFirst(from int) []int {
	seen := make([]bool, len(c.vertices))
	var order []int
	for range c.vertices {
		if !seen[from] {
			seen[from] = true
			order = append(order, from)
			for at := len(order) - 1; at < len(order); at++ {
				for _, y := range c.next[order[at]] {
					if !seen[y] {
						seen[y] = true
						order = append(order, y)
					}
				}
			}
		}
		from = (from + 1) % len(c.vertices) // other parts
	}
	return order
}

// fiedler approximates the eigenvector of the second smallest eigenvalue of the
// Laplacian by power iteration on its complement.
func (c *core) fiedler() []float64 {
	k := len(c.vertices)
	degree, most := make([]float64, k), 0.0
	for x, rates := range c.rate {
		for _, r := range rates {
			degree[x] += r
		}
		most = max(most, degree[x])
	}
	rng := rand.New(rand.NewPCG(uint64(k), 6))
	v, w := make([]float64, k), make([]float64, k)
	for x := range v {
		v[x] = rng.NormFloat64()
	}
	for range fiedlerSteps {
		mean, norm := 0.0, 0.0
		for _, a := range v {
			mean += a / float64(k)
		}
		for x := range v {
			v[x] -= mean
			norm += v[x] * v[x]
		}
		norm = math.Sqrt(norm)
		if norm == 0 {
			break
		}
		for x := range v {
			w[x] = (2*most - degree[x]) * v[x] / norm
			for i, y := range c.next[x] {
				w[x] += c.rate[x][i] * v[y] / norm
			}
		}
		v, w = w, v
	}
	return v
}

// refine improves the sides by passes in which each vertex changes sides once,
// the best first, and the best state on the way stays. Uneven numbers cost what
// moving leaves costs, or where there are none more than any flip can gain.
func (c *core) refine(side []bool) float64 {
	k := len(side)
	penalty := c.least
	if math.IsInf(penalty, 1) {
		penalty = 0
		for _, rates := range c.rate {
			sum := 0.0
			for _, r := range rates {
				sum += r
			}
			penalty = max(penalty, 2*sum)
		}
	}
	cut, count := c.weigh(side)
	uneven := func(count int) float64 { return penalty * math.Abs(float64(count-c.half)) }
	moved := func(x int) int {
		if side[x] {
			return count - c.hosts[x]
		}
		return count + c.hosts[x]
	}
	gain := make([]float64, k)
	locked := make([]bool, k)
	for {
		for x := range gain {
			gain[x] = c.flipGain(side, x)
			locked[x] = false
		}
		start := cut + uneven(count)
		bestCost, bestLength := start, 0
		var flips []int
		flip := func(x int) {
			cut -= gain[x]
			count = moved(x)
			side[x] = !side[x]
			gain[x] = -gain[x]
			for i, y := range c.next[x] {
				if side[x] == side[y] {
					gain[y] -= 2 * c.rate[x][i]
				} else {
					gain[y] += 2 * c.rate[x][i]
				}
			}
		}
		for len(flips) < k {
			pick, value := -1, math.Inf(1)
			for x := range k {
				if !locked[x] {
					if v := uneven(moved(x)) - gain[x]; v < value-cutRounding*math.Abs(value) || pick < 0 {
						pick, value = x, v
					}
				}
			}
			locked[pick] = true
			flip(pick)
			flips = append(flips, pick)
			if cost := cut + uneven(count); cost < bestCost*(1-cutRounding) {
				bestCost, bestLength = cost, len(flips)
			}
		}
		for i := len(flips) - 1; i >= bestLength; i-- {
			flip(flips[i])
		}
		if bestLength == 0 {
			break
		}
	}
	cost, _ := c.even(side, count)
	return cut + cost
}
