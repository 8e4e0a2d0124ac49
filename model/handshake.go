package model

import "math"

// A library sends a long message in another way than a short one: it asks the receiver first (rendezvous), and the
// message waits for some latencies of a short message. The times of a level show this as a step. The line of long
// messages goes through the time of the longest and above all shorter ones; a time of no bytes on it would be the
// latency and the handshake. What a message of any size takes beyond the latency and the line's slope is its handshake.
//
// The handshake is made of latencies of short messages. On meshes routes of one level are not equally long. There the handshake
// of a pair is to that of its level as its latency is to that of the level.

const (
	// longSpan is how far apart, as a factor, two sizes are that tell the line of long messages: so noise hardly turns it.
	longSpan = 4
	// mostLatencies bounds a handshake: request and consent, and each once more. A step beyond is a disturbed measurement.
	mostLatencies = 4
)

// perByte is what a further byte of a long message takes in s once the message flows, after latency and handshake. Links
// that the fit finds have this rate. NaN where times of several sizes are not known.
func (p *PLogP) perByte() float64 {
	last := len(p.Sizes) - 1
	if last < 1 {
		return math.NaN()
	}
	more, bytes := p.Gap[last]-p.Gap[0], float64(p.Sizes[last]-p.Sizes[0])
	least := more / bytes
	for k := 1; k < last && longSpan*p.Sizes[k] <= p.Sizes[last]; k++ {
		least = min(least, (p.Gap[last]-p.Gap[k])/float64(p.Sizes[last]-p.Sizes[k]))
	}
	if atLeast := (more - mostLatencies*p.Time(p.Sizes[0])) / bytes; atLeast > least { // false where the latency is not known
		least = atLeast
	}
	return max(0, least)
}

// Handshake is the time in s by which the rendezvous of a message of that size delays it; 0 where times of several
// sizes are not known.
func (p *PLogP) Handshake(bytes int64) float64 { return p.handshakeAt(bytes, p.perByte()) }

// handshakeAt is the handshake of a message in s, given perByte.
func (p *PLogP) handshakeAt(bytes int64, perByte float64) float64 {
	if math.IsNaN(perByte) {
		return 0
	}
	first := p.Sizes[0]
	bytes = max(first, min(bytes, p.Sizes[len(p.Sizes)-1]))
	beyond := p.GapAt(bytes) - p.Gap[0] - perByte*float64(bytes-first)
	if most := mostLatencies * p.Time(first); beyond > most {
		return most
	}
	return math.Max(0, beyond)
}

// RouteShare is the latency of the route between two ranks as a share of the one that is typical of their level; 1 on trees.
func (n *Network) RouteShare(src, dst int) float64 {
	if n.isTree() || n.paths == nil {
		return 1
	}
	route, _ := n.paths.between(src, dst)
	share := route / (n.s.Levels[n.LevelOf(src, dst)].Time(n.s.Measured.Bytes) - n.found.Fit.Overhead)
	if !(share > 0) || math.IsInf(share, 0) {
		return 1
	}
	return share
}
