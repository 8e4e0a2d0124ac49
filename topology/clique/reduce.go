package clique

import (
	"errors"

	"github.com/topocast/topocast/topology"
)

// ErrUnfinished is what Reduce returns if the search was cut short, at its limit or at too many switches. The graph
// that was given may do in place of a reduced one.
var ErrUnfinished = errors.New("clique: reduce: the search for switches was cut short")

// Reduce is Bufe 2014, section 2.2, Algorithms 2 and 3, on a graph that is given, in place of
// readings: cliques of links of equal latency, within the relative tolerance, become
// switches, and links that these explain go. The vertices of g, of whatever kind, are the hosts of the
// reduced graph. Both directions of a link have the latency of that from the lower number.
//
// The search for switches is bounded by a number of cells and words looked at, limit; work is how many
// were. The error is ErrUnfinished if it was not completed, within that or for another reason.
func Reduce(g *topology.Graph, relative float64, limit int64) (reduced *topology.Graph, work int64, err error) {
	m := &cliqueModel{hosts: g.Vertices(), equal: roughly{relative: relative}, pairs: true, left: limit}
	for range g.Vertices() {
		m.grow()
	}
	for _, a := range g.Arcs() {
		if a.From < a.To {
			m.set(a.From, a.To, a.Latency)
		}
	}
	m.findSwitches()
	m.dropVirtual(true)
	work = limit - m.left
	if m.full || m.cut > 0 || m.left <= 0 {
		return nil, work, ErrUnfinished
	}
	reduced, err = m.graph()
	return reduced, work, err
}
