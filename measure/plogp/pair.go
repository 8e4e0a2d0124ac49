package plogp

import (
	"math"
	"slices"
)

// A point is what was measured of one size. Times are in s.
type point struct {
	size             int
	trip             float64 // RTT(m): there with m bytes, back with none
	gap              float64 // g(m)
	sending, receipt float64 // os(m), or(m) of messages that the calling rank gets
	steady           bool    // the gap is that of a saturated link, or needs none
}

// pair measures the calling rank's side of all sizes: RTT, gap and overheads,
// as the rank that sends. The peer mirrors.
func (m *meter) pair() ([]point, error) {
	points := make([]point, 0, len(m.settings.Sizes)+m.settings.ExtraSizes)
	p, err := m.first()
	if err != nil {
		return nil, err
	}
	points = append(points, p)
	for _, size := range m.settings.Sizes[1:] {
		p, err := m.point(size, points)
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	for range m.settings.ExtraSizes {
		size, worth := nextSize(points)
		if !worth {
			break
		}
		p, err := m.point(size, points)
		if err != nil {
			return nil, err
		}
		at, _ := slices.BinarySearchFunc(points, size, bySize)
		points = slices.Insert(points, at, p)
	}
	return points, m.ask(command{pattern: enough})
}

// point measures one size; those before begin with 0 bytes. The gap is found by
// saturation up to a, which is settings.SaturatedUpTo, and beyond by eq. 3.1 of Reinfjell 2023 from there on,
// g(m) = RTT(m) - RTT(a) + g(a), for a long message saturates a link by itself.
func (m *meter) point(size int, before []point) (p point, err error) {
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
		return p, err
	}
	last, known := slices.BinarySearchFunc(before, m.settings.SaturatedUpTo, bySize)
	if !known {
		last--
	}
	p.gap = p.trip - before[last].trip + before[last].gap
	return p, nil
}

func bySize(p point, size int) int { return p.size - size }

// first measures messages of 0 bytes, of which the gap is in all latencies. A gap longer than
// half a round trip was disturbed, or messages are as short as what the ranks do
// with them. Then it is measured again, and the third time counts.
func (m *meter) first() (p point, err error) {
	for range 3 {
		if p, err = m.point(0, nil); err != nil || p.gap <= p.trip/2 {
			break
		}
	}
	return p, err
}

// finest is the distance in bytes below which no size is put between two
// others (Reinfjell 2023, section 3.1.2).
const finest = 32

// nextSize is the size that is most worth measuring: the middle of the wider
// side of the measured size whose gap is farthest from the straight line through its
// neighbours' (Reinfjell 2023, "Additional measurements"). None is worth it if
// all are within the tolerance or as near to their neighbours as they may get.
func nextSize(points []point) (size int, worth bool) {
	worst := tolerance
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
	return size, worth
}
