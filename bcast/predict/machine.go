package predict

import (
	"math"

	"github.com/topocast/topocast/model"
)

// newMachine takes from a network what predictions need.
func newMachine(n *model.Network) machine {
	m := machine{ranks: n.Ranks(), tree: n.Hierarchy()}
	least, most := math.Inf(1), 0.0
	for _, l := range n.Levels() {
		if t := l.Time(0); t > 0 { // false for NaN
			least, most = min(least, t), max(most, t)
		}
	}
	if most == 0 {
		least, most = guessLatency, guessLatency
	}
	// Overheads belong to the hosts, not to the link between them: those of the
	// finest level that has them, or a part of the shortest latency each.
	m.send, m.recv = least/guessOverhead, least/guessOverhead
	for _, l := range n.Levels() {
		if len(l.Send) > 0 && len(l.Recv) > 0 {
			m.send, m.recv = l.Send[0], l.Recv[0]
			break
		}
	}
	m.transfers = &guess{network: n, latency: most}
	if m.bias = n.Settings().RTTBias; m.bias == 0 {
		m.bias = guessBias
	}
	m.near, m.turns = least, true
	m.paths = newGraphPaths(n)
	return m
}

// What is taken where nothing was measured. Guesses rank the algorithms; what was measured, or a trial, decides.
const (
	guessOverhead = 3     // parts of a latency, as long as one: sending, the path, receiving
	guessLatency  = 1e-6  // s; a shared memory, or a fast network
	guessBytes    = 8192  // bytes that take as long as the latency: 2 to 30 KiB from shared memory to Ethernet
	guessPerByte  = 1e-10 // s per byte, at least: one core copies 10 GB/s at best
	guessBias     = 0.25  // of round trips: TCP has 0.5 to 2 and what paces itself 0; enough to prefer a chain where trees hardly win
)

// guess fills the gaps of a network. Unmeasured pairs are taken to be far.
type guess struct {
	network *model.Network // nil: nothing is known
	latency float64        // s, of pairs that were not measured
	used    bool           // a gap was filled since somebody cleared this
}

func (g *guess) Time(src, dst int, bytes int64) float64 {
	latency := g.latency
	if g.network != nil {
		if t := g.network.Time(src, dst, bytes); t >= 0 {
			return t
		}
		if t := g.network.Time(src, dst, 0); t >= 0 {
			latency = t
		}
	}
	g.used = true
	return latency + float64(bytes)*max(latency/guessBytes, guessPerByte)
}
