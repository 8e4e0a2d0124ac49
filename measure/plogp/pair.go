package plogp

import "math"

// A point is what was measured of one size. Times are in s.
type point struct {
	size             int
	trip             float64 // RTT(m): there with m bytes, back with none
	gap              float64 // g(m)
	sending, receipt float64 // os(m), or(m) of messages that the calling rank gets
	steady           bool    // the gap is that of a saturated link, or needs none
}

// exchange measures one size of the messages to a peer, and appends the point. The first rank of the pair measures first. Meanwhile
// the other one mirrors.
func (m *meter) exchange(found []float64, peer int, first bool, size int) ([]float64, error) {
	m.peer = peer
	if !first {
		if err := m.mirror(); err != nil {
			return nil, err
		}
	}
	p, err := m.first(size)
	if err == nil {
		err = m.ask(command{pattern: enough})
	}
	if err == nil && first {
		err = m.mirror()
	}
	return p.appendRow(found), err
}

// point measures one size: RTT, gap and overheads. Beyond settings.SaturatedUpTo the gap is left to rank 0.
func (m *meter) point(size int) (p point, err error) {
	p = point{size: size, steady: true}
	if p.trip, _, err = m.echoes(size, m.comm.Send); err != nil {
		return p, err
	}
	if _, p.sending, err = m.echoes(size, m.ssend); err != nil {
		return p, err
	}
	if p.receipt, err = m.receives(size, p.trip); err != nil {
		return p, err
	}
	if size <= m.settings.SaturatedUpTo {
		p.gap, p.steady, err = m.saturated(size, p.trip)
	}
	return p, err
}

func bySize(p point, size int) int { return p.size - size }

// first measures one size. Of 0 bytes the gap is in all latencies. A gap longer than
// half a round trip was disturbed, or messages are as short as what the ranks do
// with them. Then it is measured again, and the third time counts.
func (m *meter) first(size int) (p point, err error) {
	for range 3 {
		if p, err = m.point(size); err != nil || size > 0 || p.gap <= p.trip/2 {
			break
		}
	}
	return p, err
}

// finest is the distance in bytes below which no size is put between two
// others (Reinfjell 2023, section 3.1.2).
const finest = 32

// nextSize is the size that is most worth measuring in both directions of a pair: the middle of the wider
// side of the measured size whose gap is farthest from the straight line through its
// neighbours' (Reinfjell 2023, "Additional measurements"). None is worth it if
// all are within the tolerance or as near to their neighbours as they may get.
func nextSize(directions ...[]point) (size int, worth bool) {
	worst := tolerance
	for _, points := range directions {
		for i := 1; i < len(points)-1; i++ {
			a, b, c := points[i-1], points[i], points[i+1]
			line := a.gap + (c.gap-a.gap)*float64(b.size-a.size)/float64(c.size-a.size)
			off := math.Abs(b.gap-line) / max(b.gap, line)
			lo, hi := a.size, b.size
			if c.size-b.size > b.size-a.size {
				lo, hi = b.size, c.size
			}
			if off > worst && hi-lo > finest { // a NaN of two gaps of 0 is not
				worst, size, worth = off, lo+(hi-lo)/2, true
			}
		}
	}
	return size, worth
}
