package topology

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/topocast/topocast/internal/paths"
)

// Routes are the fixed routes between the hosts of a graph: the shortest by
// latency, of those the ones with the fewest hops, of those as RouteChoice
// says. Latencies that are not known count as 0. Routes may lead through hosts
// where hosts are wired to each other.
//
// Routes are worked out when first asked for and kept in little memory: hosts
// and switches on hanging trees take O(1) each, so a tree takes O(vertices) in
// all. For the rest of c vertices a destination takes O(c log c) time once and
// 2c bytes. With ChooseModulo and ChooseHashed it takes 4c bytes, and 2 per way
// on. Concurrent use is safe.
type Routes struct {
	g      *Graph
	choice RouteChoice

	// Hanging trees: vertices are taken off while they have one neighbour.
	// What remains are core vertices, at least one per connected part.
	up, down []int32 // arcs to and from the vertex one step nearer to the core; -1 for core vertices
	parent   []int32 // that vertex
	depth    []int32 // steps to the core
	core     []int32 // vertex -> number among core vertices, -1 for others
	coreIDs  []int32 // the reverse
	coreOut  [][]coreArc
	coreIn   [][]paths.Arc                // reversed
	tables   []atomic.Pointer[routeTable] // per core destination
}

// A coreArc leads from one core vertex to another.
type coreArc struct {
	arc     int32
	to      int32 // core number of the other end
	latency float64
}

// A routeTable says how each core vertex goes on towards one destination.
// Ways count the core arcs that leave a vertex.
type routeTable struct {
	next  []uint16 // with ChooseLowest: the way; else nil
	start []uint32 // else ways[start[v]:start[v+1]] are equally short, ascending
	ways  []uint16
}

const noWay = math.MaxUint16

// NewRoutes prepares the routes of g. O(vertices + arcs).
func NewRoutes(g *Graph, choice RouteChoice) (*Routes, error) {
	if choice < ChooseLowest || choice > ChooseHashed {
		return nil, fmt.Errorf("topology: routes: choice %d: want %d to %d", choice, ChooseLowest, ChooseHashed)
	}
	n := g.Vertices()
	if n > math.MaxInt32 || g.NumArcs() > math.MaxInt32 {
		return nil, fmt.Errorf("topology: routes: %d vertices, %d arcs: want below 2^31", n, g.NumArcs())
	}
	r := &Routes{g: g, choice: choice}
	r.up, r.down, r.parent = filled(n, -1), filled(n, -1), filled(n, -1)
	r.depth, r.core = make([]int32, n), filled(n, -1)
	taken := r.takeOffTrees()

	for v := range n {
		if !taken[v] {
			r.core[v] = int32(len(r.coreIDs))
			r.coreIDs = append(r.coreIDs, int32(v))
		}
	}
	r.coreOut, r.coreIn = make([][]coreArc, len(r.coreIDs)), make([][]paths.Arc, len(r.coreIDs))
	for i, a := range g.Arcs() {
		u, v := r.core[a.From], r.core[a.To]
		if u < 0 || v < 0 {
			continue
		}
		r.coreOut[u] = append(r.coreOut[u], coreArc{int32(i), v, lengthOf(a)})
		r.coreIn[v] = append(r.coreIn[v], paths.Arc{To: u, Length: lengthOf(a)})
		if len(r.coreOut[u]) == noWay {
			return nil, fmt.Errorf("topology: routes: vertex %s: %d links and more: want fewer than %d", g.Name(a.From), noWay, noWay)
		}
	}
	r.tables = make([]atomic.Pointer[routeTable], len(r.coreIDs))
	return r, nil
}

func filled(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// lengthOf is what an arc counts in the search for short routes.
func lengthOf(a Arc) float64 {
	if math.IsNaN(a.Latency) {
		return 0
	}
	return a.Latency
}

// takeOffTrees fills up, down and depth, and returns which vertices hang on a
// tree. A vertex is taken off when one link alone, with both directions, joins
// it to what remains.
func (r *Routes) takeOffTrees() []bool {
	g, n := r.g, r.g.Vertices()
	outs, ins := make([]int32, n), make([]int32, n) // to and from what remains
	for v := range n {
		outs[v], ins[v] = int32(len(g.Out(v))), int32(g.inStart[v+1]-g.inStart[v])
	}
	taken := make([]bool, n)
	var order []int
	for v := range n {
		if outs[v] == 1 && ins[v] == 1 {
			order = append(order, v)
		}
	}
	for i := 0; i < len(order); i++ {
		v := order[i]
		if outs[v] != 1 || ins[v] != 1 {
			continue // the last of a tree: its neighbour went first
		}
		up := -1
		for k, a := range g.Out(v) {
			if !taken[a.To] {
				up = g.start[v] + k
			}
		}
		parent := g.arcs[up].To
		down := g.ArcIndex(parent, v)
		if down < 0 {
			continue // two one-way arcs to different vertices
		}
		taken[v] = true
		r.up[v], r.down[v], r.parent[v] = int32(up), int32(down), int32(parent)
		outs[parent]--
		ins[parent]--
		if outs[parent] == 1 && ins[parent] == 1 {
			order = append(order, parent)
		}
	}
	// A parent is taken off after its children, so in reverse each vertex
	// finds its parent's depth known.
	for i := len(order) - 1; i >= 0; i-- {
		if v := order[i]; taken[v] {
			r.depth[v] = r.depth[r.parent[v]] + 1
		}
	}
	return taken
}

// Replug returns the routes of a machine in which the only cable of a
// host leads to another vertex. The arcs of the cable keep their numbers. A
// host that has not one cable with both directions stays where it is.
// O(vertices).
func (r *Routes) Replug(host, at int) *Routes {
	moved := *r
	if r.up[host] >= 0 {
		moved.parent, moved.depth = slices.Clone(r.parent), slices.Clone(r.depth)
		moved.parent[host], moved.depth[host] = int32(at), r.depth[at]+1
	}
	return &moved
}

// AppendRoute appends to dst the numbers of the arcs on the route from vertex
// src to vertex to, in order, nothing if they are the same. It allocates only
// to grow dst and for a destination's first route. It is an error if there is
// no route. O(length of the route).
func (r *Routes) AppendRoute(dst []int32, src, to int) ([]int32, error) {
	if n := r.g.Vertices(); src < 0 || src >= n || to < 0 || to >= n {
		return dst, fmt.Errorf("topology: route %d->%d: vertex outside [0, %d)", src, to, n)
	}
	a, b, begin := src, to, len(dst)
	downs := 0
	for a != b && (r.depth[a] > 0 || r.depth[b] > 0) {
		if r.depth[a] >= r.depth[b] {
			dst = append(dst, r.up[a])
			a = int(r.parent[a])
		} else {
			downs++
			b = int(r.parent[b])
		}
	}
	if a != b {
		var ok bool
		if dst, ok = r.appendCore(dst, a, b, src, to); !ok {
			return dst[:begin], fmt.Errorf("topology: route %s->%s: there is none", r.g.Name(src), r.g.Name(to))
		}
	}
	if downs > 0 {
		dst = slices.Grow(dst, downs)[:len(dst)+downs]
		for i, v := len(dst)-1, to; v != b; i, v = i-1, int(r.parent[v]) {
			dst[i] = r.down[v]
		}
	}
	return dst, nil
}

// appendCore appends the route between core vertices a and b, for traffic from
// src to to.
func (r *Routes) appendCore(dst []int32, a, b, src, to int) ([]int32, bool) {
	u, end := r.core[a], r.core[b]
	table := r.tables[end].Load()
	if table == nil {
		table = r.newTable(end)
		r.tables[end].Store(table) // another goroutine's table would be the same
	}
	rest := uint64(to)
	for u != end {
		way := uint16(noWay)
		if table.next != nil {
			way = table.next[u]
		} else if ways := table.ways[table.start[u]:table.start[u+1]]; len(ways) > 0 {
			n, pick := uint64(len(ways)), uint64(0)
			switch {
			case n == 1:
			case r.choice == ChooseModulo:
				rest, pick = rest/n, rest%n
			default:
				pick = mix(mix(uint64(src))^uint64(to)<<32^uint64(u)) % n
			}
			way = ways[pick]
		}
		if way == noWay {
			return dst, false
		}
		next := r.coreOut[u][way]
		dst = append(dst, next.arc)
		u = next.to
	}
	return dst, true
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newTable works out the ways to core vertex end: those on the shortest routes by latency with
// the fewest hops, found along the arcs in reverse.
func (r *Routes) newTable(end int32) *routeTable {
	n := len(r.coreIDs)
	latency, hops := make([]float64, n), make([]int32, n)
	order := paths.From(r.coreIn, int(end), latency, make([]int, 0, n))
	paths.Fewest(r.coreIn, int(end), latency, hops, order[:0])
	t := &routeTable{}
	if r.choice == ChooseLowest {
		t.next = make([]uint16, n)
	} else {
		t.start = make([]uint32, n+1)
	}
	for v := range int32(n) {
		first := uint16(noWay)
		if hops[v] != math.MaxInt32 {
			// Ways ascend with the next vertex, as arcs are sorted.
			for w, out := range r.coreOut[v] {
				if hops[out.to] != hops[v]-1 || !paths.OnShortest(latency[out.to], out.latency, latency[v]) {
					continue
				}
				first = min(first, uint16(w))
				if t.start != nil {
					t.ways = append(t.ways, uint16(w))
				}
			}
		}
		if t.next != nil {
			t.next[v] = first
		} else {
			t.start[v+1] = uint32(len(t.ways))
		}
	}
	t.ways = slices.Clip(t.ways)
	return t
}
