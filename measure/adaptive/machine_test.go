package adaptive

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/topology"
)

// A machine has nested groups of hosts, and answers in O(levels).
type machine struct {
	n       int
	group   [][]int32 // per level, fine to coarse: the group of each host
	latency []float64 // s, per level and between the coarsest
	offset  []float64 // s, of each host; nil: none
	factor  []float64 // of all latencies of a host; nil: 1
}

func (m *machine) at(i, j int32) float64 {
	d := m.latency[len(m.latency)-1]
	for k, g := range m.group {
		if g[i] == g[j] {
			d = m.latency[k]
			break
		}
	}
	if m.offset != nil {
		d += m.offset[i] + m.offset[j]
	}
	if m.factor != nil {
		d *= m.factor[i] * m.factor[j]
	}
	return d
}

// sets are the groups of two hosts and more, each once, as sorted texts.
func (m *machine) sets() []string {
	var all []string
	for _, g := range m.group {
		of := map[int32][]int{}
		for h, k := range g {
			of[k] = append(of[k], h)
		}
		for _, hosts := range of {
			if len(hosts) > 1 && len(hosts) < m.n {
				all = append(all, fmt.Sprint(hosts))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// randomMachine has 2 to 4 levels of latencies, each a factor from lo to lo+0.6 above the
// one below, n hosts in unequal groups, leaf groups of 3 hosts and more, in random order.
func randomMachine(rng *rand.Rand, n int, lo float64) *machine {
	levels := 2 + rng.IntN(3)
	for n < 3<<(levels-1) {
		levels--
	}
	m := &machine{n: n, latency: []float64{10e-6}}
	for range levels - 1 {
		m.latency = append(m.latency, m.latency[len(m.latency)-1]*(lo+0.6*rng.Float64()))
		m.group = append(m.group, make([]int32, n))
	}
	place := rng.Perm(n)
	next := make([]int32, levels)
	var fill func(hosts []int, depth int)
	fill = func(hosts []int, depth int) {
		if depth < levels-1 {
			for _, h := range hosts {
				m.group[depth][h] = next[depth]
			}
			next[depth]++
		}
		if depth == 0 {
			return
		}
		least := 3 << (depth - 1)
		children := 2
		if most := min(len(hosts)/least, 16); most > 2 {
			children += rng.IntN(most - 1)
		}
		rest := len(hosts) - children*least
		cuts := []int{0, rest}
		for range children - 1 {
			cuts = append(cuts, rng.IntN(rest+1))
		}
		slices.Sort(cuts)
		for k := range children {
			size := least + cuts[k+1] - cuts[k]
			fill(hosts[:size], depth-1)
			hosts = hosts[size:]
		}
	}
	fill(place, levels-1)
	return m
}

// noise is how measurements differ from the truth.
type noise struct {
	sigma, outliers float64
	slowRounds      float64
	tick            float64
}

// A reader is an Oracle of a machine.
type reader struct {
	machine *machine
	noise   noise
	rng     *rand.Rand
	calls   int
	stop    int // calls after which time is up; 0: never
	bad     error
}

func (r *reader) read(dst []float64, pairs []pair) error {
	// The contract: no host twice, no pair of one host.
	used := make(map[int32]bool, 2*len(pairs))
	for _, p := range pairs {
		if used[p[0]] || used[p[1]] || p[0] == p[1] {
			r.bad = fmt.Errorf("round %d: pair %v of busy hosts", r.calls, p)
		}
		used[p[0]], used[p[1]] = true, true
	}
	r.calls++
	if r.stop > 0 && r.calls > r.stop {
		return fmt.Errorf("enough: %w", ErrStop)
	}
	slow := 1.0
	if r.rng.Float64() < r.noise.slowRounds {
		slow = 1.2 + 0.8*r.rng.Float64()
	}
	for k, p := range pairs {
		d := r.machine.at(p[0], p[1]) * slow
		d *= min(max(1+r.noise.sigma*r.rng.NormFloat64(), 0.5), 1.5)
		if r.rng.Float64() < r.noise.outliers {
			d *= 1.5 + 8.5*r.rng.Float64()
		}
		if r.noise.tick > 0 {
			d = math.Round(d/r.noise.tick) * r.noise.tick
		}
		dst[k] = d
	}
	return nil
}

// wiring is a machine of cells of leaf switches with so many hosts each, under one top switch, with the
// latencies of linkage's tests: steps of 45 and 38 %. A share of the hosts is kept, drawn at random.
func wiring(rng *rand.Rand, cells [][]int, share float64) *machine {
	var leaf, cell []int32
	leaves := int32(0)
	for c, sizes := range cells {
		for _, size := range sizes {
			for range size {
				if rng.Float64() < share {
					leaf, cell = append(leaf, leaves), append(cell, int32(c))
				}
			}
			leaves++
		}
	}
	m := &machine{n: len(leaf), latency: []float64{1.1e-6, 1.6e-6, 2.2e-6}, group: [][]int32{make([]int32, len(leaf)), make([]int32, len(leaf))}}
	for h, p := range rng.Perm(m.n) {
		m.group[0][h], m.group[1][h] = leaf[p], cell[p]
	}
	return m
}

// fragment is a share of a machine's hosts, and the order in which its site counts them: leaf by leaf.
func fragment(rng *rand.Rand, cells [][]int, share float64) (m *machine, order []int) {
	m = wiring(rng, cells, share)
	hosts := rng.Perm(m.n)
	slices.SortStableFunc(hosts, func(a, b int) int { return int(m.group[0][a] - m.group[0][b]) })
	order = make([]int, m.n)
	for k, h := range hosts {
		order[h] = k
	}
	return m, order
}

// madeUp is a machine in the shape of whole ones, of the given number of cells: leaves of 2 to 40 hosts.
func madeUp(rng *rand.Rand, cells int) [][]int {
	kinds := [][]int{
		slices.Repeat([]int{10}, 18),
		slices.Concat(slices.Repeat([]int{8}, 4), slices.Repeat([]int{40}, 3), []int{2, 6, 10}),
		{38, 38, 38, 40, 40, 40},
		append(slices.Repeat([]int{16}, 15), 12),
		{16, 16, 4},
	}
	var all [][]int
	for range cells {
		all = append(all, kinds[rng.IntN(len(kinds))])
	}
	return all
}

// whole are the wirings of two whole machines, where they lie beside the module.
func whole(t testing.TB) map[string][][]int {
	all := make(map[string][][]int)
	dir, ok := published.Beside()
	if !ok {
		return all
	}
	for _, name := range []string{"leonardo", "jupiter"} {
		text, err := os.ReadFile(filepath.Join(dir, "wirings", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var w struct{ Cells [][]int }
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = w.Cells
	}
	return all
}

// groupsOf lists the groups below the root as sorted texts: all, or the confident ones.
func groupsOf(h *topology.Hierarchy, confident bool) []string {
	var all []string
	for _, g := range h.Groups()[1:] {
		if g.Confident() || !confident {
			all = append(all, fmt.Sprint(g.Hosts))
		}
	}
	slices.Sort(all)
	return all
}

// differ counts the groups that are missing, and those that do not exist.
func differ(want, got []string) (missing, extra int) {
	for _, w := range want {
		if _, ok := slices.BinarySearch(got, w); !ok {
			missing++
		}
	}
	for _, g := range got {
		if _, ok := slices.BinarySearch(want, g); !ok {
			extra++
		}
	}
	return missing, extra
}

// certificate is the share of all pairs that proves the groups: every two siblings were compared, and every host with
// one of its group.
func (m *machine) certificate() float64 {
	type kid struct{ level, group int32 }
	children := make(map[kid]map[kid]bool)
	for h := range m.n {
		at := kid{-1, int32(h)}
		for k := range len(m.group) + 1 {
			up := kid{int32(k), 0}
			if k < len(m.group) {
				up.group = m.group[k][h]
			}
			if children[up] == nil {
				children[up] = make(map[kid]bool)
			}
			children[up][at] = true
			at = up
		}
	}
	pairs := 0.0
	for up, of := range children {
		c := float64(len(of))
		if up.level == 0 {
			pairs += c - 1
		} else {
			pairs += c * (c - 1) / 2
		}
	}
	return pairs / (float64(m.n) * float64(m.n-1) / 2)
}

// unequal gives the hosts links of their own: of up to so large a share of half the lowest latency more or less, as
// gen.Noise.Spread.
func (m *machine) unequal(rng *rand.Rand, share float64) {
	m.offset = make([]float64, m.n)
	for h := range m.offset {
		m.offset[h] = (2*rng.Float64() - 1) * share * m.latency[0] / 2
	}
}

// slow makes some hosts slow to all by a factor.
func (m *machine) slow(rng *rand.Rand, hosts int, factor float64) {
	m.factor = slices.Repeat([]float64{1}, m.n)
	for _, h := range rng.Perm(m.n)[:hosts] {
		m.factor[h] = factor
	}
}
