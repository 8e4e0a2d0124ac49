package clique

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A cliqueModel is the growing graph: hosts, then switches, dense.
type cliqueModel struct {
	hosts int
	w     [][]float64 // latencies of edges, +Inf where there is none
	dead  []bool      // switches that were merged into others
	equal roughly
	pairs bool  // cliques of two count
	cut   int   // clique searches that were ended early
	full  bool  // stopped at the greatest number of switches
	left  int64 // work that the search may still do: cells and words, see cliqueWork
}

// searchLimit bounds the steps of one clique search, to some ten milliseconds.
const searchLimit = 50000

// cliqueWork bounds the whole search for switches, in cells of matrices and words
// of bit sets looked at, which take a few nanoseconds each: under a minute. Where
// levels are clear 512 hosts in three levels need 0.6 % of it, 1024 in pairs 27 %; with
// noise beyond the tolerance 256 hosts need 5 %, and 1024 are cut short.
const cliqueWork int64 = 1 << 33

func (m *cliqueModel) isSwitch(v int) bool { return v >= m.hosts }

func (m *cliqueModel) edge(u, v int) bool { return !math.IsInf(m.w[u][v], 1) }

func (m *cliqueModel) set(u, v int, latency float64) {
	m.w[u][v], m.w[v][u] = latency, latency
}

// A latencyLevel is a group of latencies: from lo to hi, around mid.
type latencyLevel struct{ lo, mid, hi float64 }

// levels groups the latencies of all edges, ascending.
func (m *cliqueModel) levels() []latencyLevel {
	m.left -= int64(len(m.w) * len(m.w))
	var all []float64
	for u := range m.w {
		all = append(all, m.w[u][:u]...)
	}
	var levels []latencyLevel
	for _, g := range m.equal.groups(stats.SortedFinite(all)) {
		levels = append(levels, latencyLevel{g[0], g[(len(g)-1)/2], g[len(g)-1]})
	}
	return levels
}

func (m *cliqueModel) in(level latencyLevel, latency float64) bool {
	return latency >= level.lo && latency <= level.hi && m.equal.equal(latency, level.mid)
}

// graph is the machine as found. Of merged switches the numbers are given to those that follow.
func (m *cliqueModel) graph() (*topology.Graph, error) {
	number, count := make([]int, len(m.w)), 0
	for v := range m.w {
		number[v] = count
		if !m.dead[v] {
			count++
		}
	}
	var arcs []topology.Arc
	for u := range m.w {
		for v := range u {
			if m.edge(u, v) {
				arcs = topology.AppendLink(arcs, number[v], number[u], m.w[u][v], math.NaN())
			}
		}
	}
	return topology.NewGraph(m.hosts, count-m.hosts, nil, arcs)
}

func (m *cliqueModel) warnings() []string {
	var w []string
	if m.cut > 0 {
		w = append(w, fmt.Sprintf("%d clique searches were ended after %d steps: larger cliques may exist", m.cut, searchLimit))
	}
	if m.left <= 0 {
		w = append(w, fmt.Sprintf("the search for switches was ended after %d steps, at %d switches: more may exist", cliqueWork, len(m.w)-m.hosts))
	}
	if m.full {
		w = append(w, fmt.Sprintf("the search stopped at %d switches for %d hosts: the measurements do not fit the tolerance", len(m.w)-m.hosts, m.hosts))
	}
	return w
}
